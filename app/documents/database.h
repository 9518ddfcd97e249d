// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QSqlDatabase>
#include <QSqlQuery>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace palimpsest::documents {

/// One connection to one SQLite file. Errors are thrown as StoreError. Stays on the thread that made it.
class Database
{
public:
    enum class Access { ReadOnly, ReadWrite };

    Database(const std::filesystem::path &file, Access access, std::chrono::milliseconds busyTimeout);
    ~Database();
    Database(const Database &) = delete;
    Database &operator=(const Database &) = delete;

    /// Runs a statement without parameters, whatever rows it returns.
    void run(const char *sql);
    /// The first column of the first row, an integer; 0 if there is no row.
    [[nodiscard]] std::int64_t integer(const char *sql);

    [[nodiscard]] const std::string &name() const noexcept { return m_name; } ///< the file, for messages

private:
    friend class Statement;

    [[noreturn]] void fail(const class QSqlError &error) const;

    std::string m_name;
    std::chrono::milliseconds m_busyTimeout;
    QString m_connection;
    QSqlDatabase m_database;
};

/// A statement with its parameters, bound in order, and its result, read row by row.
///
/// Texts go in and out as blobs: as TEXT, Qt hands them over in UTF-16, and both it and SQLite take a leading
/// byte-order mark away.
class Statement
{
public:
    Statement(Database &database, const char *sql);

    /// The bytes must stay where they are until the statement has run.
    Statement &bind(std::string_view bytes);
    Statement &bind(std::int64_t value);
    Statement &bind(double value) = delete; ///< no column holds one: fractions go into records
    Statement &bindMaybe(const std::optional<std::int64_t> &value);
    Statement &bindMaybe(const std::optional<std::string> &value);

    /// Runs to the end; returns how many rows were changed.
    std::int64_t run();
    /// Runs at the first call; true while there is a row.
    [[nodiscard]] bool next();

    // Of the current row
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::optional<std::int64_t> maybeInteger(int column) const;
    [[nodiscard]] std::string bytes(int column) const;
    [[nodiscard]] std::optional<std::string> maybeBytes(int column) const;

    [[nodiscard]] std::int64_t insertedRow() const;

private:
    void execute();

    Database &m_database;
    QSqlQuery m_query;
    bool m_executed = false;
};

/// A transaction that writes, from its first moment on: two writers wait for each other instead of failing half way.
/// Undone unless it was committed.
class Transaction
{
public:
    explicit Transaction(Database &database);
    ~Transaction();
    Transaction(const Transaction &) = delete;
    Transaction &operator=(const Transaction &) = delete;

    void commit();

private:
    Database &m_database;
    bool m_open = true;
};

} // namespace palimpsest::documents
