// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/answer_head.h"

#include "app/server/http/head_parser.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace palimpsest::http {

namespace {

void appendField(std::string &text, std::string_view name, std::string_view value)
{
    text.append(name).append(": ").append(value).append("\r\n");
}

bool hasNoBody(int status)
{
    return status < 200 || status == 204 || status == 304;
}

std::string twoDigits(int value)
{
    return {static_cast<char>('0' + value / 10), static_cast<char>('0' + value % 10)};
}

} // namespace

std::string answerHeadText(const AnswerHead &head)
{
    const Response &response = head.response;
    std::string text = "HTTP/1.1 " + std::to_string(response.status) + " ";
    text.append(reasonPhrase(response.status)).append("\r\n");
    appendField(text, "Date", httpDate(head.now));
    if (!response.type.empty())
        appendField(text, "Content-Type", response.type);
    if (head.framing == Framing::Chunked)
        appendField(text, "Transfer-Encoding", "chunked");
    if (head.framing == Framing::Length && !hasNoBody(response.status))
        appendField(text, "Content-Length", std::to_string(head.bodyBytes));
    for (const HeaderField &field : response.fields)
        appendField(text, field.name, field.value);
    for (const HeaderField &field : head.fields)
        appendField(text, field.name, field.value);
    if (!head.keepAlive)
        appendField(text, "Connection", "close");
    else if (head.sayKeepAlive)
        appendField(text, "Connection", "keep-alive");
    return text + "\r\n";
}

std::string chunkText(std::string_view text)
{
    if (text.empty())
        return {};
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), text.size(), 16).ptr;
    std::string chunk(digits.data(), end);
    chunk.append("\r\n").append(text).append("\r\n");
    return chunk;
}

bool isSound(const Response &response)
{
    return response.status >= 200 && response.status <= 599 && isFieldValue(response.type) &&
           std::all_of(response.fields.begin(), response.fields.end(),
                       [](const HeaderField &field) { return isToken(field.name) && isFieldValue(field.value); });
}

std::string httpDate(std::time_t time)
{
    // Not strftime: its names follow the locale.
    static constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm utc{};
    gmtime_r(&time, &utc);
    std::string text(kDays[static_cast<std::size_t>(utc.tm_wday)]);
    text.append(", ").append(twoDigits(utc.tm_mday)).append(" ");
    text.append(kMonths[static_cast<std::size_t>(utc.tm_mon)]).append(" ").append(std::to_string(utc.tm_year + 1900));
    text.append(" ").append(twoDigits(utc.tm_hour)).append(":").append(twoDigits(utc.tm_min));
    return text.append(":").append(twoDigits(utc.tm_sec)).append(" GMT");
}

} // namespace palimpsest::http
