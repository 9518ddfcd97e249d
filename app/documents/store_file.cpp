// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/store_file.h"

#include "app/documents/database.h"
#include "app/documents/schema.h"
#include "app/documents/store_error.h"

#include <QDateTime>
#include <QStandardPaths>
#include <QTimeZone>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace palimpsest::documents {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCopySuffix = ".copy";

/// Every page of a smaller store is checked when it is opened (0.2 s for this size from a warm cache); a larger one
/// would keep the writer waiting, and damage shows when the page is read.
constexpr std::int64_t kMostCheckedBytes = 256LL << 20;

[[noreturn]] void throwSystemError(const fs::path &path, const std::string &what, int code)
{
    StoreFault fault = StoreFault::Io;
    if (code == EACCES || code == EPERM || code == EROFS)
        fault = StoreFault::NotWritable;
    else if (code == ENOSPC || code == EDQUOT)
        fault = StoreFault::DiskFull;
    throw StoreError(fault, path.string() + ": " + what + ": " + std::strerror(code), path.string());
}

/// A descriptor that is closed again.
class OpenFile
{
public:
    OpenFile(const fs::path &path, int flags) : m_descriptor(::open(path.c_str(), flags | O_CLOEXEC, S_IRUSR | S_IWUSR))
    {
    }
    ~OpenFile()
    {
        if (m_descriptor >= 0)
            ::close(m_descriptor);
    }
    OpenFile(const OpenFile &) = delete;
    OpenFile &operator=(const OpenFile &) = delete;

    [[nodiscard]] int descriptor() const noexcept { return m_descriptor; }
    [[nodiscard]] bool isOpen() const noexcept { return m_descriptor >= 0; }

private:
    int m_descriptor;
};

void makeFolders(const fs::path &folder)
{
    std::error_code none;
    if (folder.empty() || fs::is_directory(folder, none))
        return;
    makeFolders(folder.parent_path());
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
        throwSystemError(folder, "the folder of the documents cannot be made", errno);
}

/// SQLite takes an empty file as a new database; made here, it is readable by its owner alone, and so is the log.
void makeEmptyFile(const fs::path &file)
{
    const OpenFile made(file, O_CREAT | O_EXCL | O_RDWR);
    if (!made.isOpen() && errno != EEXIST)
        throwSystemError(file, "the file of the documents cannot be made", errno);
}

void requireWritable(const fs::path &file)
{
    std::error_code none;
    if (fs::is_directory(file, none))
        throw StoreError(StoreFault::Foreign, file.string() + ": a folder, where the documents' file should be",
                         file.string());
    for (const fs::path &path : {file, file.parent_path()}) {
        if (::access(path.c_str(), R_OK | W_OK) != 0)
            throwSystemError(path, "the documents cannot be opened for writing", errno);
    }
}

std::int64_t newestVersion(std::span<const SchemaStep> schema)
{
    return schema.back().version;
}

[[noreturn]] void throwNewerVersion(const std::string &name, std::int64_t found, std::int64_t known)
{
    throw StoreError(StoreFault::NewerVersion,
                     name + ": the documents were saved by a newer version of Palimpsest (format " +
                         std::to_string(found) + ", this program knows " + std::to_string(known) +
                         "); they are left as they are. Please update the program",
                     name);
}

[[noreturn]] void throwForeign(const fs::path &file)
{
    throw StoreError(StoreFault::Foreign,
                     file.string() + ": not a document store of Palimpsest; the file is left as it is", file.string());
}

// Offsets in the header of a SQLite file (sqlite.org/fileformat2.html, section 1.3).
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kUserVersionOffset = 60;
constexpr std::size_t kApplicationIdOffset = 68;
constexpr std::string_view kMagic{"SQLite format 3\0", 16};

std::int64_t bigEndian32(std::string_view bytes, std::size_t offset)
{
    std::int64_t value = 0;
    for (std::size_t index = 0; index < 4; ++index)
        value = value * 256 + static_cast<unsigned char>(bytes[offset + index]);
    return value;
}

/// Looks at the file without SQLite, which might write to it (finish another program's work, change the journal).
void inspectHeader(const fs::path &file, std::int64_t knownVersion)
{
    const OpenFile opened(file, O_RDONLY);
    if (!opened.isOpen())
        throwSystemError(file, "the documents cannot be read", errno);
    std::array<char, kHeaderBytes> buffer{};
    const ssize_t count = ::pread(opened.descriptor(), buffer.data(), buffer.size(), 0);
    if (count < 0)
        throwSystemError(file, "the documents cannot be read", errno);
    if (count == 0)
        return;
    const std::string_view header(buffer.data(), static_cast<std::size_t>(count));
    if (header.size() < kHeaderBytes || !header.starts_with(kMagic) ||
        bigEndian32(header, kApplicationIdOffset) != kApplicationId)
        throwForeign(file);
    if (const std::int64_t version = bigEndian32(header, kUserVersionOffset); version > knownVersion)
        throwNewerVersion(file.string(), version, knownVersion);
}

/// The log may hold a newer version's first page. A connection that only reads does not write it back when it closes.
void inspectLog(const StoreOptions &options, std::int64_t knownVersion)
{
    std::error_code none;
    if (const auto bytes = fs::file_size(options.file.string() + "-wal", none); none || bytes == 0)
        return;
    Database database(options.file, Database::Access::ReadOnly, options.busyTimeout);
    if (const std::int64_t version = database.integer("PRAGMA user_version"); version > knownVersion)
        throwNewerVersion(database.name(), version, knownVersion);
}

void checkPages(Database &database, const char *check)
{
    Statement statement(database, check);
    std::string finding;
    while (statement.next()) {
        if (finding.empty())
            finding = statement.bytes(0);
    }
    if (finding != "ok")
        throw StoreError(StoreFault::Damaged,
                         database.name() + ": the file is damaged (" + finding +
                             "); it is left as it is. Keep a copy, and let it be moved aside to begin a new one",
                         database.name());
}

void makeSchema(Database &database, std::span<const SchemaStep> schema)
{
    Transaction transaction(database); // in the journal that SQLite begins with: the first page comes with the tables
    if (database.integer("PRAGMA user_version") == 0)
        applySchema(database, schema, 0);
    transaction.commit();
}

std::string timeStamp(const StoreOptions &options)
{
    const QDateTime time =
        options.nowMs ? QDateTime::fromMSecsSinceEpoch(options.nowMs(), Qt::UTC) : QDateTime::currentDateTimeUtc();
    return time.toString(QStringLiteral("yyyyMMdd-HHmmss")).toStdString();
}

/// A name that nothing has yet: `base` and, if needed, a number, then `suffix`.
fs::path freeName(const std::string &base, std::string_view suffix)
{
    std::string name = base + std::string(suffix);
    for (int number = 2; fs::exists(fs::symlink_status(name)); ++number)
        name = base + "-" + std::to_string(number) + std::string(suffix);
    return name;
}

void flush(const fs::path &path, int flags)
{
    const OpenFile opened(path, flags);
    if (!opened.isOpen() || ::fsync(opened.descriptor()) != 0)
        throwSystemError(path, "the copy of the documents cannot be flushed to the disk", errno);
}

/// Copies the store as it is, log included, and reads the copy back.
void copyStore(Database &database, const StoreOptions &options, std::int64_t version)
{
    const fs::path copy =
        freeName(options.file.string() + ".v" + std::to_string(version) + "-" + timeStamp(options), kCopySuffix);
    makeEmptyFile(copy);
    try {
        Statement(database, "VACUUM INTO CAST(? AS TEXT)").bind(copy.string()).run();
        flush(copy, O_RDWR);
        flush(copy.parent_path(), O_RDONLY | O_DIRECTORY);
        Database made(copy, Database::Access::ReadOnly, options.busyTimeout);
        checkPages(made, "PRAGMA integrity_check(1)");
        constexpr const char *kRows = "SELECT (SELECT count(*) FROM documents) + (SELECT count(*) FROM revisions)";
        if (made.integer("PRAGMA user_version") != version || made.integer(kRows) != database.integer(kRows))
            throw StoreError(StoreFault::Io, copy.string() + ": the copy of the documents is not complete",
                             copy.string());
    } catch (const StoreError &) {
        std::error_code ignored; // the reason why there is no copy matters more
        fs::remove(copy, ignored);
        throw;
    }
}

void migrate(Database &database, const StoreOptions &options, std::span<const SchemaStep> schema)
{
    for (;;) {
        const std::int64_t version = database.integer("PRAGMA user_version");
        const std::int64_t before = database.integer("PRAGMA data_version"); // changes when another program commits
        if (version >= newestVersion(schema))
            return;
        copyStore(database, options, version);
        Transaction transaction(database);
        if (database.integer("PRAGMA data_version") != before)
            continue; // the copy is older than the store
        applySchema(database, schema, version);
        transaction.commit();
        return;
    }
}

} // namespace

void refuseNewerVersion(Database &database, std::span<const SchemaStep> schema)
{
    if (const std::int64_t version = database.integer("PRAGMA user_version"); version > newestVersion(schema))
        throwNewerVersion(database.name(), version, newestVersion(schema));
}

std::unique_ptr<Database> openStoreFile(const StoreOptions &options, std::span<const SchemaStep> schema)
{
    makeFolders(options.file.parent_path());
    makeEmptyFile(options.file);
    requireWritable(options.file);
    inspectHeader(options.file, newestVersion(schema));
    inspectLog(options, newestVersion(schema));

    auto database = std::make_unique<Database>(options.file, Database::Access::ReadWrite, options.busyTimeout);
    database->run("PRAGMA foreign_keys = ON");
    database->run("PRAGMA secure_delete = ON");  // what is deleted is overwritten with zeros
    database->run("PRAGMA temp_store = MEMORY"); // no text in temporary files
    // With NORMAL, a power cut may take the last commits away. A save happens about once a second, on a thread of its
    // own, so the flush of a few milliseconds is no price.
    database->run("PRAGMA synchronous = FULL");
    database->run("PRAGMA journal_size_limit = 0"); // a log that was written back keeps no old text

    if (database->integer("PRAGMA user_version") == 0)
        makeSchema(*database, schema);
    else if (database->integer("PRAGMA page_count") * database->integer("PRAGMA page_size") <= kMostCheckedBytes)
        checkPages(*database, "PRAGMA quick_check(1)");
    database->run("PRAGMA journal_mode = WAL");
    migrate(*database, options, schema);
    return database;
}

void removeVersionCopies(const fs::path &file)
{
    const std::string prefix = file.filename().string() + ".v";
    std::error_code failure;
    for (fs::directory_iterator entry(file.parent_path(), failure), end; !failure && entry != end;
         entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with(prefix) || !name.ends_with(kCopySuffix))
            continue;
        if (::unlink(entry->path().c_str()) != 0 && errno != ENOENT)
            throwSystemError(entry->path(), "an old copy of the documents cannot be deleted", errno);
    }
    if (failure)
        throwSystemError(file.parent_path(), "the folder of the documents cannot be read", failure.value());
}

fs::path DocumentStore::defaultFile()
{
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation);
    return fs::path(folder.toStdString()) / "palimpsest" / "documents.sqlite";
}

fs::path DocumentStore::moveAside(const fs::path &file)
{
    fs::path aside = freeName(file.string() + ".damaged-" + timeStamp({}), "");
    // The log first: if only one of the two moves succeeds, no new store meets an old log.
    if (const std::string log = file.string() + "-wal";
        ::rename(log.c_str(), (aside.string() + "-wal").c_str()) != 0 && errno != ENOENT)
        throwSystemError(log, "the documents' log cannot be moved aside", errno);
    if (::rename(file.c_str(), aside.c_str()) != 0)
        throwSystemError(file, "the documents cannot be moved aside", errno);
    std::error_code ignored; // an index of the log that SQLite makes anew
    fs::remove(file.string() + "-shm", ignored);
    return aside;
}

} // namespace palimpsest::documents
