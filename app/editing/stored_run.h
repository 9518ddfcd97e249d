// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"
#include "app/editing/draft_run.h"
#include "app/editing/run_history.h"

#include <memory>
#include <string>

namespace palimpsest {
class Tokenizer;
namespace documents {
class DocumentStore;
}
} // namespace palimpsest

namespace palimpsest::editing {

/// What a run's steps need to be read again later, as the store's metadata (a JSON object).
[[nodiscard]] std::string runMetadata(const DraftRun &run);

/// All steps of a run that the store has. Blocks for the disk: for the store's thread. Throws Error NotFound if the run
/// is none of the document's, its steps were dropped, or it was made by another model than `model`.
[[nodiscard]] std::shared_ptr<RunHistory> loadHistory(const documents::DocumentStore &store,
                                                      const documents::OpaqueId &document,
                                                      const documents::OpaqueId &run, const std::string &model,
                                                      const std::shared_ptr<const Tokenizer> &tokenizer);

} // namespace palimpsest::editing
