// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/atomic_file.h"

#include "engine/error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace palimpsest::cli {

namespace {

[[noreturn]] void throwSystemError(const std::string &name, const std::string &what, int code)
{
    ErrorKind kind = ErrorKind::Io;
    if (code == ENOENT || code == ENOTDIR)
        kind = ErrorKind::NotFound;
    else if (code == EACCES || code == EPERM || code == EROFS)
        kind = ErrorKind::PermissionDenied;
    throw Error(kind, name + ": " + what + ": " + std::strerror(code) + "; the file is as it was", name);
}

/// A new file beside the target that disappears again unless it is renamed over it.
class TemporaryFile
{
public:
    explicit TemporaryFile(const std::filesystem::path &target)
        : m_target(target.string()),
          m_path((target.parent_path() / ("." + target.filename().string() + ".XXXXXX")).string())
    {
        m_descriptor = ::mkostemp(m_path.data(), O_CLOEXEC);
        if (m_descriptor < 0)
            throwSystemError(m_target, "no file can be made beside it", errno);
    }

    ~TemporaryFile()
    {
        if (m_descriptor >= 0)
            ::close(m_descriptor);
        if (!m_path.empty())
            ::unlink(m_path.c_str());
    }

    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;

    void write(std::string_view contents)
    {
        while (!contents.empty()) {
            const ssize_t count = ::write(m_descriptor, contents.data(), contents.size());
            if (count < 0 && errno == EINTR)
                continue;
            if (count < 0)
                throwSystemError(m_target, "cannot be written", errno);
            contents.remove_prefix(static_cast<std::size_t>(count));
        }
    }

    void copyPermissions(const struct stat &original)
    {
        // Only root may give files away; a failure leaves the new file to the caller, which is what an editor does too.
        // The mode comes second because a change of owner clears the set-id bits.
        if (::fchown(m_descriptor, original.st_uid, original.st_gid) != 0 && errno != EPERM)
            throwSystemError(m_target, "its owner cannot be kept", errno);
        constexpr mode_t kPermissionBits = 07777;
        if (::fchmod(m_descriptor, original.st_mode & kPermissionBits) != 0)
            throwSystemError(m_target, "its permissions cannot be kept", errno);
    }

    void renameOverTarget()
    {
        if (::fsync(m_descriptor) != 0)
            throwSystemError(m_target, "the new text cannot be flushed to the disk", errno);
        if (::rename(m_path.c_str(), m_target.c_str()) != 0)
            throwSystemError(m_target, "cannot be replaced", errno);
        m_path.clear();
    }

private:
    std::string m_target;
    std::string m_path;
    int m_descriptor = -1;
};

/// Makes the rename itself durable. A file system that cannot flush a folder has done what it can.
void flushFolder(const std::filesystem::path &folder)
{
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    ::fsync(descriptor);
    ::close(descriptor);
}

} // namespace

void replaceFile(const std::filesystem::path &path, std::string_view contents, const std::optional<FileStamp> &expected)
{
    std::error_code failure;
    const std::filesystem::path target = std::filesystem::canonical(path, failure);
    if (failure)
        throwSystemError(path.string(), "cannot be replaced", failure.value());
    struct stat original = {};
    if (::stat(target.c_str(), &original) != 0)
        throwSystemError(path.string(), "cannot be replaced", errno);
    if (!S_ISREG(original.st_mode)) {
        throw Error(ErrorKind::Io, path.string() + ": only a regular file can be replaced in place", path.string());
    }
    if (::access(target.c_str(), W_OK) != 0)
        throwSystemError(path.string(), "may not be written", errno);
    TemporaryFile temporary(target);
    temporary.write(contents);
    temporary.copyPermissions(original);
    struct stat now = {};
    if (expected && (::stat(target.c_str(), &now) != 0 || fileStamp(now) != *expected)) {
        throw Error(ErrorKind::Io,
                    path.string() + ": was changed by another program in the meantime; it is left as it is",
                    path.string());
    }
    temporary.renameOverTarget();
    flushFolder(target.parent_path());
}

} // namespace palimpsest::cli
