// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/database.h"

#include "app/documents/store_error.h"

#include <QByteArray>
#include <QFile>
#include <QSqlError>
#include <QVariant>

#include <atomic>

namespace palimpsest::documents {

namespace {

// Primary result codes of SQLite (sqlite.org/rescode.html); the extended ones carry them in their lowest byte.
enum SqliteCode {
    kSqlitePerm = 3,
    kSqliteBusy = 5,
    kSqliteLocked = 6,
    kSqliteReadOnly = 8,
    kSqliteCorrupt = 11,
    kSqliteFull = 13,
    kSqliteCantOpen = 14,
    kSqliteNotADatabase = 26,
};

QString newConnectionName()
{
    static std::atomic<int> count = 0;
    return QStringLiteral("palimpsest-documents-%1").arg(++count);
}

QByteArray borrowedBytes(std::string_view bytes)
{
    if (bytes.empty())
        return QByteArray(""); // a null QByteArray would become NULL
    return QByteArray::fromRawData(bytes.data(), static_cast<qsizetype>(bytes.size()));
}

} // namespace

Database::Database(const std::filesystem::path &file, Access access, std::chrono::milliseconds busyTimeout)
    : m_name(file.string()),
      m_busyTimeout(busyTimeout),
      m_connection(newConnectionName()),
      m_database(QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), m_connection))
{
    if (!m_database.isValid()) {
        QSqlDatabase::removeDatabase(m_connection);
        throw Error(ErrorKind::Unsupported,
                    "the documents cannot be opened: Qt's SQLite driver is not installed (Debian and Ubuntu: package "
                    "libqt6sql6-sqlite)");
    }
    m_database.setDatabaseName(QFile::decodeName(m_name.c_str()));
    QString options = QStringLiteral("QSQLITE_BUSY_TIMEOUT=%1").arg(busyTimeout.count());
    if (access == Access::ReadOnly)
        options += QStringLiteral(";QSQLITE_OPEN_READONLY");
    m_database.setConnectOptions(options);
    if (!m_database.open()) {
        const QSqlError error = m_database.lastError();
        m_database = QSqlDatabase();
        QSqlDatabase::removeDatabase(m_connection);
        fail(error);
    }
}

Database::~Database()
{
    m_database.close();
    m_database = QSqlDatabase(); // the connection cannot be removed while something refers to it
    QSqlDatabase::removeDatabase(m_connection);
}

void Database::run(const char *sql)
{
    Statement statement(*this, sql);
    while (statement.next()) {
    }
}

std::int64_t Database::integer(const char *sql)
{
    Statement statement(*this, sql);
    return statement.next() ? statement.integer(0) : 0;
}

void Database::fail(const QSqlError &error) const
{
    const std::string reason = error.databaseText().toStdString();
    switch (error.nativeErrorCode().toInt() & 0xff) {
    case kSqliteBusy:
    case kSqliteLocked:
        throw StoreError(StoreFault::Locked,
                         m_name + ": another program is writing to the documents; nothing was saved after waiting " +
                             std::to_string(m_busyTimeout.count()) + " ms. Try again, or close the other program",
                         m_name);
    case kSqliteFull:
        throw StoreError(StoreFault::DiskFull,
                         m_name + ": no space is left on the disk; what was saved before is safe, the last change is "
                                  "not saved. Make room and try again",
                         m_name);
    case kSqlitePerm:
    case kSqliteReadOnly:
    case kSqliteCantOpen:
        throw StoreError(StoreFault::NotWritable,
                         m_name + ": the documents cannot be opened for writing (" + reason +
                             "); check the permissions of the file and its folder",
                         m_name);
    case kSqliteCorrupt:
        throw StoreError(StoreFault::Damaged,
                         m_name + ": the file is damaged (" + reason +
                             "); it is left as it is. Keep a copy, and let it be moved aside to begin a new one",
                         m_name);
    case kSqliteNotADatabase:
        throw StoreError(StoreFault::Foreign, m_name + ": not a document store: the file is of another kind", m_name);
    default:
        throw StoreError(StoreFault::Io, m_name + ": the documents cannot be read or written: " + reason, m_name);
    }
}

Statement::Statement(Database &database, const char *sql) : m_database(database), m_query(database.m_database)
{
    m_query.setForwardOnly(true); // otherwise Qt keeps all rows that were read
    if (!m_query.prepare(QString::fromLatin1(sql)))
        m_database.fail(m_query.lastError());
}

Statement &Statement::bind(std::string_view bytes)
{
    m_query.addBindValue(borrowedBytes(bytes));
    return *this;
}

Statement &Statement::bind(std::int64_t value)
{
    m_query.addBindValue(QVariant::fromValue<qlonglong>(value));
    return *this;
}

Statement &Statement::bindMaybe(const std::optional<std::int64_t> &value)
{
    if (value)
        return bind(*value);
    m_query.addBindValue(QVariant());
    return *this;
}

Statement &Statement::bindMaybe(const std::optional<std::string> &value)
{
    if (value)
        return bind(std::string_view(*value));
    m_query.addBindValue(QVariant());
    return *this;
}

void Statement::execute()
{
    m_executed = true;
    if (!m_query.exec())
        m_database.fail(m_query.lastError());
}

std::int64_t Statement::run()
{
    while (next()) {
    }
    return m_query.numRowsAffected();
}

bool Statement::next()
{
    if (!m_executed)
        execute();
    if (!m_query.isSelect())
        return false;
    if (m_query.next())
        return true;
    if (const QSqlError error = m_query.lastError(); error.isValid())
        m_database.fail(error);
    m_query.finish(); // a statement that still stands at a row keeps a read transaction open
    return false;
}

std::int64_t Statement::integer(int column) const
{
    return m_query.value(column).toLongLong();
}

std::optional<std::int64_t> Statement::maybeInteger(int column) const
{
    if (m_query.isNull(column))
        return std::nullopt;
    return integer(column);
}

std::string Statement::bytes(int column) const
{
    return m_query.value(column).toByteArray().toStdString();
}

std::optional<std::string> Statement::maybeBytes(int column) const
{
    if (m_query.isNull(column))
        return std::nullopt;
    return bytes(column);
}

std::int64_t Statement::insertedRow() const
{
    return m_query.lastInsertId().toLongLong();
}

Transaction::Transaction(Database &database) : m_database(database)
{
    m_database.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction()
{
    if (!m_open)
        return;
    try {
        m_database.run("ROLLBACK");
    } catch (const StoreError &) { // SQLite has undone it itself when the disk failed, and says that nothing is open
    }
}

void Transaction::commit()
{
    m_database.run("COMMIT");
    m_open = false;
}

} // namespace palimpsest::documents
