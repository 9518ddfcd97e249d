// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace palimpsest::documents {

// Documents as files, and files as documents. Pure functions.

enum class ExportFormat {
    Markdown, ///< the title as a heading, unless the text begins with it, then the text
    Text,     ///< the text, to the byte
    Diff,     ///< what changed between two revisions
};

/// "markdown", "text" or "diff"; nothing for another name.
[[nodiscard]] std::optional<ExportFormat> exportFormatOf(std::string_view name);

/// How model texts are told in an exported file.
enum class Provenance {
    Drop,
    Keep, ///< Markdown only: a comment at the end with a JSON object a line for each revision by a model
};

/// `revisions` are looked at for provenance only. Line ends are those that most of the text has; a byte-order mark
/// stays in front.
[[nodiscard]] std::string exportMarkdown(const Document &document, std::span<const RevisionSummary> revisions,
                                         Provenance provenance);

/// A unified diff (unified_diff.h) whose sides are named after title, number and time of the revisions; number 0 stands
/// for the text as it is now.
[[nodiscard]] std::string exportDiff(const std::string &title, const Revision &from, const Revision &to);

/// A file name made of a title: no path, no control characters, never empty, at most 120 bytes with its extension.
[[nodiscard]] std::string exportFileName(std::string_view title, ExportFormat format);

struct ImportedText
{
    std::string title; ///< the first heading of a Markdown file, else the file's name without folder and extension
    std::string text;  ///< the file, to the byte
};

/// Throws Error InvalidInput, naming the file, if it is not UTF-8 text or too large.
[[nodiscard]] ImportedText importText(std::string bytes, const std::string &fileName);

} // namespace palimpsest::documents
