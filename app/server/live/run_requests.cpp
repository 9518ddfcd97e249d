// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/requests.h"

#include "app/server/live/run_messages.h"
#include "app/server/live/window.h"
#include "engine/error.h"

#include <QJsonArray>

// What Requests does about runs and proposals.

namespace palimpsest::live {

using editing::DraftSession;

void Requests::obey(const RunStart &wish, const Answerer &answerer)
{
    DraftSession &session = draftOf(wish.document, answerer);
    answerer.reply({{"run", session.startRun(answerer.window()->id(), wish.version, wish.wish)}});
}

void Requests::obey(const RunAgain &wish, const Answerer &answerer)
{
    DraftSession &session = draftOf(wish.document, answerer);
    answerer.reply({{"run", session.startAgain(answerer.window()->id(), wish.again, wish.seed)}});
}

void Requests::obey(const RunOrder &order, const Answerer &answerer)
{
    DraftSession &session = sessionOfRun(order.run);
    switch (order.verb) {
    case RunOrder::Verb::Pause:
        session.pauseRun(order.run);
        break;
    case RunOrder::Verb::Resume:
        session.resumeRun(order.run);
        break;
    case RunOrder::Verb::Step:
        session.stepRun(order.run);
        break;
    case RunOrder::Verb::History:
        return session.history(order.run, answerer.later<editing::RunCurves>(curveFields));
    }
    answerer.reply();
}

void Requests::obey(const RunStop &wish, const Answerer &answerer)
{
    sessionOfRun(wish.run).stopRun(wish.run, wish.keep ? DraftSession::Stop::KeepSettled : DraftSession::Stop::Restore);
    answerer.reply();
}

void Requests::obey(const RunFreeze &wish, const Answerer &answerer)
{
    const CanvasAddress &at = wish.at;
    sessionOfRun(at.run).hold(at.run, at.lane, at.canvas, wish.changes);
    answerer.reply();
}

void Requests::obey(const RunHold &wish, const Answerer &answerer)
{
    const CanvasAddress &at = wish.at;
    QJsonArray positions;
    for (const std::int64_t position :
         sessionOfRun(at.run).holdWord(at.run, at.lane, at.canvas, wish.position, wish.held))
        positions.append(static_cast<qint64>(position));
    answerer.reply({{"positions", positions}});
}

void Requests::obey(const RunAlternatives &wish, const Answerer &answerer)
{
    const CanvasAddress &at = wish.at;
    answerer.reply(alternativeFields(
        sessionOfRun(at.run).alternatives(at.run, at.lane, at.canvas, wish.position, wish.step.value_or(0))));
}

void Requests::obey(const HistoryFrame &wish, const Answerer &answerer)
{
    const CanvasAddress &at = wish.at;
    sessionOfRun(at.run).historyFrame(
        at.run, at.lane, at.canvas, wish.step, [answerer, run = at.run](std::variant<editing::Frame, Error> answer) {
            if (const auto *error = std::get_if<Error>(&answer))
                answerer.fail(*error);
            else
                answerer.replyText(u"frame", frameText(run, std::get<editing::Frame>(answer)));
        });
}

void Requests::obey(const HistoryBranch &wish, const Answerer &answerer)
{
    const CanvasAddress &at = wish.at;
    sessionOfRun(at.run).branch(at.run, at.lane, at.canvas, wish.step,
                                answerer.later<editing::BranchInfo>([](const editing::BranchInfo &made) {
                                    return QJsonObject{{"revision", static_cast<qint64>(made.revision)},
                                                       {"version", static_cast<qint64>(made.version)}};
                                }));
}

void Requests::obey(const Seen &seen, const Answerer &answerer)
{
    m_channels.confirm(*answerer.window(), {.run = seen.at.run, .lane = seen.at.lane},
                       {.canvas = seen.at.canvas, .step = seen.step});
    answerer.reply();
}

void Requests::obey(const ProposalAccept &wish, const Answerer &answerer)
{
    sessionOfProposal(wish.proposal).acceptProposal(answerer.window()->id(), wish.proposal, wish.change, wish.words);
    answerer.reply();
}

void Requests::obey(const ProposalReject &wish, const Answerer &answerer)
{
    sessionOfProposal(wish.proposal).rejectProposal(wish.proposal, wish.change);
    answerer.reply();
}

void Requests::obey(const ProposalChoose &wish, const Answerer &answerer)
{
    sessionOfProposal(wish.proposal).chooseAlternative(wish.proposal, wish.alternative);
    answerer.reply();
}

void Requests::obey(const ProposalTake &wish, const Answerer &answerer)
{
    sessionOfProposal(wish.proposal).takeWords(wish.proposal, wish.alternative, wish.span);
    answerer.reply();
}

void Requests::obey(const ProposalEdit &wish, const Answerer &answerer)
{
    sessionOfProposal(wish.proposal).writeOwn(wish.proposal, wish.text);
    answerer.reply();
}

DraftSession &Requests::sessionOfRun(const QString &run) const
{
    DraftSession *session = m_sessions.findByRun(run);
    if (session == nullptr)
        throw Error(ErrorKind::NotFound, "there is no run " + run.toStdString() + " in an open document", "run");
    return *session;
}

DraftSession &Requests::sessionOfProposal(const QString &proposal) const
{
    DraftSession *session = m_sessions.findByProposal(proposal);
    if (session == nullptr)
        throw Error(ErrorKind::NotFound, "there is no proposal " + proposal.toStdString() + " in an open document",
                    "proposal");
    return *session;
}

} // namespace palimpsest::live
