// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::http {

/// The keys that open the endpoint, kept as salted SHA-256 digests: neither a log nor a memory dump shows one. One
/// plain round suffices for keys that are random; a slow password hash would hold up the server's thread on every
/// request.
class ApiKeys
{
public:
    /// Throws Error InvalidArgument for a key that is empty or has other than visible ASCII characters.
    void add(std::string_view key);
    /// Adds the keys of a file: one a line, plain or as `sha256:SALT:DIGEST` (hexadecimal, the digest of the salt's
    /// bytes and the key's); empty lines and those that begin with # are left out. Throws Error, with the line's
    /// number.
    void addFile(const std::filesystem::path &file);
    /// Adds `sha256:SALT:DIGEST`; `place` says in errors where that stood. Throws Error InvalidArgument.
    void addStored(std::string_view line, const std::string &place);

    /// A new random key, to be shown once.
    [[nodiscard]] static std::string freshKey();
    /// The form of a key that may be written down: `sha256:SALT:DIGEST` with a salt of its own.
    [[nodiscard]] static std::string storedForm(std::string_view key);

    [[nodiscard]] bool empty() const noexcept { return m_entries.empty(); }
    /// A name for whoever has this key ("key-1" for the first one), or nothing. The time it takes depends on neither
    /// the key nor where it differs.
    [[nodiscard]] std::optional<std::string> holder(std::string_view key) const;

private:
    struct Entry
    {
        std::string salt;
        std::string digest;
    };
    std::vector<Entry> m_entries;
};

} // namespace palimpsest::http
