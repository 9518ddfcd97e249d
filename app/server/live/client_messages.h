// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/token.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// What a window may say to the live channel (PROTOCOL.md), read strictly from its JSON. Knows no sockets and no Qt.

namespace palimpsest::live {

/// Names a document, run or proposal: a short text without a meaning.
using Id = std::string;

inline constexpr std::int64_t kLargestNumber = (1LL << 53U) - 1; ///< what a JavaScript number still counts exactly
inline constexpr std::size_t kLargestMessageBytes = 256UL * 1024;
inline constexpr std::size_t kLongestIdBytes = 64;
inline constexpr int kMostAlternatives = 8;

/// A part of a text in UTF-16 code units, end exclusive; begin <= end.
struct TextRange
{
    std::int64_t start = 0;
    std::int64_t end = 0;
};

/// One canvas of a run.
struct CanvasAddress
{
    Id run;
    std::int64_t lane = 0;
    std::int64_t canvas = 0;
};

/// What a client wishes of the sampler; the model's own value stands for what is absent.
struct SamplerWish
{
    std::optional<int> maxSteps;
    std::optional<double> tMin;
    std::optional<double> tMax;
    std::optional<double> entropyBoundNats;
    std::optional<int> stability;
    std::optional<double> confidenceNats;
};

enum class Action { Proofread, Rewrite, Renoise, Fill, Continue };
enum class Amount { Light, Medium, Full };

struct LibraryWatch
{
    std::string query;
    bool binned = false;
};

struct DocumentCreate
{
    std::string title;
    std::string text;
};

struct DocumentRename
{
    Id document;
    std::string title;
};

/// A message that names a document and nothing else.
struct DocumentOrder
{
    enum class Verb { Duplicate, Bin, Restore, Delete, Open, Close, Undo, Redo, UnlockAll, ListRevisions };
    Verb verb = Verb::Open;
    Id document;
};

struct Edit
{
    Id document;
    std::int64_t version = 0;
    TextRange range;
    std::string text;
    bool typing = false;
};

struct Lock
{
    Id document;
    std::int64_t version = 0;
    TextRange range;
    bool locked = true;
};

struct ChangeSettings
{
    Id document;
    nlohmann::json settings; ///< an object; `sampler` and `seed` in it are checked, the rest is the client's own
};

struct RevisionText
{
    Id document;
    std::int64_t revision = 0;
};

struct RevisionRestore
{
    Id document;
    std::int64_t revision = 0;
};

struct RunStart
{
    Id document;
    std::int64_t version = 0;
    Action action = Action::Proofread;
    TextRange range;
    std::string instruction;
    Amount amount = Amount::Medium;
    int alternatives = 1;
    std::optional<std::uint64_t> seed;
    SamplerWish sampler;
    bool paused = false;
    bool direct = false;
};

/// The wish of an earlier run or proposal once more; without `seed` with a new one.
struct RunAgain
{
    Id document;
    Id again;
    std::optional<std::uint64_t> seed;
    bool paused = false;
    bool direct = false;
};

/// A message that names a run and nothing else.
struct RunOrder
{
    enum class Verb { Pause, Resume, Step, History };
    Verb verb = Verb::Pause;
    Id run;
};

struct RunStop
{
    Id run;
    bool keep = false;
};

struct RunFreeze
{
    struct Change
    {
        std::int64_t position = 0;
        std::optional<TokenId> id; ///< none: released
    };
    CanvasAddress at;
    std::vector<Change> changes;
};

struct RunHold
{
    CanvasAddress at;
    std::int64_t position = 0;
    bool held = true;
};

struct RunAlternatives
{
    CanvasAddress at;
    std::int64_t position = 0;
    std::optional<int> step; ///< none: the newest
};

struct HistoryFrame
{
    CanvasAddress at;
    int step = 0;
};

struct HistoryBranch
{
    CanvasAddress at;
    int step = 0;
};

struct ProposalAccept
{
    Id proposal;
    std::optional<int> change;
    std::optional<int> words;
};

struct ProposalReject
{
    Id proposal;
    std::optional<int> change;
};

struct ProposalChoose
{
    Id proposal;
    int alternative = 0;
};

struct ProposalTake
{
    Id proposal;
    int alternative = 0;
    TextRange range;
};

struct ProposalEdit
{
    Id proposal;
    std::string text;
};

/// Confirms a frame, and with it all earlier ones of its lane.
struct Seen
{
    CanvasAddress at;
    int step = 0;
};

using ClientMessage = std::variant<LibraryWatch, DocumentCreate, DocumentRename, DocumentOrder, Edit, Lock,
                                   ChangeSettings, RevisionText, RevisionRestore, RunStart, RunAgain, RunOrder, RunStop,
                                   RunFreeze, RunHold, RunAlternatives, HistoryFrame, HistoryBranch, ProposalAccept,
                                   ProposalReject, ProposalChoose, ProposalTake, ProposalEdit, Seen>;

/// Why a message was not understood or not obeyed.
struct Problem
{
    std::string code;    ///< PROTOCOL.md, "Errors"
    std::string message; ///< for a person
    std::string param;   ///< the field at fault, or ""
};

struct ParsedMessage
{
    std::optional<std::int64_t> ref; ///< also there with a problem, if the message got as far as having one
    std::variant<ClientMessage, Problem> content;
};

/// Reads one message. Never throws for what the text says: that is a Problem, `invalid_request` or `unknown_type`.
[[nodiscard]] ParsedMessage parseClientMessage(std::string_view text);

} // namespace palimpsest::live
