// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/drafts/document_routes.h"

#include "app/documents/document_export.h"
#include "app/documents/document_worker.h"
#include "app/documents/store_error.h"
#include "app/server/http/message.h"
#include "app/server/http/reply.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <utility>

namespace palimpsest::documents {

namespace {

struct ExportWish
{
    OpaqueId document;
    ExportFormat format = ExportFormat::Markdown;
    std::optional<std::int64_t> from;
    std::optional<std::int64_t> to;
    Provenance provenance = Provenance::Drop;
};

std::optional<std::int64_t> revisionParameter(const http::Request &request, const char *name)
{
    const std::optional<std::string> text = request.parameter(name);
    if (!text || text->empty())
        return std::nullopt;
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (failure != std::errc() || end != text->data() + text->size() || number < 1) {
        throw Error(ErrorKind::InvalidArgument,
                    std::string(name) + ": must be the number of a revision, found \"" + *text + "\"", name);
    }
    return number;
}

ExportWish readWish(const http::Request &request)
{
    const std::string format = request.parameter("format").value_or("markdown");
    const std::optional<ExportFormat> known = exportFormatOf(format);
    if (!known) {
        throw Error(ErrorKind::InvalidArgument, "format: must be markdown, text or diff, found \"" + format + "\"",
                    "format");
    }
    const std::string provenance = request.parameter("provenance").value_or("drop");
    if (provenance != "keep" && provenance != "drop") {
        throw Error(ErrorKind::InvalidArgument, "provenance: must be keep or drop, found \"" + provenance + "\"",
                    "provenance");
    }
    return {.document = request.arguments.at(0),
            .format = *known,
            .from = revisionParameter(request, "from"),
            .to = revisionParameter(request, "to"),
            .provenance = provenance == "keep" ? Provenance::Keep : Provenance::Drop};
}

std::string mediaType(ExportFormat format)
{
    switch (format) {
    case ExportFormat::Markdown:
        return "text/markdown; charset=utf-8";
    case ExportFormat::Text:
        return "text/plain; charset=utf-8";
    case ExportFormat::Diff:
        break;
    }
    return "text/x-diff; charset=utf-8";
}

/// The name for programs that know RFC 6266, and one in ASCII for the others.
std::string disposition(const std::string &fileName)
{
    std::string ascii;
    std::string encoded;
    for (const char character : fileName) {
        const auto byte = static_cast<unsigned char>(character);
        const bool isPlain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                             (byte >= 'a' && byte <= 'z') || byte == '.' || byte == '-' || byte == '_';
        if (byte < 0x80 || (byte & 0xC0U) == 0xC0U) // one sign for a character
            ascii += isPlain || byte == ' ' ? character : '_';
        constexpr std::string_view kDigits = "0123456789ABCDEF";
        if (isPlain)
            encoded += character;
        else
            encoded += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
    return "attachment; filename=\"" + ascii + "\"; filename*=UTF-8''" + encoded;
}

std::string diffOf(DocumentStore &store, const ExportWish &wish, const Document &document)
{
    const Revision from = store.revision(wish.document, wish.from.value_or(1));
    Revision now{.summary = {.number = 0, .createdMs = document.summary.modifiedMs}, .text = document.text};
    return exportDiff(document.summary.title, from, wish.to ? store.revision(wish.document, *wish.to) : now);
}

http::Response exported(DocumentStore &store, const ExportWish &wish)
{
    Document document = store.document(wish.document);
    std::string file;
    switch (wish.format) {
    case ExportFormat::Markdown:
        file = exportMarkdown(document, store.revisions(wish.document), wish.provenance);
        break;
    case ExportFormat::Text:
        file = std::move(document.text);
        break;
    case ExportFormat::Diff:
        file = diffOf(store, wish, document);
        break;
    }
    return {.status = 200,
            .type = mediaType(wish.format),
            .body = std::move(file),
            .fields = {{"Content-Disposition", disposition(exportFileName(document.summary.title, wish.format))},
                       {"Cache-Control", "no-store"}}};
}

http::Response imported(DocumentStore &store, std::string bytes, const std::string &name, const Imported &tell)
{
    const ImportedText text = importText(std::move(bytes), name);
    const DocumentSummary made = store.create(text.title, text.text, Origin::Imported).summary;
    if (tell)
        tell(made);
    const nlohmann::json body{
        {"id", made.id}, {"title", made.title}, {"modified", made.modifiedMs}, {"revisions", made.lastRevision}};
    return {.status = 201, .type = "application/json", .body = body.dump(), .fields = {}};
}

http::Response errorAnswer(const Error &error)
{
    const auto *storeError = dynamic_cast<const StoreError *>(&error);
    if (storeError == nullptr)
        return http::errorResponse(error);
    http::ErrorText text{.message = error.what(), .type = "api_error", .param = {}, .code = "storage_failed"};
    if (storeError->fault() == StoreFault::Locked)
        return http::errorResponse(503, text, {{"Retry-After", "1"}});
    constexpr int kInsufficientStorage = 507;
    return http::errorResponse(storeError->fault() == StoreFault::DiskFull ? kInsufficientStorage : 500, text);
}

/// Has the store do the work, and answers with what it makes.
http::Answer answerFromStore(http::Call &call, DocumentWorker &worker,
                             std::function<http::Response(DocumentStore &)> work)
{
    const auto reply = std::make_shared<http::Reply>(call.claim());
    worker.runThen(std::move(work), [reply](std::future<http::Response> made) {
        try {
            reply->finish(made.get());
        } catch (const Error &error) { // the request's edge; anything else is answered 500 by the reply's end
            reply->finish(errorAnswer(error));
        } catch (const std::exception &error) {
            reply->finish(http::errorResponse(500, {.message = error.what(), .type = "api_error"}));
        }
    });
    return std::nullopt;
}

} // namespace

void addDocumentRoutes(http::Routes &routes, DocumentWorker &worker, Imported tell)
{
    routes.add("GET", "/api/documents/<arg>/export", [&worker](http::Call &call) {
        ExportWish wish = readWish(call.request());
        return answerFromStore(call, worker,
                               [wish = std::move(wish)](DocumentStore &store) { return exported(store, wish); });
    });
    routes.add(
        "POST", "/api/documents/import",
        [&worker, tell = std::move(tell)](http::Call &call) -> http::Answer {
            const http::Request &request = call.request();
            const std::string *type = request.field("content-type");
            if (type != nullptr && (type->starts_with("multipart/") || type->starts_with("application/x-www-form"))) {
                return http::errorResponse(415,
                                           {.message = "content-type: send the file's bytes as the body, not a form"});
            }
            return answerFromStore(
                call, worker,
                [bytes = request.body, name = request.parameter("name").value_or("Untitled.txt"),
                 tell](DocumentStore &store) mutable { return imported(store, std::move(bytes), name, tell); });
        },
        http::BodyType::Any);
}

} // namespace palimpsest::documents
