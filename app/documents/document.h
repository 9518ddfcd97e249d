// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace palimpsest::documents {

// The values that a document store keeps. All texts are UTF-8 and come back byte for byte as they went in (line ends,
// byte-order marks, unassigned characters); only NUL and what is not UTF-8 are refused. All times are milliseconds
// since 1970 in UTC.

/// Random, without meaning, never given twice: documents, runs and proposals are called by it from outside.
using OpaqueId = std::string;

/// A part of a document's text that no model may change: UTF-16 code units [begin, end), as editors count.
struct LockedRange
{
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::string text = {}; ///< what stands there

    friend bool operator==(const LockedRange &, const LockedRange &) = default;
};

inline constexpr std::size_t kExcerptBytes = 480;

/// A document without its text, for lists.
struct DocumentSummary
{
    OpaqueId id = {};
    std::string title = {};
    std::int64_t createdMs = 0;
    std::int64_t modifiedMs = 0;
    std::optional<std::int64_t> binnedMs = std::nullopt; ///< in the bin since then
    std::int64_t version = 0;                            ///< rises when text or locks change; see expectedVersion
    std::int64_t lastRevision = 0;
    std::int64_t textBytes = 0;
    std::string excerpt = {}; ///< how the text begins: whole characters, up to kExcerptBytes
};

struct Document
{
    DocumentSummary summary;
    std::string text = {};
    std::vector<LockedRange> locks = {}; ///< ascending, apart
    std::string settings = "{}";         ///< a JSON object; the store does not look into it
};

/// Where a revision's text came from.
enum class Origin {
    Human,
    Model,
    Restored, ///< an older revision again
    Imported,
};

/// How a model came to a text: all that is needed to make it again, or to say honestly what was done.
struct ModelOrigin
{
    std::string model = {}; ///< name of the checkpoint
    std::uint64_t seed = 0;
    std::string action = {}; ///< what was asked for: "rewrite", "renoise", "fill", "continue", "proofread"...
    std::string instruction = {};
    std::string sampler = "{}"; ///< settings, a JSON object
    std::int64_t steps = 0;
    std::int64_t canvases = 0;
    std::string stopReason = {};
    std::string figures = "{}"; ///< times and rates, a JSON object

    friend bool operator==(const ModelOrigin &, const ModelOrigin &) = default;
};

struct RevisionSummary
{
    std::int64_t number = 0;                           ///< from 1, rising within the document, never given twice
    std::optional<std::int64_t> parent = std::nullopt; ///< the revision that it was made from
    std::int64_t createdMs = 0;
    Origin origin = Origin::Human;
    std::string label = {};
    std::optional<ModelOrigin> model = std::nullopt; ///< of Origin::Model, and of a model's text that was restored
    std::optional<OpaqueId> run = std::nullopt;      ///< the denoising that led here
    std::int64_t textBytes = 0;
};

/// The text and locks of a document as they once were.
struct Revision
{
    RevisionSummary summary;
    std::string text = {};
    std::vector<LockedRange> locks = {};
};

/// What a caller says about a revision to be made; number, time and text come from the store.
struct NewRevision
{
    Origin origin = Origin::Human;
    std::optional<std::int64_t> parent = std::nullopt; ///< by default the document's latest revision
    std::string label = {};
    std::optional<ModelOrigin> model = std::nullopt;
    std::optional<OpaqueId> run = std::nullopt;
};

enum class ProposalState {
    Running,  ///< a model is still at it; after a crash: it never ended
    Open,     ///< complete, waits for the writer
    Accepted, ///< some or all of it went into the text
    Rejected,
    Dropped, ///< the original was changed meanwhile, so it fits nowhere
};

/// A change that a model offers and that the text does not hold yet. Survives a crash.
struct Proposal
{
    OpaqueId id = {}; ///< given by the store
    std::int64_t createdMs = 0;
    ProposalState state = ProposalState::Running;
    std::int64_t begin = 0; ///< UTF-16 code units [begin, end) of the document's text
    std::int64_t end = 0;
    std::string original = {};
    std::string proposed = {};
    std::string changes = "[]"; ///< single changes and what became of them, JSON; the store does not look into it
    std::optional<OpaqueId> run = std::nullopt;

    friend bool operator==(const Proposal &, const Proposal &) = default;
};

/// Moves a proposal to another state, together with the change of the text that it means.
struct ProposalSettlement
{
    OpaqueId proposal = {};
    ProposalState state = ProposalState::Accepted;
};

/// A change of one document. What is absent stays as it is; all of it is saved, or nothing.
struct DocumentChange
{
    std::optional<std::string> title = std::nullopt;
    std::optional<std::string> text = std::nullopt;
    /// Must fit the text as it is after the change; locks that no longer fit have to be given anew with a new text.
    std::optional<std::vector<LockedRange>> locks = std::nullopt;
    std::optional<std::string> settings = std::nullopt;
    std::optional<NewRevision> revision = std::nullopt; ///< of text and locks after the change
    std::vector<ProposalSettlement> proposals = {};
    /// The version that the writer saw. If the document has another one by now, nothing is saved. Absent: save anyway.
    std::optional<std::int64_t> expectedVersion = std::nullopt;
};

struct SaveOutcome
{
    bool saved = false; ///< false: the document has another version than the expected one
    DocumentSummary document;
    std::optional<std::int64_t> revision = std::nullopt; ///< number of the revision that was made
};

/// One denoising step of one canvas as the history keeps it. Vectors hold one element a position; `frozen` may be
/// empty, which means none.
struct StepRecord
{
    std::int32_t step = 0;                   ///< counts up from 1
    std::vector<std::int32_t> ids = {};      ///< canvas after the step: samples where accepted, noise elsewhere
    std::vector<std::int32_t> argmax = {};   ///< what would have been committed
    std::vector<float> entropiesNats = {};   ///< read back with the precision of `quantisedEntropy` (step_codec.h)
    std::vector<std::uint8_t> accepted = {}; ///< 0 or 1
    std::vector<std::uint8_t> frozen = {};   ///< 0 or 1
    float meanEntropyNats = 0.0F;
    float stepMs = 0.0F;

    friend bool operator==(const StepRecord &, const StepRecord &) = default;
};

/// A run of the model over a document: the history that revisions and proposals point to.
struct RunSummary
{
    OpaqueId id = {};
    std::int64_t createdMs = 0;
    std::string metadata = "{}"; ///< a JSON object; the store does not look into it
    std::int64_t steps = 0;
    std::int64_t canvases = 0;
    std::int64_t bytes = 0; ///< on disk
    bool pruned = false;    ///< its steps were dropped to keep the document below the cap
};

/// A document that a search found.
struct SearchHit
{
    /// Bytes [begin, end) of the snippet.
    struct Mark
    {
        std::int64_t begin = 0;
        std::int64_t end = 0;

        friend bool operator==(const Mark &, const Mark &) = default;
    };

    DocumentSummary document;
    std::string snippet = {};     ///< a piece of the text around the best match, cut at words, "…" where it was cut
    std::vector<Mark> marks = {}; ///< what matched in the snippet, ascending
};

} // namespace palimpsest::documents
