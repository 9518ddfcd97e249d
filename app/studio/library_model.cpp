// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/library_model.h"

#include "app/documents/document_export.h"
#include "engine/error.h"

#include <QDateTime>
#include <QFile>
#include <QLocale>
#include <QSaveFile>

#include <algorithm>
#include <future>
#include <type_traits>

namespace palimpsest::studio {

using documents::DocumentStore;
using documents::DocumentSummary;

namespace {

constexpr int kRefreshMs = 60; // collects what changes together

QString oneLine(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())).simplified();
}

template <typename Answer, typename Done>
void deliver(std::future<Answer> &answer, const Done &done)
{
    if constexpr (std::is_void_v<Answer>) {
        answer.get();
        done();
    } else {
        done(answer.get());
    }
}

} // namespace

LibraryModel::LibraryModel(documents::DocumentWorker &store, QObject *parent)
    : QAbstractListModel(parent), m_store(store)
{
    m_refreshTimer.setSingleShot(true);
    m_refreshTimer.setInterval(kRefreshMs);
    connect(&m_refreshTimer, &QTimer::timeout, this, &LibraryModel::load);
    load();
}

int LibraryModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant LibraryModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= count())
        return {};
    const Row &row = m_rows[static_cast<std::size_t>(index.row())];
    switch (role) {
    case IdRole:
        return row.id;
    case Qt::DisplayRole:
    case TitleRole:
        return row.title.isEmpty() ? tr("Untitled") : row.title;
    case ExcerptRole:
        return row.excerpt;
    case DetailRole:
        return row.detail;
    case BinnedRole:
        return row.binned;
    default:
        return {};
    }
}

QHash<int, QByteArray> LibraryModel::roleNames() const
{
    return {{IdRole, "documentId"},
            {TitleRole, "title"},
            {ExcerptRole, "excerpt"},
            {DetailRole, "detail"},
            {BinnedRole, "binned"}};
}

QString LibraryModel::idAt(int row) const
{
    return row >= 0 && row < count() ? m_rows[static_cast<std::size_t>(row)].id : QString();
}

void LibraryModel::setQuery(const QString &query)
{
    if (m_query == query)
        return;
    m_query = query;
    Q_EMIT queryChanged();
    refresh();
}

void LibraryModel::setBin(bool bin)
{
    if (m_bin == bin)
        return;
    m_bin = bin;
    Q_EMIT binChanged();
    refresh();
}

void LibraryModel::refresh()
{
    if (!m_refreshTimer.isActive())
        m_refreshTimer.start();
}

QString LibraryModel::ago(qint64 thenMs, qint64 nowMs)
{
    constexpr qint64 kMinute = 60'000;
    constexpr qint64 kHour = 60 * kMinute;
    const qint64 age = std::max<qint64>(0, nowMs - thenMs);
    if (age < kMinute)
        return tr("now");
    if (age < kHour)
        return tr("%n min ago", nullptr, static_cast<int>(age / kMinute));
    const QDate then = QDateTime::fromMSecsSinceEpoch(thenMs).date();
    const QDate today = QDateTime::fromMSecsSinceEpoch(nowMs).date();
    const qint64 days = then.daysTo(today);
    if (days == 0)
        return tr("%n h ago", nullptr, static_cast<int>(age / kHour));
    if (days == 1)
        return tr("yesterday");
    if (days < 7)
        return QLocale().dayName(then.dayOfWeek());
    if (then.year() == today.year())
        return QLocale().toString(then, QStringLiteral("d MMM"));
    return QLocale().toString(then, QStringLiteral("d MMM yyyy"));
}

LibraryModel::Row LibraryModel::rowOf(const DocumentSummary &summary, qint64 nowMs)
{
    Row row;
    row.id = QString::fromStdString(summary.id);
    row.title = QString::fromStdString(summary.title);
    row.excerpt = oneLine(summary.excerpt);
    row.binned = summary.binnedMs.has_value();
    row.detail = row.binned ? tr("in the bin since %1").arg(ago(*summary.binnedMs, nowMs))
                            : tr("%1 · %n revision(s)", nullptr, static_cast<int>(summary.lastRevision))
                                  .arg(ago(summary.modifiedMs, nowMs));
    return row;
}

void LibraryModel::load()
{
    const int number = ++m_loading;
    m_store.run(
        [query = m_query.toStdString(), bin = m_bin](DocumentStore &store) {
            std::vector<Row> rows;
            const qint64 now = QDateTime::currentMSecsSinceEpoch();
            if (query.find_first_not_of(" \t") == std::string::npos || bin) {
                for (const DocumentSummary &summary :
                     store.list(bin ? DocumentStore::Shelf::Bin : DocumentStore::Shelf::Drafts))
                    rows.push_back(rowOf(summary, now));
                return rows;
            }
            for (const documents::SearchHit &hit : store.search(query)) {
                rows.push_back(rowOf(hit.document, now));
                rows.back().excerpt = oneLine(hit.snippet);
            }
            return rows;
        },
        m_replies,
        [this, number](std::future<std::vector<Row>> answer) {
            try {
                std::vector<Row> rows = answer.get();
                if (number == m_loading)
                    show(std::move(rows));
            } catch (const Error &error) {
                Q_EMIT problem(QString::fromUtf8(error.what()));
            }
        });
}

void LibraryModel::show(std::vector<Row> rows)
{
    // Row by row: what went, what came or moved, what changed. Lists are short, and views keep their place.
    for (int i = count(); i-- > 0;) {
        const QString &id = m_rows[static_cast<std::size_t>(i)].id;
        if (std::any_of(rows.begin(), rows.end(), [&](const Row &row) { return row.id == id; }))
            continue;
        beginRemoveRows({}, i, i);
        m_rows.erase(m_rows.begin() + i);
        endRemoveRows();
    }
    for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
        Row &wanted = rows[static_cast<std::size_t>(i)];
        const auto at =
            std::find_if(m_rows.begin() + i, m_rows.end(), [&](const Row &row) { return row.id == wanted.id; });
        const int present = static_cast<int>(at - m_rows.begin());
        if (at == m_rows.end()) {
            beginInsertRows({}, i, i);
            m_rows.insert(m_rows.begin() + i, std::move(wanted));
            endInsertRows();
            continue;
        }
        if (present != i) {
            beginMoveRows({}, present, present, {}, i);
            std::rotate(m_rows.begin() + i, m_rows.begin() + present, m_rows.begin() + present + 1);
            endMoveRows();
        }
        if (m_rows[static_cast<std::size_t>(i)] != wanted) {
            m_rows[static_cast<std::size_t>(i)] = std::move(wanted);
            Q_EMIT dataChanged(index(i), index(i));
        }
    }
    Q_EMIT countChanged();
}

template <typename Call, typename Done>
void LibraryModel::change(Call call, Done done)
{
    m_store.run(std::move(call), m_replies, [this, done = std::move(done)](auto answer) {
        try {
            deliver(answer, done);
        } catch (const Error &error) {
            Q_EMIT problem(QString::fromUtf8(error.what()));
        }
        Q_EMIT changedOnDisk();
        refresh();
    });
}

void LibraryModel::create(const QString &title, const QString &text)
{
    change([title = title.toStdString(),
            text = text.toStdString()](DocumentStore &store) { return store.create(title, text).summary.id; },
           [this](const documents::OpaqueId &id) { Q_EMIT created(QString::fromStdString(id)); });
}

void LibraryModel::duplicate(const QString &id)
{
    change(
        [id = id.toStdString(), copy = tr("%1 (copy)").toStdString()](DocumentStore &store) {
            const std::string title = store.document(id).summary.title;
            std::string name = copy;
            if (const auto at = name.find("%1"); at != std::string::npos)
                name.replace(at, 2, title);
            return store.duplicate(id, name).summary.id;
        },
        [this](const documents::OpaqueId &copied) { Q_EMIT created(QString::fromStdString(copied)); });
}

void LibraryModel::importFile(const QUrl &file)
{
    change(
        [path = file.toLocalFile()](DocumentStore &store) {
            QFile source(path);
            if (!source.open(QIODevice::ReadOnly))
                throw Error(ErrorKind::NotFound, source.errorString().toStdString(), path.toStdString());
            if (source.size() > documents::kMostTextBytes)
                throw Error(ErrorKind::InvalidInput, "this file is larger than a draft can be (32 MiB)",
                            path.toStdString());
            const documents::ImportedText text =
                documents::importText(source.readAll().toStdString(), path.toStdString());
            return store.create(text.title, text.text, documents::Origin::Imported).summary.id;
        },
        [this](const documents::OpaqueId &id) { Q_EMIT created(QString::fromStdString(id)); });
}

void LibraryModel::importFiles(const QList<QUrl> &files)
{
    for (const QUrl &file : files)
        importFile(file);
}

void LibraryModel::rename(const QString &id, const QString &title)
{
    change(
        [id = id.toStdString(), title = title.toStdString()](DocumentStore &store) {
            documents::DocumentChange renaming;
            renaming.title = title;
            store.save(id, renaming);
        },
        [] {});
}

void LibraryModel::moveToBin(const QString &id)
{
    change([id = id.toStdString()](DocumentStore &store) { return store.moveToBin(id); },
           [this](const DocumentSummary &summary) {
               Q_EMIT binned(QString::fromStdString(summary.id), QString::fromStdString(summary.title));
           });
}

void LibraryModel::restore(const QString &id)
{
    change([id = id.toStdString()](DocumentStore &store) { store.takeFromBin(id); }, [] {});
}

void LibraryModel::erase(const QString &id)
{
    Q_EMIT erasing(id);
    change([id = id.toStdString()](DocumentStore &store) { store.erase(id); }, [] {});
}

void LibraryModel::emptyBin()
{
    change([](DocumentStore &store) { store.emptyBin(); }, [] {});
}

void LibraryModel::exportTo(const QString &id, const QString &format, const QUrl &file, bool provenance)
{
    const auto wanted = documents::exportFormatOf(format.toStdString());
    if (!wanted)
        return;
    change(
        [id = id.toStdString(), path = file.toLocalFile(), wanted = *wanted, provenance](DocumentStore &store) {
            const documents::Document document = store.document(id);
            const auto revisions = store.revisions(id);
            std::string text;
            if (wanted == documents::ExportFormat::Text)
                text = document.text;
            else if (wanted == documents::ExportFormat::Markdown)
                text = documents::exportMarkdown(
                    document, revisions, provenance ? documents::Provenance::Keep : documents::Provenance::Drop);
            else
                text = documents::exportDiff(document.summary.title, store.revision(id, revisions.front().number),
                                             store.revision(id, revisions.back().number));
            QSaveFile target(path);
            if (!target.open(QIODevice::WriteOnly) || target.write(text.data(), qint64(text.size())) < 0 ||
                !target.commit())
                throw Error(ErrorKind::PermissionDenied, "cannot write: " + target.errorString().toStdString(),
                            path.toStdString());
        },
        [this, file] { Q_EMIT exported(file); });
}

QString LibraryModel::suggestedFileName(const QString &title, const QString &format) const
{
    const auto wanted = documents::exportFormatOf(format.toStdString());
    return wanted ? QString::fromStdString(documents::exportFileName(title.toStdString(), *wanted)) : QString();
}

} // namespace palimpsest::studio
