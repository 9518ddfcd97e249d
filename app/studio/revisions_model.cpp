// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/revisions_model.h"

#include "app/studio/library_model.h"

#include <QDateTime>

#include <algorithm>

namespace palimpsest::studio {

using documents::Origin;
using editing::DraftSession;
using editing::RevisionInfo;

void RevisionsModel::setSession(DraftSession *session)
{
    if (m_session)
        m_session->disconnect(this);
    m_session = session;
    if (!m_revisions.empty()) {
        beginRemoveRows({}, 0, count() - 1);
        m_revisions.clear();
        endRemoveRows();
        Q_EMIT countChanged();
    }
    if (!m_session)
        return;
    connect(m_session, &DraftSession::revisionAdded, this, &RevisionsModel::add);
    m_session->revisions([self = QPointer(this),
                          session = QPointer(session)](const std::variant<std::vector<RevisionInfo>, Error> &answer) {
        if (!self || !session || self->m_session != session)
            return;
        if (const auto *error = std::get_if<Error>(&answer)) {
            Q_EMIT self->problem(QString::fromUtf8(error->what()));
            return;
        }
        for (const RevisionInfo &revision : std::get<std::vector<RevisionInfo>>(answer))
            self->add(revision); // oldest first
    });
}

void RevisionsModel::add(const RevisionInfo &revision)
{
    const auto number = revision.summary.number;
    const auto at = std::find_if(m_revisions.begin(), m_revisions.end(),
                                 [number](const RevisionInfo &present) { return present.summary.number <= number; });
    if (at != m_revisions.end() && at->summary.number == number)
        return; // both told and listed
    const int row = static_cast<int>(at - m_revisions.begin());
    beginInsertRows({}, row, row);
    m_revisions.insert(at, revision);
    endInsertRows();
    if (row == 0 && count() > 1)
        Q_EMIT dataChanged(index(1), index(1), {NewestRole});
    Q_EMIT countChanged();
}

int RevisionsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : count();
}

QString RevisionsModel::headingOf(const RevisionInfo &revision)
{
    const documents::RevisionSummary &summary = revision.summary;
    if (!summary.label.empty())
        return QString::fromStdString(summary.label);
    switch (summary.origin) {
    case Origin::Human:
        return tr("You wrote");
    case Origin::Restored:
        return tr("Restored");
    case Origin::Imported:
        return tr("Imported");
    case Origin::Model:
        break;
    }
    const QString action = summary.model ? QString::fromStdString(summary.model->action) : QString();
    if (action == u"proofread")
        return tr("Proofread");
    if (action == u"rewrite")
        return tr("Rewritten");
    if (action == u"renoise")
        return tr("Re-noised");
    if (action == u"fill")
        return tr("Filled in");
    if (action == u"continue")
        return tr("Continued");
    return tr("Model");
}

QString RevisionsModel::detailOf(const RevisionInfo &revision)
{
    const documents::RevisionSummary &summary = revision.summary;
    QStringList parts{LibraryModel::ago(summary.createdMs, QDateTime::currentMSecsSinceEpoch())};
    if (summary.model) {
        parts << tr("model, seed %1").arg(summary.model->seed);
        if (summary.model->stopReason == "cap")
            parts << tr("stopped at the cap (%1)").arg(summary.model->steps);
        else if (summary.model->steps > 0)
            parts << tr("settled after %n step(s)", nullptr, static_cast<int>(summary.model->steps));
    }
    parts << tr("%n word(s)", nullptr, static_cast<int>(revision.words));
    return parts.join(QStringLiteral(" · "));
}

QVariant RevisionsModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= count())
        return {};
    const RevisionInfo &revision = m_revisions[static_cast<std::size_t>(index.row())];
    switch (role) {
    case RevisionRole:
        return static_cast<int>(revision.summary.number);
    case Qt::DisplayRole:
    case HeadingRole:
        return headingOf(revision);
    case DetailRole:
        return detailOf(revision);
    case RunRole:
        return QString::fromStdString(revision.summary.run.value_or(std::string()));
    case ByModelRole:
        return revision.summary.origin == Origin::Model;
    case NewestRole:
        return index.row() == 0;
    default:
        return {};
    }
}

QHash<int, QByteArray> RevisionsModel::roleNames() const
{
    return {{RevisionRole, "revision"}, {HeadingRole, "heading"}, {DetailRole, "detail"},
            {RunRole, "run"},           {ByModelRole, "byModel"}, {NewestRole, "newest"}};
}

void RevisionsModel::restore(int revision)
{
    if (!m_session)
        return;
    m_session->restoreRevision(revision, [self = QPointer(this)](const std::variant<std::int64_t, Error> &answer) {
        if (const auto *error = std::get_if<Error>(&answer); error != nullptr && self)
            Q_EMIT self->problem(QString::fromUtf8(error->what()));
    });
}

} // namespace palimpsest::studio
