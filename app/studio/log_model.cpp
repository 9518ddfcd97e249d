// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/log_model.h"

#include <QClipboard>
#include <QDateTime>
#include <QGuiApplication>

#include <chrono>
#include <utility>

namespace palimpsest::studio {

LogSink::LogSink()
{
    set_level(spdlog::level::info);
}

std::vector<LogEntry> LogSink::observe(Observer observer)
{
    const std::lock_guard lock(mutex_);
    m_observer = std::move(observer);
    return {m_entries.begin(), m_entries.end()};
}

void LogSink::sink_it_(const spdlog::details::log_msg &message)
{
    const auto since = message.time.time_since_epoch();
    LogEntry entry{.timeMs = std::chrono::duration_cast<std::chrono::milliseconds>(since).count(),
                   .level = message.level,
                   .text = QString::fromUtf8(message.payload.data(), static_cast<qsizetype>(message.payload.size()))};
    if (m_observer)
        m_observer(entry);
    m_entries.push_back(std::move(entry));
    if (m_entries.size() > kMostEntries)
        m_entries.pop_front();
}

LogModel::LogModel(std::shared_ptr<LogSink> sink, QObject *parent) : QAbstractListModel(parent), m_sink(std::move(sink))
{
    if (!m_sink)
        return;
    const auto earlier =
        m_sink->observe([this, post = m_box.sender()](const LogEntry &entry) { post([this, entry] { add(entry); }); });
    m_entries.assign(earlier.begin(), earlier.end());
}

LogModel::~LogModel()
{
    if (m_sink)
        (void)m_sink->observe({});
}

int LogModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant LogModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= count())
        return {};
    const LogEntry &entry = m_entries[static_cast<std::size_t>(index.row())];
    switch (role) {
    case TimeRole:
        return timeText(entry);
    case LevelRole:
        return levelText(entry);
    case Qt::DisplayRole:
    case MessageRole:
        return entry.text;
    case SeriousRole:
        return entry.level >= spdlog::level::warn;
    default:
        return {};
    }
}

QHash<int, QByteArray> LogModel::roleNames() const
{
    return {{TimeRole, "time"}, {LevelRole, "level"}, {MessageRole, "message"}, {SeriousRole, "serious"}};
}

QString LogModel::timeText(const LogEntry &entry)
{
    return QDateTime::fromMSecsSinceEpoch(entry.timeMs).time().toString(QStringLiteral("HH:mm:ss"));
}

QString LogModel::levelText(const LogEntry &entry)
{
    if (entry.level >= spdlog::level::err)
        return tr("error");
    return entry.level >= spdlog::level::warn ? tr("warning") : tr("note");
}

void LogModel::copyAll() const
{
    QString text;
    for (const LogEntry &entry : m_entries)
        text += timeText(entry) + u' ' + levelText(entry) + QStringLiteral(": ") + entry.text + u'\n';
    QGuiApplication::clipboard()->setText(text);
}

void LogModel::add(LogEntry entry)
{
    if (m_entries.size() >= LogSink::kMostEntries) {
        beginRemoveRows({}, 0, 0);
        m_entries.pop_front();
        endRemoveRows();
    }
    beginInsertRows({}, count(), count());
    m_entries.push_back(std::move(entry));
    endInsertRows();
    Q_EMIT countChanged();
}

} // namespace palimpsest::studio
