// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/input_text.h"

#include "engine/error.h"
#include "engine/utf8.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kStandardInput = "standard input";
constexpr std::size_t kReadChunkBytes = 64UL << 10U;

/// A file descriptor that closes itself, unless it is standard input's.
class Descriptor
{
public:
    explicit Descriptor(int value) : m_value(value) {}
    ~Descriptor()
    {
        if (m_value > STDIN_FILENO)
            ::close(m_value);
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    [[nodiscard]] int get() const noexcept { return m_value; }

private:
    int m_value;
};

[[noreturn]] void throwSystemError(const std::string &name, int code)
{
    ErrorKind kind = ErrorKind::Io;
    if (code == ENOENT || code == ENOTDIR)
        kind = ErrorKind::NotFound;
    else if (code == EACCES || code == EPERM)
        kind = ErrorKind::PermissionDenied;
    throw Error(kind, name + ": cannot be read: " + std::strerror(code), name);
}

std::string describeByte(unsigned char byte)
{
    constexpr std::string_view kDigits = "0123456789abcdef";
    return {'0', 'x', kDigits[byte >> 4U], kDigits[byte & 0x0FU]};
}

std::string position(std::string_view bytes, std::size_t offset)
{
    const auto line = std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(offset), '\n') + 1;
    return "byte " + std::to_string(offset) + " (line " + std::to_string(line) + ")";
}

[[noreturn]] void throwTooLarge(const std::string &name, std::int64_t bytes, std::string_view relation)
{
    throw Error(ErrorKind::InvalidInput,
                name + ": found " + std::string(relation) + std::to_string(bytes) + " bytes, wanted at most " +
                    std::to_string(kMaxInputBytes) + "; cut the text into parts",
                name);
}

std::string readAll(int descriptor, const std::string &name)
{
    std::string bytes;
    std::array<char, kReadChunkBytes> chunk{};
    for (;;) {
        const ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            throwSystemError(name, errno);
        if (count == 0)
            return bytes;
        bytes.append(chunk.data(), static_cast<std::size_t>(count));
        if (static_cast<std::int64_t>(bytes.size()) > kMaxInputBytes)
            throwTooLarge(name, kMaxInputBytes, "more than ");
    }
}

} // namespace

FileStamp fileStamp(const struct stat &status) noexcept
{
    constexpr std::int64_t kNsPerSecond = 1'000'000'000;
    return {.device = status.st_dev,
            .inode = status.st_ino,
            .bytes = status.st_size,
            .modifiedNs = status.st_mtim.tv_sec * kNsPerSecond + status.st_mtim.tv_nsec};
}

void requireInputText(std::string_view bytes, const std::string &name)
{
    if (static_cast<std::int64_t>(bytes.size()) > kMaxInputBytes)
        throwTooLarge(name, static_cast<std::int64_t>(bytes.size()), "");
    if (bytes.empty() || bytes == kByteOrderMark)
        throw Error(ErrorKind::InvalidInput, name + ": the text is empty, there is nothing to do", name);
    if (const std::size_t nul = bytes.find('\0'); nul != std::string_view::npos) {
        throw Error(ErrorKind::InvalidInput,
                    name + ": looks like a binary file: found a zero byte at " + position(bytes, nul) +
                        ", wanted UTF-8 text",
                    name);
    }
    if (const std::optional<std::size_t> invalid = firstInvalidUtf8(bytes)) {
        throw Error(ErrorKind::InvalidInput,
                    name + ": not UTF-8: found the byte " + describeByte(static_cast<unsigned char>(bytes[*invalid])) +
                        " at " + position(bytes, *invalid) + "; convert the text to UTF-8 first",
                    name);
    }
}

InputText readInputText(const std::string &path)
{
    if (path == "-") {
        const std::string name(kStandardInput);
        InputText input{name, readAll(STDIN_FILENO, name), std::nullopt};
        requireInputText(input.text, name);
        return input;
    }
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0)
        throwSystemError(path, errno);
    struct stat status = {};
    if (::fstat(file.get(), &status) != 0)
        throwSystemError(path, errno);
    if (S_ISDIR(status.st_mode))
        throw Error(ErrorKind::InvalidInput, path + ": found a folder, wanted a text file", path);
    if (S_ISREG(status.st_mode) && status.st_size > kMaxInputBytes)
        throwTooLarge(path, status.st_size, "");
    InputText input{path, readAll(file.get(), path), std::nullopt};
    requireInputText(input.text, path);
    if (S_ISREG(status.st_mode))
        input.stamp = fileStamp(status);
    return input;
}

} // namespace palimpsest::cli
