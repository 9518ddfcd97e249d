// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/run_info.h"
#include "app/editing/run_wish.h"
#include "app/editing/text_edit.h"

#include <QJsonObject>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// What a window may say to the live channel (PROTOCOL.md), read strictly from its JSON. Knows no sockets.

namespace palimpsest::live {

/// Names a document, run or proposal: a short text without a meaning.
using Id = QString;

inline constexpr std::int64_t kLargestNumber = (1LL << 53U) - 1; ///< what a JavaScript number still counts exactly
inline constexpr std::size_t kLargestMessageBytes = 256UL * 1024;
inline constexpr qsizetype kLongestId = 64;

/// One canvas of a run.
struct CanvasAddress
{
    Id run;
    int lane = 0;
    std::int64_t canvas = 0;
};

struct LibraryWatch
{
    QString query;
    bool binned = false;
};

struct DocumentCreate
{
    QString title;
    QString text;
};

struct DocumentRename
{
    Id document;
    QString title;
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
    editing::TextSpan span;
    QString text;
    bool typing = false;
};

struct Lock
{
    Id document;
    std::int64_t version = 0;
    editing::TextSpan span;
    bool locked = true;
};

struct ChangeSettings
{
    Id document;
    QJsonObject settings;
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
    editing::RunWish wish;
};

/// The wish of an earlier run or proposal once more; without `seed` with a new one.
struct RunAgain
{
    Id document;
    Id again;
    std::optional<std::uint64_t> seed;
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
    CanvasAddress at;
    std::vector<editing::HoldChange> changes;
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
    std::optional<std::size_t> change;
    std::optional<int> words;
};

struct ProposalReject
{
    Id proposal;
    std::optional<std::size_t> change;
};

struct ProposalChoose
{
    Id proposal;
    std::size_t alternative = 0;
};

struct ProposalTake
{
    Id proposal;
    std::size_t alternative = 0;
    editing::TextSpan span;
};

struct ProposalEdit
{
    Id proposal;
    QString text;
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
