// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/web_files.h"

#include <QCryptographicHash>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace palimpsest::server {

namespace {

struct WebFile
{
    std::string type;
    std::string body;
    std::string etag;
};

constexpr std::string_view kNoStudio =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Palimpsest</title></head>\n"
    "<body><h1>Palimpsest</h1><p>This build has no browser studio. The endpoint is under <code>/v1</code>.</p>"
    "</body></html>\n";

std::string_view typeOf(const QString &suffix)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kTypes{{
        {"html", "text/html; charset=utf-8"},
        {"js", "text/javascript; charset=utf-8"},
        {"css", "text/css; charset=utf-8"},
        {"json", "application/json"},
        {"map", "application/json"},
        {"svg", "image/svg+xml"},
        {"png", "image/png"},
        {"ico", "image/x-icon"},
        {"woff2", "font/woff2"},
        {"txt", "text/plain; charset=utf-8"},
        {"md", "text/markdown; charset=utf-8"},
        {"webmanifest", "application/manifest+json"},
    }};
    const std::string asked = suffix.toLower().toStdString();
    const auto *const found =
        std::find_if(kTypes.begin(), kTypes.end(), [&asked](const auto &type) { return type.first == asked; });
    return found == kTypes.end() ? "application/octet-stream" : found->second;
}

std::shared_ptr<const WebFile> makeFile(std::string_view type, std::string body)
{
    const QByteArray digest =
        QCryptographicHash::hash(QByteArrayView(body.data(), std::ssize(body)), QCryptographicHash::Sha256);
    return std::make_shared<const WebFile>(
        WebFile{std::string(type), std::move(body), "\"" + digest.toHex().first(24).toStdString() + "\""});
}

http::Response answer(const WebFile &file, const http::Request &request)
{
    http::HeaderFields fields{{"ETag", file.etag}, {"Cache-Control", "no-cache"}};
    const std::string *known = request.field("if-none-match");
    if (known != nullptr && known->find(file.etag) != std::string::npos)
        return {.status = 304, .type = {}, .body = {}, .fields = std::move(fields)};
    if (file.type.starts_with("text/html")) {
        const std::string *host = request.field("host");
        fields.push_back({"Content-Security-Policy", contentSecurityPolicy(host != nullptr ? *host : "")});
        fields.push_back({"Referrer-Policy", "no-referrer"});
    }
    fields.push_back({"Cross-Origin-Resource-Policy", "same-origin"});
    return {.status = 200, .type = file.type, .body = file.body, .fields = std::move(fields)};
}

void addFile(http::Routes &routes, const std::string &path, const std::shared_ptr<const WebFile> &file)
{
    routes.add(
        "GET", path, [file](http::Call &call) -> http::Answer { return answer(*file, call.request()); },
        http::BodyType::Json, http::Access::Open);
}

} // namespace

bool addWebFiles(http::Routes &routes, const QString &folder)
{
    if (folder.isEmpty()) {
        addFile(routes, "/", makeFile("text/html; charset=utf-8", std::string(kNoStudio)));
        return false;
    }
    bool hasIndex = false;
    QDirIterator files(folder, QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext()) {
        QFile content(files.next());
        if (!content.open(QIODevice::ReadOnly))
            continue;
        const QString path = content.fileName().mid(folder.size());
        const auto file = makeFile(typeOf(QFileInfo(path).suffix()), content.readAll().toStdString());
        addFile(routes, path.toStdString(), file);
        if (path == QStringLiteral("/index.html")) {
            addFile(routes, "/", file);
            hasIndex = true;
        }
    }
    return hasIndex;
}

std::string contentSecurityPolicy(std::string_view host)
{
    // Older browsers do not take 'self' for WebSockets of the same origin.
    const std::string own(host);
    const std::string sockets = own.empty() ? "" : " ws://" + own + " wss://" + own;
    return "default-src 'self'; connect-src 'self'" + sockets +
           "; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

} // namespace palimpsest::server
