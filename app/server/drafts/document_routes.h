// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"
#include "app/server/http/routes.h"

#include <functional>

namespace palimpsest::documents {

class DocumentWorker;

/// Told of a document that a client imported, on the store's thread.
using Imported = std::function<void(const DocumentSummary &)>;

/// Files in and out of the browser studio, beside the live channel:
///
///     GET  /api/documents/{id}/export?format=markdown|text|diff&from=&to=&provenance=
///     POST /api/documents/import?name=
///
/// Export answers with the file as an attachment. `format`: markdown by default. `from`, `to`: revisions of a diff, by
/// default the first one and the text as it is now. `provenance=keep`: Markdown tells models, seeds and settings in a
/// comment. Import takes the file's bytes as the body, of any content type but a form's; `name` is the file's name.
/// It answers 201 with `{"id", "title", "modified", "revisions"}`.
///
/// Errors are error objects: 400 for a text that is none, 404, 415 for forms, 503 for a store that another program has
/// locked, 507 for a full disk. The handlers return at once; the worker outlives the server.
void addDocumentRoutes(http::Routes &routes, DocumentWorker &worker, Imported tell = {});

} // namespace palimpsest::documents
