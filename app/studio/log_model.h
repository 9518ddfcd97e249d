// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/studio/post_box.h"

#include <QAbstractListModel>
#include <QString>
#include <QtQml/qqmlregistration.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <spdlog/sinks/base_sink.h>
#include <vector>

namespace palimpsest::studio {

/// A line of the log.
struct LogEntry
{
    qint64 timeMs = 0; ///< since 1970, UTC
    int level = 0;     ///< spdlog's
    QString text;
};

/// Keeps the last lines of the log, from info on, and tells whoever shows them. Any thread.
class LogSink : public spdlog::sinks::base_sink<std::mutex>
{
public:
    static constexpr std::size_t kMostEntries = 1000;
    using Observer = std::function<void(const LogEntry &)>; ///< on the thread that logs; must only post

    LogSink();
    /// Hands over what there is, and from then on every new line. One observer; null: none.
    [[nodiscard]] std::vector<LogEntry> observe(Observer observer);

protected:
    void sink_it_(const spdlog::details::log_msg &message) override;
    void flush_() override {}

private:
    std::deque<LogEntry> m_entries; ///< guarded by the base's mutex, like m_observer
    Observer m_observer;
};

/// The log as a list, newest last. GUI thread.
class LogModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
    enum Role { TimeRole = Qt::UserRole + 1, LevelRole, MessageRole, SeriousRole };

    /// `sink` may be null: the list stays empty.
    explicit LogModel(std::shared_ptr<LogSink> sink, QObject *parent = nullptr);
    ~LogModel() override;

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QHash<int, QByteArray> roleNames() const override;
    [[nodiscard]] int count() const { return static_cast<int>(m_entries.size()); }

    Q_INVOKABLE void copyAll() const; ///< all lines to the clipboard

Q_SIGNALS:
    void countChanged();

private:
    void add(LogEntry entry);
    [[nodiscard]] static QString timeText(const LogEntry &entry);
    [[nodiscard]] static QString levelText(const LogEntry &entry);

    std::shared_ptr<LogSink> m_sink;
    std::deque<LogEntry> m_entries;
    PostBox m_box;
};

} // namespace palimpsest::studio
