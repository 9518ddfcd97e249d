// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document_worker.h"

#include <QAbstractListModel>
#include <QString>
#include <QTimer>
#include <QUrl>
#include <QtQml/qqmlregistration.h>

#include <vector>

namespace palimpsest::studio {

/// The writer's drafts: all of them, those that a search finds, or those in the bin. GUI thread; the disk answers
/// later. A list is refreshed with the smallest changes, never by a reset.
class LibraryModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(QString query READ query WRITE setQuery NOTIFY queryChanged)
    Q_PROPERTY(bool bin READ bin WRITE setBin NOTIFY binChanged) ///< shows the bin instead of the drafts
    Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
    enum Role { IdRole = Qt::UserRole + 1, TitleRole, ExcerptRole, DetailRole, BinnedRole };

    explicit LibraryModel(documents::DocumentWorker &store, QObject *parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QHash<int, QByteArray> roleNames() const override;

    [[nodiscard]] QString query() const { return m_query; }
    void setQuery(const QString &query);
    [[nodiscard]] bool bin() const noexcept { return m_bin; }
    void setBin(bool bin);
    [[nodiscard]] int count() const { return static_cast<int>(m_rows.size()); }

    Q_INVOKABLE [[nodiscard]] QString idAt(int row) const; ///< "" if there is no such row

    /// Each ends in `created`, or in `problem`.
    Q_INVOKABLE void create(const QString &title = {}, const QString &text = {});
    Q_INVOKABLE void duplicate(const QString &id);
    Q_INVOKABLE void importFile(const QUrl &file);
    Q_INVOKABLE void importFiles(const QList<QUrl> &files); ///< the last one is shown at last

    Q_INVOKABLE void rename(const QString &id, const QString &title);
    Q_INVOKABLE void moveToBin(const QString &id);
    Q_INVOKABLE void restore(const QString &id);
    Q_INVOKABLE void erase(const QString &id); ///< for good
    Q_INVOKABLE void emptyBin();
    /// Writes a draft to a file: "markdown", "text" or "diff" (from the first revision to the last one).
    Q_INVOKABLE void exportTo(const QString &id, const QString &format, const QUrl &file, bool provenance);
    Q_INVOKABLE [[nodiscard]] QString suggestedFileName(const QString &title, const QString &format) const;

    /// Reads the list again, soon.
    void refresh();

    /// "now", "yesterday", "12 Nov": how long ago in words.
    [[nodiscard]] static QString ago(qint64 thenMs, qint64 nowMs);

Q_SIGNALS:
    void queryChanged();
    void binChanged();
    void countChanged();
    void created(const QString &id);
    /// A draft is about to go for good: whoever shows it lets go of it.
    void erasing(const QString &id);
    void binned(const QString &id, const QString &title);
    void exported(const QUrl &file);
    void changedOnDisk(); ///< by this model
    void problem(const QString &message);

private:
    struct Row
    {
        QString id;
        QString title;
        QString excerpt;
        QString detail;
        bool binned = false;

        friend bool operator==(const Row &, const Row &) = default;
    };
    void load();
    void show(std::vector<Row> rows);
    [[nodiscard]] static Row rowOf(const documents::DocumentSummary &summary, qint64 nowMs);
    /// Runs a change of the store, then refreshes; `done(result)` comes before that.
    template <typename Call, typename Done>
    void change(Call call, Done done);

    documents::DocumentWorker &m_store;
    documents::DocumentReplies m_replies;
    QTimer m_refreshTimer;
    QString m_query;
    bool m_bin = false;
    int m_loading = 0; ///< number of the last load: older answers are dropped
    std::vector<Row> m_rows;
};

} // namespace palimpsest::studio
