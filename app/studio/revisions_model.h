// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/draft_session.h"

#include <QAbstractListModel>
#include <QPointer>
#include <QString>
#include <QtQml/qqmlregistration.h>

#include <vector>

namespace palimpsest::studio {

/// The revisions of the open draft, the newest first. GUI thread.
class RevisionsModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
    enum Role { RevisionRole = Qt::UserRole + 1, HeadingRole, DetailRole, RunRole, ByModelRole, NewestRole };

    explicit RevisionsModel(QObject *parent = nullptr) : QAbstractListModel(parent) {}
    void setSession(editing::DraftSession *session);

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QHash<int, QByteArray> roleNames() const override;
    [[nodiscard]] int count() const { return static_cast<int>(m_revisions.size()); }

    /// Makes the draft's text that of an older revision: one undo step.
    Q_INVOKABLE void restore(int revision);

Q_SIGNALS:
    void countChanged();
    void problem(const QString &message);

private:
    void add(const editing::RevisionInfo &revision);
    [[nodiscard]] static QString headingOf(const editing::RevisionInfo &revision);
    [[nodiscard]] static QString detailOf(const editing::RevisionInfo &revision);

    QPointer<editing::DraftSession> m_session;
    std::vector<editing::RevisionInfo> m_revisions; ///< newest first
};

} // namespace palimpsest::studio
