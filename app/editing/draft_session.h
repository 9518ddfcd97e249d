// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"
#include "app/editing/draft.h"
#include "app/editing/frame.h"
#include "app/editing/proposal.h"
#include "app/editing/run_info.h"
#include "app/editing/run_wish.h"
#include "engine/error.h"

#include <QJsonObject>
#include <QObject>
#include <QString>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace palimpsest::editing {

/// Takes what was asked for, or the Error that stands in its way: once, on the thread of the object that was asked,
/// possibly before the call returns. Not called any more when that object is gone.
template <typename Value>
using Answer = std::function<void(std::variant<Value, Error>)>;

/// Whether a draft is on the disk.
struct SaveState
{
    std::int64_t revision = 0; ///< the last one
    bool saved = true;
    QString problem; ///< for people: why not; "" = it is being saved, or is saved

    friend bool operator==(const SaveState &, const SaveState &) = default;
};

/// A revision, as lists show it.
struct RevisionInfo
{
    documents::RevisionSummary summary;
    std::int64_t words = 0;
};

/// A text that took the place of a span, for revisions that come back.
struct BranchInfo
{
    std::int64_t revision = 0; ///< 0 while it is not on the disk
    std::int64_t version = 0;
};

/// One open document, and everything that people and the model do with it; the same for all windows that show it.
///
/// Lives on the thread that made it and never blocks it: disk and engine answer as events. Methods throw Error at once
/// for what the caller got wrong (InvalidArgument; its subject names the field, or is kStaleSubject), NotFound for a
/// run, proposal or position that is not there, and what the engine says to a request (QueueFull, ContextLength,
/// Backend while it is loading). Nothing changed then. Signals come in the order in which things happened.
///
/// Whatever is typed is saved within a second; a failure to save is said and tried again, and nothing is lost
/// meanwhile.
class DraftSession : public QObject
{
    Q_OBJECT

public:
    ~DraftSession() override; ///< cancels what runs; SessionRegistry saves before

    [[nodiscard]] const QString &document() const noexcept;
    [[nodiscard]] const QString &title() const noexcept;
    [[nodiscard]] const Draft &draft() const noexcept; ///< text, version, locks, proposals, undoLabels
    [[nodiscard]] const QJsonObject &settings() const noexcept;
    [[nodiscard]] const SaveState &saveState() const noexcept;
    [[nodiscard]] std::vector<RunInfo> runs() const; ///< those under way, and the last ones that ended

    // The draft. `window` does not get its own `edited`.

    AppliedEdit edit(WindowId window, std::int64_t version, const TextEdit &edit, bool typing);
    /// Several edits, each in the positions that the one before left behind, as one undo step ("Replace all").
    void editAll(WindowId window, const std::vector<TextEdit> &edits, const QString &label);
    std::int64_t undo(); ///< the version behind it
    std::int64_t redo();
    TextSpan setLocked(std::int64_t version, TextSpan span, bool locked);
    void unlockAll();
    void rename(const QString &title);
    /// Puts the fields of `changes` over those of the settings; a null removes one. Known here: `sampler`, `seed` (a
    /// number, or a string of digits), `contextTokens` (how much of the draft around the span the model is shown; 0 =
    /// as much as fits). Throws for a known one of a wrong kind.
    void mergeSettings(const QJsonObject &changes);
    /// Somebody else may have saved this document: takes over what they wrote, unless something of this session is
    /// still unsaved (then its text wins, and theirs is kept as a revision).
    void followStore();

    void revisions(Answer<std::vector<RevisionInfo>> answer);
    void revisionText(std::int64_t revision, Answer<QString> answer);
    void restoreRevision(std::int64_t revision, Answer<std::int64_t> answer); ///< the version behind it
    /// Makes a revision of the draft as it is ("before the meeting").
    void addRevision(const QString &label, Answer<std::int64_t> answer);

    // Runs

    /// Returns the run's id. `version` is that of the wish's span.
    QString startRun(WindowId window, std::int64_t version, const RunWish &wish);
    /// The same wish at the same place, for a run or a proposal. With the seed given, else with a new one.
    QString startAgain(WindowId window, const QString &runOrProposal, std::optional<std::uint64_t> seed);
    [[nodiscard]] RunInfo run(const QString &run) const;
    void pauseRun(const QString &run);
    void resumeRun(const QString &run);
    void stepRun(const QString &run);
    enum class Stop { Restore, KeepSettled };
    void stopRun(const QString &run, Stop stop);
    void stopAllRuns();
    void hold(const QString &run, int lane, std::int64_t canvas, const std::vector<HoldChange> &changes);
    /// Holds or releases the word around a position as it is now; returns its positions.
    std::vector<std::int64_t> holdWord(const QString &run, int lane, std::int64_t canvas, std::int64_t position,
                                       bool held);
    /// `step` 0 = the newest. Throws Error NotFound for a step whose alternatives are no longer kept (those of a lane's
    /// last canvas are).
    [[nodiscard]] PositionAlternatives alternatives(const QString &run, int lane, std::int64_t canvas,
                                                    std::int64_t position, int step = 0) const;
    /// The newest frame of a lane; nothing before its first step.
    [[nodiscard]] std::optional<Frame> newestFrame(const QString &run, int lane) const;
    /// What has settled in a lane so far, for a window that opens the draft in the middle of a run.
    [[nodiscard]] std::vector<SettledPiece> settledPieces(const QString &run, int lane) const;

    // History; of older runs as well, as long as the store has them.

    void history(const QString &run, Answer<RunCurves> answer);
    void historyFrame(const QString &run, int lane, std::int64_t canvas, int step, Answer<Frame> answer);
    /// What the run's span would be with that very step, earlier canvases included: what `branch` makes of it.
    void historyText(const QString &run, int lane, std::int64_t canvas, int step, Answer<QString> answer);
    /// Where a run's text stands, or would stand, in the draft; nothing if that place is no longer there.
    [[nodiscard]] std::optional<TextSpan> placeOfRun(const QString &run, int lane) const;
    /// Makes the text of that very step, byte for byte as its frame showed it, the draft's text in the run's span: one
    /// undo step and a revision.
    void branch(const QString &run, int lane, std::int64_t canvas, int step, Answer<BranchInfo> answer);

    // Proposals

    void acceptProposal(WindowId window, const QString &proposal, std::optional<std::size_t> change = std::nullopt,
                        std::optional<int> words = std::nullopt);
    void rejectProposal(const QString &proposal, std::optional<std::size_t> change = std::nullopt);
    void chooseAlternative(const QString &proposal, std::size_t alternative);
    void takeWords(const QString &proposal, std::size_t alternative, TextSpan words);
    void writeOwn(const QString &proposal, const QString &text);
    /// Offers a text that no run of this draft led to (an answer to a question) for a span: a proposal like any other.
    /// Returns its id.
    QString offerText(std::int64_t version, TextSpan span, const QString &text, const ProposalOrigin &origin);

Q_SIGNALS:
    /// `by` is kNobody for all but a window's own `edit`.
    void edited(const palimpsest::editing::AppliedEdit &edit, palimpsest::editing::WindowId by,
                palimpsest::editing::EditCause cause);
    void titleChanged();
    void locksChanged();
    void settingsChanged();
    void undoableChanged();
    void saveStateChanged();
    void revisionAdded(const palimpsest::editing::RevisionInfo &revision);
    /// The document was deleted by somebody: nothing can be done with this session any more.
    void gone();

    /// A run began, or its state, its position, or a lane of it changed. Not for every step.
    void runChanged(const QString &run);
    /// There is a newer frame of a lane: newestFrame(). Once for the steps that came together.
    void frameReady(const QString &run, int lane);
    void pieceSettled(const QString &run, const palimpsest::editing::SettledPiece &piece);
    /// New, or anything of it changed.
    void proposalChanged(const QString &proposal);

private:
    friend class SessionRegistry;
    struct Setup;
    struct State;
    explicit DraftSession(Setup setup);

    std::unique_ptr<State> m_state;
};

} // namespace palimpsest::editing
