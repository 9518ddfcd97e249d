// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/mapped_file.h"

#include "engine/error.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace palimpsest {

namespace {

[[noreturn]] void throwSystemError(const std::filesystem::path &path, const char *action, int code)
{
    const std::string name = path.string();
    switch (code) {
    case ENOENT:
    case ENOTDIR:
        throw Error(ErrorKind::NotFound, name + ": the file is not there", name);
    case EACCES:
    case EPERM:
        throw Error(ErrorKind::PermissionDenied, name + ": no permission to " + action + " the file", name);
    default:
        throw Error(ErrorKind::Io, name + ": cannot " + action + " the file: " + std::generic_category().message(code),
                    name);
    }
}

std::int64_t modifiedNs(const struct stat &status) noexcept
{
    return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

} // namespace

MappedFile MappedFile::open(const std::filesystem::path &path)
{
    MappedFile file;
    file.m_path = path;
    // O_NONBLOCK: a named pipe must be refused below, not waited for.
    file.m_descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file.m_descriptor < 0)
        throwSystemError(path, "open", errno);
    struct stat status = {};
    if (::fstat(file.m_descriptor, &status) != 0)
        throwSystemError(path, "examine", errno);
    if (!S_ISREG(status.st_mode))
        throw Error(ErrorKind::Io, path.string() + ": found a folder or a device, wanted a regular file",
                    path.string());
    file.m_modifiedNs = modifiedNs(status);
    if (status.st_size > 0) {
        const auto size = static_cast<std::size_t>(status.st_size);
        void *address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.m_descriptor, 0);
        if (address == MAP_FAILED)
            throwSystemError(path, "map", errno);
        file.m_bytes = {static_cast<const std::byte *>(address), size};
    }
    return file;
}

MappedFile::~MappedFile()
{
    close();
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : m_path(std::move(other.m_path)),
      m_bytes(std::exchange(other.m_bytes, {})),
      m_modifiedNs(other.m_modifiedNs),
      m_descriptor(std::exchange(other.m_descriptor, -1))
{
}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept
{
    if (this != &other) {
        close();
        m_path = std::move(other.m_path);
        m_bytes = std::exchange(other.m_bytes, {});
        m_modifiedNs = other.m_modifiedNs;
        m_descriptor = std::exchange(other.m_descriptor, -1);
    }
    return *this;
}

void MappedFile::close() noexcept
{
    if (!m_bytes.empty())
        ::munmap(const_cast<std::byte *>(m_bytes.data()), m_bytes.size());
    if (m_descriptor >= 0)
        ::close(m_descriptor);
    m_bytes = {};
    m_descriptor = -1;
}

bool MappedFile::changedOnDisk() const noexcept
{
    struct stat status = {};
    return ::fstat(m_descriptor, &status) != 0 || static_cast<std::size_t>(status.st_size) != m_bytes.size() ||
           modifiedNs(status) != m_modifiedNs;
}

void MappedFile::releasePages(std::span<const std::byte> part) const noexcept
{
    const auto fileBegin = reinterpret_cast<std::uintptr_t>(m_bytes.data());
    const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
    const std::uintptr_t end = begin + part.size();
    if (part.empty() || begin < fileBegin || end > fileBegin + m_bytes.size())
        return;
    const auto pageSize = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t firstPage = (begin + pageSize - 1) / pageSize * pageSize;
    const std::uintptr_t lastPage = end / pageSize * pageSize;
    if (firstPage < lastPage) // only a hint: if it fails, the pages simply stay
        ::madvise(const_cast<std::byte *>(m_bytes.data()) + (firstPage - fileBegin), lastPage - firstPage,
                  MADV_DONTNEED);
}

} // namespace palimpsest
