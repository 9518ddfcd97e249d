// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What a session does with the model: runs, the proposals that they leave, and their history.

#include "app/editing/session_state.h"

#include "app/documents/document_store.h"
#include "app/editing/locked_words.h"
#include "app/editing/stored_run.h"
#include "app/editing/utf8_text.h"
#include "engine/error.h"

#include <QJsonDocument>
#include <QRandomGenerator>

#include <algorithm>
#include <limits>
#include <utility>

namespace palimpsest::editing {

namespace {

/// Ended runs that stay in memory, their histories with them; the disk has those of older ones.
constexpr std::size_t kEndedRuns = 24;
constexpr std::size_t kEndedBytes = 64U << 20U;
constexpr std::size_t kMostRunsUnderWay = 16;
/// Seeds travel through JavaScript, whose numbers hold 53 bits.
constexpr unsigned kSeedBits = 53;

std::uint64_t randomSeed()
{
    return QRandomGenerator::system()->generate64() >> (64U - kSeedBits);
}

[[noreturn]] void refuse(const std::string &message, const char *field)
{
    throw Error(ErrorKind::InvalidArgument, message, field);
}

/// Edits that make `text` of what stands in a span, each in the positions that the one before left behind.
std::vector<TextEdit> editsInto(const Draft &draft, TextSpan span, const QString &text)
{
    std::vector<TextEdit> edits;
    qsizetype shift = span.start;
    for (TextEdit &edit : changesAround(locksInside(draft.locks(), span), draft.textOf(span), text)) {
        edit.span = {edit.span.start + shift, edit.span.end + shift};
        shift += edit.text.size() - edit.span.length();
        edits.push_back(std::move(edit));
    }
    return edits;
}

/// Puts those that say something new behind the others. Returns which one to show: the first new one, or where the best
/// of `more` stood already, if it brought nothing new.
std::size_t joinAlternatives(std::vector<ProposalAlternative> &alternatives, std::vector<ProposalAlternative> more)
{
    const auto placeOf = [&alternatives](const QString &text) {
        const auto found = std::find_if(alternatives.begin(), alternatives.end(),
                                        [&text](const ProposalAlternative &one) { return one.text == text; });
        return static_cast<std::size_t>(found - alternatives.begin());
    };
    const std::size_t before = alternatives.size();
    const std::size_t best = placeOf(more.front().text);
    for (ProposalAlternative &alternative : more) {
        if (placeOf(alternative.text) == alternatives.size())
            alternatives.push_back(std::move(alternative));
    }
    return alternatives.size() > before ? before : best;
}

} // namespace

QString spaced(const QString &text, const QString &draft, TextSpan span)
{
    if (text.isEmpty())
        return text;
    const bool opens = span.start > 0 && draft.at(span.start - 1).isLetterOrNumber() && text.front().isLetterOrNumber();
    const bool closes =
        span.end < draft.size() && draft.at(span.end).isLetterOrNumber() && text.back().isLetterOrNumber();
    return (opens ? QStringLiteral(" ") : QString()) + text + (closes ? QStringLiteral(" ") : QString());
}

documents::ModelOrigin modelOriginOf(const Proposal &proposal)
{
    documents::ModelOrigin origin;
    origin.model = toUtf8(proposal.origin.model);
    origin.seed = proposal.alternatives[proposal.chosen].seed;
    origin.action = toUtf8(nameOf(proposal.action));
    origin.instruction = toUtf8(proposal.origin.instruction);
    origin.sampler = QJsonDocument(toJson(proposal.origin.sampler)).toJson(QJsonDocument::Compact).toStdString();
    origin.steps = proposal.origin.steps;
    origin.canvases = proposal.origin.canvases;
    const std::vector<CanvasStop> &stops = proposal.origin.stops;
    const bool hasCap = std::find(stops.begin(), stops.end(), CanvasStop::StepCap) != stops.end();
    if (!stops.empty()) // one canvas at the cap is what people should know of
        origin.stopReason = toUtf8(nameOf(hasCap ? CanvasStop::StepCap : stops.back()));
    return origin;
}

documents::ModelOrigin modelOriginOf(const DraftRun &run)
{
    const RunInfo info = run.info();
    documents::ModelOrigin origin;
    origin.model = toUtf8(run.modelId());
    origin.seed = info.seed;
    origin.action = toUtf8(nameOf(info.action));
    origin.instruction = toUtf8(info.instruction);
    origin.sampler = QJsonDocument(toJson(info.sampler)).toJson(QJsonDocument::Compact).toStdString();
    if (info.figures) {
        origin.steps = info.figures->steps;
        origin.canvases = info.figures->canvases;
    }
    return origin;
}

void DraftSession::State::checkSettings(const QJsonObject &settings)
{
    const QJsonValue sampler = settings[QStringLiteral("sampler")];
    if (!sampler.isUndefined() && !sampler.isObject())
        refuse("settings.sampler is no object", "settings.sampler");
    (void)SamplerWish::fromJson(sampler.toObject());
    const QJsonValue seed = settings[QStringLiteral("seed")];
    bool isNumber = true;
    if (seed.isString())
        (void)seed.toString().toULongLong(&isNumber);
    else if (!seed.isUndefined())
        isNumber = seed.isDouble() && seed.toInteger(-1) >= 0;
    if (!isNumber)
        refuse("settings.seed is no whole number from 0", "settings.seed");
    const QJsonValue context = settings[QStringLiteral("contextTokens")];
    if (!context.isUndefined() && context.toInteger(-1) < 0)
        refuse("settings.contextTokens is no whole number from 0", "settings.contextTokens");
}

std::optional<std::uint64_t> DraftSession::State::settledSeed() const
{
    const QJsonValue seed = settings[QStringLiteral("seed")];
    if (seed.isUndefined())
        return std::nullopt;
    return seed.isString() ? seed.toString().toULongLong() : static_cast<std::uint64_t>(seed.toInteger());
}

DraftRun *DraftSession::State::find(const QString &run) const
{
    const auto found = std::find_if(runs.begin(), runs.end(), [&](const std::unique_ptr<DraftRun> &candidate) {
        return candidate->id() == run || (!run.isEmpty() && saver.storedRun(candidate->id()) == run);
    });
    return found == runs.end() ? nullptr : found->get();
}

DraftRun &DraftSession::State::require(const QString &run) const
{
    DraftRun *found = find(run);
    if (found == nullptr)
        throw Error(ErrorKind::NotFound, "there is no run " + run.toStdString() + " (any more)", "run");
    return *found;
}

PlanInput DraftSession::State::inputFor(const RunWish &wish, std::optional<std::uint64_t> seed) const
{
    PlanInput input;
    input.model = model->require();
    input.wish = wish;
    input.text = draft.text();
    input.locks = draft.locks();
    input.seed = seed.value_or(randomSeed());
    const SamplerWish ofDraft = SamplerWish::fromJson(settings[QStringLiteral("sampler")].toObject());
    input.sampler = wish.sampler.over(ofDraft).resolved(input.model->running->defaults);
    input.contextTokens = settings[QStringLiteral("contextTokens")].toInteger();
    return input;
}

QString DraftSession::State::start(DraftRun::Setup setup)
{
    const auto underWay = static_cast<std::size_t>(
        std::count_if(runs.begin(), runs.end(), [](const auto &run) { return !run->ended(); }));
    if (underWay >= kMostRunsUnderWay)
        throw Error(ErrorKind::QueueFull,
                    "there are " + std::to_string(underWay) + " runs under way in this draft; wait for one to end",
                    "run");
    setup.id = newId();
    setup.document = document;
    auto made = std::make_unique<DraftRun>(std::move(setup));
    DraftRun *run = made.get();
    QString id = run->id();
    QObject::connect(run, &DraftRun::changed, &session, [this, id] { Q_EMIT session.runChanged(id); });
    QObject::connect(run, &DraftRun::frameReady, &session,
                     [this, id](int lane) { Q_EMIT session.frameReady(id, lane); });
    QObject::connect(run, &DraftRun::stepsRecorded, &session, [this, run] { keepSteps(*run, false); });
    QObject::connect(run, &DraftRun::pieceSettled, &session,
                     [this, id](const SettledPiece &piece) { Q_EMIT session.pieceSettled(id, piece); });
    QObject::connect(run, &DraftRun::finished, &session, [this, run] { runFinished(*run); });
    run->start();
    forgetOldRuns();
    saver.beginRun(id, runMetadata(*run));
    runs.push_back(std::move(made));
    Q_EMIT session.runChanged(id);
    return id;
}

void DraftSession::State::forgetOldRuns()
{
    std::size_t count = 0;
    std::size_t bytes = 0;
    for (const std::unique_ptr<DraftRun> &run : runs) {
        count += run->ended() ? 1 : 0;
        bytes += run->ended() ? run->history().bytes() : 0;
    }
    std::erase_if(runs, [&](const std::unique_ptr<DraftRun> &run) { // the oldest come first
        if (!run->ended() || (count <= kEndedRuns && bytes <= kEndedBytes))
            return false;
        --count;
        bytes -= run->history().bytes();
        return true;
    });
}

void DraftSession::State::keepSteps(DraftRun &run, bool all)
{
    saver.keepSteps(run.id(), run.history().takeUnsaved(all));
}

void DraftSession::State::runFinished(DraftRun &run)
{
    keepSteps(run, true);
    saver.endRun(run.id(), runMetadata(run));
    std::optional<Proposal> proposal = run.proposal({draft.textOf(run.span()), locksInside(draft.locks(), run.span())});
    if (!proposal)
        return;
    offer(run, *std::move(proposal));
    saver.saveNow();
}

const Proposal *DraftSession::State::openSibling(const Proposal &proposal) const
{
    const auto rewrites = [](RunAction action) {
        return action == RunAction::Rewrite || action == RunAction::Renoise;
    };
    const auto found = std::find_if(draft.proposals().begin(), draft.proposals().end(), [&](const Proposal &other) {
        const bool isAlike = other.action == proposal.action || (rewrites(other.action) && rewrites(proposal.action));
        return other.isOpen() && isAlike && proposal.action != RunAction::Proofread && other.span == proposal.span &&
               other.original == proposal.original;
    });
    return found == draft.proposals().end() ? nullptr : &*found;
}

void DraftSession::State::offer(DraftRun &run, Proposal proposal)
{
    if (const Proposal *sibling = openSibling(proposal); sibling != nullptr && !run.wish().direct) {
        // Several rewrites of one place stay side by side until one of them is taken.
        Proposal joined = *sibling;
        joined.chosen = joinAlternatives(joined.alternatives, std::move(proposal.alternatives));
        joined.run = proposal.run;
        joined.action = proposal.action;
        joined.origin = proposal.origin;
        joined.note = proposal.note;
        run.noteProposal(joined.id);
        draft.replaceOpen(
            withChanges(std::move(joined), {draft.textOf(proposal.span), locksInside(draft.locks(), proposal.span)}));
        announce();
        return;
    }
    proposal.id = newId();
    run.noteProposal(proposal.id);
    const QString id = proposal.id;
    draft.addProposal(std::move(proposal));
    announce();
    if (!run.wish().direct)
        return;
    saver.reviseWriting();
    afterEdits(draft.accept(id, std::nullopt, std::nullopt, author(kNobody, EditCause::Direct)), kNobody,
               EditCause::Direct);
    saver.makeRevision({.origin = documents::Origin::Model, .model = modelOriginOf(*draft.proposal(id))}, run.id());
}

void DraftSession::State::branch(const QString &run, int lane, const QString &text, int step, Answer<BranchInfo> answer)
{
    const TextSpan place = placeOf(run, lane);
    DraftRun *found = find(run);
    if (found != nullptr && !found->ended() && found->wish().action != RunAction::Proofread)
        found->stop(false); // the step takes the place of what the run would have led to
    saver.reviseWriting();
    const std::vector<TextEdit> edits = editsInto(draft, place, spaced(text, draft.text(), place));
    afterEdits(draft.editAll(edits, QStringLiteral("Branch")), kNobody, EditCause::Branch);
    documents::NewRevision revision{.origin = documents::Origin::Model, .label = "Step " + std::to_string(step)};
    if (found != nullptr)
        revision.model = modelOriginOf(*found);
    saver.makeRevision(
        std::move(revision), run,
        [answer = std::move(answer), version = draft.version()](std::variant<RevisionInfo, Error> outcome) {
            if (const auto *error = std::get_if<Error>(&outcome))
                answer(*error);
            else
                answer(BranchInfo{std::get<RevisionInfo>(outcome).summary.number, version});
        });
}

std::vector<RunInfo> DraftSession::runs() const
{
    std::vector<RunInfo> infos;
    for (const std::unique_ptr<DraftRun> &run : m_state->runs)
        infos.push_back(run->info());
    return infos;
}

QString DraftSession::startRun(WindowId window, std::int64_t version, const RunWish &wish)
{
    RunWish here = wish;
    here.span = draft().brought(wish.span, version);
    const std::optional<std::uint64_t> seed = wish.seed ? wish.seed : m_state->settledSeed();
    return m_state->start({.id = {}, .document = {}, .startedBy = window, .input = m_state->inputFor(here, seed)});
}

QString DraftSession::startAgain(WindowId window, const QString &runOrProposal, std::optional<std::uint64_t> seed)
{
    RunWish wish;
    if (const DraftRun *run = m_state->find(runOrProposal)) {
        wish = run->wish();
        wish.span = run->span();
        wish.paused = false;
    } else if (const Proposal *proposal = draft().proposal(runOrProposal)) {
        if (const DraftRun *origin = m_state->find(proposal->run)) {
            wish = origin->wish();
            wish.paused = false;
        } else {
            wish.action = proposal->action;
            wish.instruction = proposal->origin.instruction;
            wish.amount = proposal->origin.amount;
            wish.sampler = wishOf(proposal->origin.sampler);
            wish.alternatives = std::min<int>(static_cast<int>(proposal->alternatives.size()), kMostAlternatives);
        }
        wish.span = proposal->span;
    } else {
        throw Error(ErrorKind::NotFound, "there is no run or proposal " + runOrProposal.toStdString(), "again");
    }
    if (wish.action == RunAction::Fill || wish.action == RunAction::Continue)
        wish.span = {wish.span.start, wish.span.start};
    return m_state->start({.id = {}, .document = {}, .startedBy = window, .input = m_state->inputFor(wish, seed)});
}

RunInfo DraftSession::run(const QString &run) const
{
    return m_state->require(run).info();
}

void DraftSession::pauseRun(const QString &run)
{
    m_state->require(run).pause();
}

void DraftSession::resumeRun(const QString &run)
{
    m_state->require(run).resume();
}

void DraftSession::stepRun(const QString &run)
{
    m_state->require(run).step();
}

void DraftSession::stopRun(const QString &run, Stop stop)
{
    m_state->require(run).stop(stop == Stop::KeepSettled);
}

void DraftSession::stopAllRuns()
{
    // By index: whoever hears that a run has stopped may start or forget one.
    for (std::size_t i = 0; i < m_state->runs.size(); ++i) { // NOLINT(modernize-loop-convert)
        if (!m_state->runs[i]->ended())
            m_state->runs[i]->stop(false);
    }
}

void DraftSession::hold(const QString &run, int lane, std::int64_t canvas, const std::vector<HoldChange> &changes)
{
    m_state->require(run).hold(lane, canvas, changes);
}

std::vector<std::int64_t> DraftSession::holdWord(const QString &run, int lane, std::int64_t canvas,
                                                 std::int64_t position, bool held)
{
    return m_state->require(run).holdWord(lane, canvas, position, held);
}

PositionAlternatives DraftSession::alternatives(const QString &run, int lane, std::int64_t canvas,
                                                std::int64_t position, int step) const
{
    return m_state->require(run).alternatives(lane, canvas, position, step);
}

std::optional<Frame> DraftSession::newestFrame(const QString &run, int lane) const
{
    const DraftRun &found = m_state->require(run);
    if (lane < 0 || static_cast<std::size_t>(lane) >= found.history().lanes())
        throw Error(ErrorKind::NotFound, "the run has no lane " + std::to_string(lane), "lane");
    return found.history().newestFrame(static_cast<std::size_t>(lane));
}

std::vector<SettledPiece> DraftSession::settledPieces(const QString &run, int lane) const
{
    const DraftRun &found = m_state->require(run);
    if (lane < 0 || static_cast<std::size_t>(lane) >= found.history().lanes())
        throw Error(ErrorKind::NotFound, "the run has no lane " + std::to_string(lane), "lane");
    return found.pieces(static_cast<std::size_t>(lane));
}

} // namespace palimpsest::editing
