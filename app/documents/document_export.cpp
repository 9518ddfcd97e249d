// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_export.h"

#include "app/documents/unified_diff.h"
#include "app/documents/value_checks.h"
#include "engine/error.h"
#include "engine/line_ends.h"
#include "engine/utf8.h"

#include <nlohmann/json.hpp>

#include <QDateTime>

#include <algorithm>
#include <filesystem>

namespace palimpsest::documents {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Without line ends and other control characters.
std::string onOneLine(std::string_view text)
{
    std::string line;
    for (std::size_t position = 0; position < text.size();) {
        const Utf8Character character = readUtf8(text, position);
        const std::size_t length = std::max<std::size_t>(character.length, 1);
        const bool isControl = character.length == 0 || character.codePoint < 0x20 || character.codePoint == 0x7F ||
                               (character.codePoint >= 0x80 && character.codePoint < 0xA0) ||
                               character.codePoint == 0x2028 || character.codePoint == 0x2029;
        if (isControl)
            line += ' ';
        else
            line += text.substr(position, length);
        position += length;
    }
    return std::string(trimWhiteSpace(line));
}

/// A text that Markdown would read as markup, written so that it reads as it stands.
std::string escapedForMarkdown(std::string_view line)
{
    std::string escaped;
    for (const char character : line) {
        if (std::string_view("\\`*_[]<>#&").find(character) != std::string_view::npos)
            escaped += '\\';
        escaped += character;
    }
    return escaped;
}

/// The text of the heading in the first line that is not empty, if there is one ("# Title", "## Title ##").
std::optional<std::string> firstHeading(std::string_view text)
{
    if (text.starts_with(kByteOrderMark))
        text.remove_prefix(kByteOrderMark.size());
    text = trimWhiteSpace(text);
    std::string_view line = trimWhiteSpace(text.substr(0, text.find_first_of("\r\n")));
    const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
    if (level < 1 || level > 6 || level == line.size() || (line[level] != ' ' && line[level] != '\t'))
        return std::nullopt;
    line = trimWhiteSpace(line.substr(level));
    if (const std::size_t last = line.find_last_not_of('#'); last == std::string_view::npos)
        line = {};
    else if (last + 1 < line.size() && (line[last] == ' ' || line[last] == '\t'))
        line = trimWhiteSpace(line.substr(0, last)); // closing number signs
    if (line.empty())
        return std::nullopt;
    return std::string(line);
}

std::string withoutBackslashes(std::string_view escaped)
{
    std::string text;
    for (std::size_t position = 0; position < escaped.size(); ++position) {
        if (escaped[position] == '\\' && position + 1 < escaped.size() &&
            std::string_view("\\`*_[]<>#&").find(escaped[position + 1]) != std::string_view::npos)
            ++position;
        text += escaped[position];
    }
    return text;
}

nlohmann::json parsedOrText(const std::string &json)
{
    nlohmann::json value = nlohmann::json::parse(json, nullptr, false);
    return value.is_discarded() ? nlohmann::json(json) : value;
}

std::string provenanceLine(const RevisionSummary &revision)
{
    const ModelOrigin &model = *revision.model;
    std::string line = nlohmann::ordered_json{
        {"revision", revision.number},
        {"model", model.model},
        {"seed", model.seed},
        {"action", model.action},
        {"instruction", model.instruction},
        {"sampler", parsedOrText(model.sampler)},
        {"steps", model.steps},
        {"canvases", model.canvases},
        {"stop_reason",
         model.stopReason}}.dump();
    // Two hyphens may end a comment. They stand in strings only, where JSON has another spelling.
    for (std::size_t position = line.find("--"); position != std::string::npos; position = line.find("--", position))
        line.replace(position + 1, 1, "\\u002d");
    return line;
}

std::string provenanceComment(std::span<const RevisionSummary> revisions)
{
    std::string lines;
    for (const RevisionSummary &revision : revisions) {
        if (revision.model)
            lines += provenanceLine(revision) + "\n";
    }
    return lines.empty() ? lines : "\n<!-- Palimpsest: revisions by a model\n" + lines + "-->\n";
}

std::string revisionName(const std::string &title, const RevisionSummary &revision)
{
    const QDateTime time = QDateTime::fromMSecsSinceEpoch(revision.createdMs, Qt::UTC);
    const std::string which = revision.number == 0 ? "now" : "revision " + std::to_string(revision.number);
    return onOneLine(title.empty() ? "Untitled" : title) + " (" + which + ")\t" +
           time.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss.zzz +0000")).toStdString();
}

std::string_view extensionOf(ExportFormat format)
{
    switch (format) {
    case ExportFormat::Markdown:
        return ".md";
    case ExportFormat::Text:
        return ".txt";
    case ExportFormat::Diff:
        break;
    }
    return ".diff";
}

} // namespace

std::optional<ExportFormat> exportFormatOf(std::string_view name)
{
    if (name == "markdown")
        return ExportFormat::Markdown;
    if (name == "text")
        return ExportFormat::Text;
    if (name == "diff")
        return ExportFormat::Diff;
    return std::nullopt;
}

std::string exportMarkdown(const Document &document, std::span<const RevisionSummary> revisions, Provenance provenance)
{
    std::string_view text = document.text;
    const bool hasMark = text.starts_with(kByteOrderMark);
    if (hasMark)
        text.remove_prefix(kByteOrderMark.size());
    const bool crLf = mostlyCrLf(text);
    const auto ended = [crLf](const std::string &lines) {
        return crLf ? withCrLf(lines) : lines;
    };

    std::string file(hasMark ? kByteOrderMark : std::string_view());
    const std::string title = onOneLine(document.summary.title);
    const std::optional<std::string> heading = firstHeading(text);
    if (!title.empty() && heading != title && (!heading || withoutBackslashes(*heading) != title))
        file += ended("# " + escapedForMarkdown(title) + "\n\n");
    file += text;
    if (provenance == Provenance::Keep) {
        const std::string comment = provenanceComment(revisions);
        if (!comment.empty() && !text.empty() && !text.ends_with('\n'))
            file += ended("\n");
        file += ended(comment);
    }
    return file;
}

std::string exportDiff(const std::string &title, const Revision &from, const Revision &to)
{
    return unifiedDiff(from.text, to.text,
                       {.original = revisionName(title, from.summary), .revised = revisionName(title, to.summary)});
}

std::string exportFileName(std::string_view title, ExportFormat format)
{
    constexpr std::size_t kMostStemBytes = 110;
    std::string stem;
    const std::string line = onOneLine(title);
    for (std::size_t position = 0; position < line.size();) {
        const std::size_t length = std::max<std::size_t>(readUtf8(line, position).length, 1);
        if (stem.size() + length > kMostStemBytes)
            break;
        const bool isReserved = std::string_view("/\\:*?\"<>|").find(line[position]) != std::string_view::npos;
        stem += isReserved ? "-" : line.substr(position, length);
        position += length;
    }
    while (stem.starts_with('.') || stem.starts_with(' ')) // no hidden files
        stem.erase(0, 1);
    while (stem.ends_with('.') || stem.ends_with(' '))
        stem.pop_back();
    return (stem.empty() ? "Untitled" : stem) + std::string(extensionOf(format));
}

ImportedText importText(std::string bytes, const std::string &fileName)
{
    if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
        throw Error(ErrorKind::InvalidInput,
                    fileName + ": the file is UTF-16; save it as UTF-8 in the program it comes from, then import it",
                    fileName);
    }
    requireStorable(bytes, fileName);
    const std::filesystem::path path(fileName);
    const std::string extension = path.extension().string();
    std::optional<std::string> heading;
    if (extension == ".md" || extension == ".markdown" || extension == ".MD")
        heading = firstHeading(bytes);
    std::string title = heading ? withoutBackslashes(*heading) : onOneLine(path.stem().string());
    return {.title = std::move(title), .text = std::move(bytes)};
}

} // namespace palimpsest::documents
