// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/qt_routing.h"

#include "app/server/http/target.h"
#include "engine/error.h"

#include <QHttpServer>
#include <QMetaType>
#include <algorithm>
#include <memory>
#include <string_view>

namespace palimpsest::http {

namespace {

/// What `<rest>` stands for; a type of its own, because Qt chooses the regular expression by the handler's types.
struct RestOfPath
{
    QString text;
};

using Nothing = QHttpServerResponse; // the exchange drops what Qt makes of it

Nothing nothing()
{
    return Nothing(Nothing::StatusCode::NoContent);
}

std::string decoded(const QString &capture)
{
    std::string text = capture.toStdString();
    std::replace(text.begin(), text.end(), '=', '%');
    return percentDecoded(text).value_or(std::string());
}

constexpr std::string_view kSegment = "<arg>";
constexpr std::string_view kRest = "<rest>";

int count(std::string_view pattern, std::string_view placeholder)
{
    int found = 0;
    for (std::size_t at = pattern.find(placeholder); at != std::string_view::npos;
         at = pattern.find(placeholder, at + 1))
        ++found;
    return found;
}

/// As Qt wants it: `<arg>` for every placeholder; what is special in a regular expression is escaped.
QString qtPattern(std::string_view pattern)
{
    QString result;
    while (!pattern.empty()) {
        if (pattern.starts_with(kSegment) || pattern.starts_with(kRest)) {
            pattern.remove_prefix(pattern.find('>') + 1);
            result += QStringLiteral("<arg>");
            continue;
        }
        if (std::string_view(".+*?()[]{}^$|\\").find(pattern.front()) != std::string_view::npos)
            result += QLatin1Char('\\');
        result += QLatin1Char(pattern.front());
        pattern.remove_prefix(1);
    }
    return result;
}

void addConverter(QHttpServer &server)
{
    if (!QMetaType::hasRegisteredConverterFunction<QString, RestOfPath>())
        QMetaType::registerConverter<QString, RestOfPath>([](const QString &text) { return RestOfPath{text}; });
    server.router()->addConverter(QMetaType::fromType<RestOfPath>(), QLatin1String(".+"));
}

template <typename View>
bool route(QHttpServer &server, const std::string &pattern, View view)
{
    return static_cast<bool>(server.route(qtPattern(pattern), QHttpServerRequest::Method::AnyKnown, std::move(view)));
}

bool addPattern(QHttpServer &server, const std::string &pattern, const std::shared_ptr<const Matched> &matched)
{
    const int segments = count(pattern, kSegment);
    const int rests = count(pattern, kRest);
    if (segments == 0 && rests == 0) {
        return route(server, pattern, [=] {
            (*matched)(pattern, {});
            return nothing();
        });
    }
    if (segments == 1 && rests == 0) {
        return route(server, pattern, [=](const QString &a) {
            (*matched)(pattern, {decoded(a)});
            return nothing();
        });
    }
    if (segments == 2 && rests == 0) {
        return route(server, pattern, [=](const QString &a, const QString &b) {
            (*matched)(pattern, {decoded(a), decoded(b)});
            return nothing();
        });
    }
    if (segments == 0 && rests == 1) {
        return route(server, pattern, [=](const RestOfPath &a) {
            (*matched)(pattern, {decoded(a.text)});
            return nothing();
        });
    }
    return false;
}

} // namespace

std::string qtPath(std::string encodedPath)
{
    std::replace(encodedPath.begin(), encodedPath.end(), '%', '=');
    return encodedPath;
}

void installRouting(QHttpServer &server, QTcpServer &gate, const std::vector<std::string> &patterns, Matched matched)
{
    const auto shared = std::make_shared<const Matched>(std::move(matched));
    addConverter(server);
    for (const std::string &pattern : patterns) {
        if (!addPattern(server, pattern, shared))
            throw Error(ErrorKind::Unsupported, "the server cannot route the pattern " + pattern, pattern);
    }
#if QT_VERSION >= QT_VERSION_CHECK(6, 8, 0)
    server.setMissingHandler(&server,
                             [shared](const QHttpServerRequest &, QHttpServerResponder &) { (*shared)({}, {}); });
    if (!server.bind(&gate))
        throw Error(ErrorKind::Unsupported, "Qt's HTTP server does not take the gate", "server");
#else
    server.setMissingHandler([shared](const QHttpServerRequest &, QHttpServerResponder &&) { (*shared)({}, {}); });
    server.bind(&gate);
#endif
}

} // namespace palimpsest::http
