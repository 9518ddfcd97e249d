// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace palimpsest {

/// A whole file mapped read-only into memory; move-only.
///
/// The mapping follows the file: if another program cuts the file short while it is open, touching the lost pages ends
/// the process with SIGBUS. Nothing in user space prevents that cheaply; `changedOnDisk` lets a caller notice it before
/// a long read. Replacing a file by renaming another one over it is harmless, because the mapping keeps the old one.
class MappedFile
{
public:
    /// Throws Error NotFound, PermissionDenied or Io (also for what is not a regular file). An empty file gives no
    /// bytes.
    [[nodiscard]] static MappedFile open(const std::filesystem::path &path);

    MappedFile() = default;
    ~MappedFile();
    MappedFile(MappedFile &&other) noexcept;
    MappedFile &operator=(MappedFile &&other) noexcept;
    MappedFile(const MappedFile &) = delete;
    MappedFile &operator=(const MappedFile &) = delete;

    [[nodiscard]] const std::filesystem::path &path() const noexcept { return m_path; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return m_bytes; }

    /// True if size or modification time of the open file differ from what they were when it was opened.
    [[nodiscard]] bool changedOnDisk() const noexcept;

    /// Lets the system drop the whole pages inside `part` from memory; they are read again when touched.
    void releasePages(std::span<const std::byte> part) const noexcept;

private:
    void close() noexcept;

    std::filesystem::path m_path;
    std::span<const std::byte> m_bytes;
    std::int64_t m_modifiedNs = 0;
    int m_descriptor = -1;
};

} // namespace palimpsest
