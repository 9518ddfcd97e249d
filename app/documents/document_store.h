// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace palimpsest::documents {

struct SchemaStep;

inline constexpr std::int64_t kMostTextBytes = 32LL << 20; ///< of one document; also the server's limit of a body

struct StoreOptions
{
    std::filesystem::path file; ///< made with its folders if it is not there, readable by its owner alone
    /// How long a call waits for another program that writes to the store.
    std::chrono::milliseconds busyTimeout{5000};
    /// What the denoising history of one document may take on the disk. Measured: about 40 KiB a canvas of 256 tokens
    /// and 48 steps, so some 800 canvases.
    std::int64_t historyCapBytes = 32LL << 20;
    std::function<std::int64_t()> nowMs = {}; ///< the clock; by default the system's
    std::span<const SchemaStep> schema = {};  ///< by default `currentSchema()`; tests make older and newer ones
};

/// The writer's drafts on the disk: documents, revisions, denoising history, proposals and a search index, in one
/// SQLite database that several processes may have open.
///
/// Thread: all calls come from the thread that made the store, and block for the disk, mostly for less than a few
/// milliseconds; `DocumentWorker` gives a store a thread of its own. A QCoreApplication must exist.
///
/// Durability: a call that changes something returns when the change is on the disk (write-ahead log, flushed with each
/// commit), so neither kill -9 nor, as far as the disk keeps its promise to flush, a power cut undoes what was
/// acknowledged. Every call is one transaction: a failed one changed nothing, and the store stays usable.
///
/// Errors: StoreError (store_error.h) for what the disk, the file or another program did; Error NotFound for an id that
/// does not exist, InvalidInput for a text that is not UTF-8, holds NUL or is too large, InvalidArgument for other
/// values. Messages name the document or file.
class DocumentStore
{
public:
    /// Opens the store; makes it if there is no file or an empty one. An older version is brought up to date, after a
    /// copy of it was made and checked. Throws StoreError: a newer version, another kind of file, a damaged one, or one
    /// that may not be written is left as it is, to the byte.
    explicit DocumentStore(StoreOptions options);
    ~DocumentStore();
    DocumentStore(const DocumentStore &) = delete;
    DocumentStore &operator=(const DocumentStore &) = delete;

    /// `palimpsest/documents.sqlite` in $XDG_DATA_HOME, by default in ~/.local/share.
    [[nodiscard]] static std::filesystem::path defaultFile();

    /// For a damaged store, after the person agreed: renames the file and its log so that a new store can be made in
    /// its place. Returns the new name. Nothing may have the store open.
    static std::filesystem::path moveAside(const std::filesystem::path &file);

    // Documents

    /// Makes a document and its first revision.
    Document create(std::string_view title, std::string_view text, Origin origin = Origin::Human,
                    std::string_view settings = "{}");
    [[nodiscard]] Document document(const OpaqueId &id) const;

    enum class Shelf { Drafts, Bin };
    /// Last modified first.
    [[nodiscard]] std::vector<DocumentSummary> list(Shelf shelf = Shelf::Drafts) const;

    SaveOutcome save(const OpaqueId &id, const DocumentChange &change);
    /// The commonest change: text and the locks that go with it.
    SaveOutcome saveText(const OpaqueId &id, std::string_view text, std::vector<LockedRange> locks,
                         std::optional<std::int64_t> expectedVersion);
    /// A copy with title, text, locks and settings; history stays with the original.
    Document duplicate(const OpaqueId &id, std::string_view title);

    DocumentSummary moveToBin(const OpaqueId &id);
    DocumentSummary takeFromBin(const OpaqueId &id);
    /// Deletes for good: text, revisions, history, proposals, search index; and overwrites it on the disk, for which
    /// the whole file is written anew (about a second for 100 MB). Copies made before a change of the store's version
    /// are deleted with it, since they may hold the text. If the disk has no room for that, or another process is just
    /// reading, the document is gone, and the bytes are overwritten by a later call or when the store is opened next.
    void erase(const OpaqueId &id);
    /// Erases what is in the bin, or what has been there since before `binnedBeforeMs`; returns how many.
    std::int64_t emptyBin(std::optional<std::int64_t> binnedBeforeMs = std::nullopt);

    // Revisions

    /// A revision of the document's text as it is.
    RevisionSummary addRevision(const OpaqueId &id, const NewRevision &revision);
    /// Rising by number.
    [[nodiscard]] std::vector<RevisionSummary> revisions(const OpaqueId &id) const;
    [[nodiscard]] Revision revision(const OpaqueId &id, std::int64_t number) const;
    /// Makes text and locks those of an older revision, as a new revision (Origin::Restored).
    SaveOutcome restore(const OpaqueId &id, std::int64_t number, std::optional<std::int64_t> expectedVersion);

    // Denoising history

    /// Begins a run; its steps follow by `appendSteps`.
    OpaqueId beginRun(const OpaqueId &document, std::string_view metadata);
    void setRunMetadata(const OpaqueId &run, std::string_view metadata);
    /// Adds steps of one canvas behind those it has; one transaction, so call it once a canvas (or every so many
    /// steps). If the document passes `StoreOptions::historyCapBytes` by it, the steps of its oldest runs are dropped,
    /// those of this run and of running and open proposals excepted; revisions and texts stay. Returns the ids of these
    /// runs.
    std::vector<OpaqueId> appendSteps(const OpaqueId &run, std::int64_t canvas, std::span<const StepRecord> steps);
    [[nodiscard]] std::vector<RunSummary> runs(const OpaqueId &document) const; ///< oldest first
    [[nodiscard]] RunSummary run(const OpaqueId &run) const;
    /// All steps of a canvas, rising; empty if there are none (any more).
    [[nodiscard]] std::vector<StepRecord> steps(const OpaqueId &run, std::int64_t canvas) const;
    [[nodiscard]] std::optional<StepRecord> step(const OpaqueId &run, std::int64_t canvas, std::int32_t step) const;
    void eraseRun(const OpaqueId &run); ///< overwrites it on the disk, as `erase` does

    // Proposals

    /// Takes all of it but id and time, which it returns filled in.
    Proposal addProposal(const OpaqueId &document, Proposal proposal);
    /// Replaces all of the proposal with this id but its time.
    void updateProposal(const Proposal &proposal);
    void eraseProposal(const OpaqueId &proposal);
    [[nodiscard]] Proposal proposal(const OpaqueId &id) const;
    [[nodiscard]] std::vector<Proposal> proposals(const OpaqueId &document) const; ///< oldest first

    // Search

    /// Drafts that hold all words of the query, or words that begin like them, in title or text; best first. Words in
    /// double quotes have to stand together; those of scripts without spaces may stand anywhere. Any input is a valid
    /// query; one without a word finds nothing.
    [[nodiscard]] std::vector<SearchHit> search(std::string_view query, std::int64_t mostHits = 50) const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace palimpsest::documents
