// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/head_parser.h"

#include "app/server/http/ascii.h"

#include <algorithm>

namespace palimpsest::http {

namespace {

/// Thrown inside this file only: the many ways to be wrong would hide the rules otherwise.
struct Refused
{
    HeadFault fault;
};

[[noreturn]] void refuse(std::string message, int status = 400)
{
    throw Refused{{status, std::move(message)}};
}

bool isControl(char c)
{
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

void parseRequestLine(std::string_view line, RequestHead &head)
{
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last)
        refuse("The request line is not METHOD TARGET VERSION.");
    head.method = line.substr(0, first);
    head.targetText = line.substr(first + 1, last - first - 1);
    const std::string_view version = line.substr(last + 1);
    if (!isToken(head.method))
        refuse("The request's method is not a word.");
    const bool form = version.size() == 8 && version.starts_with("HTTP/") && isDigit(version[5]) && version[6] == '.' &&
                      isDigit(version[7]);
    if (!form)
        refuse("The request line does not end with an HTTP version.");
    if (version != "HTTP/1.1" && version != "HTTP/1.0")
        refuse("This server speaks HTTP/1.1 and HTTP/1.0.", 505);
    head.minorVersion = version[7] - '0';
    if (head.targetText.find_first_of(" \t") != std::string::npos)
        refuse("The request's target has a blank in it.");
    auto target = parseTarget(head.targetText);
    if (!target)
        refuse("The request's target is not a plain path of valid percent-encoded UTF-8.");
    head.target = std::move(*target);
}

HeaderField parseField(std::string_view line)
{
    if (line.front() == ' ' || line.front() == '\t')
        refuse("A header field is folded over two lines.");
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !isToken(line.substr(0, colon)))
        refuse("A header field is not NAME: VALUE, without a blank before the colon.");
    return {std::string(line.substr(0, colon)), std::string(stripBlanks(line.substr(colon + 1)))};
}

/// Values of all fields of that name.
std::vector<std::string_view> valuesOf(const HeaderFields &fields, std::string_view name)
{
    std::vector<std::string_view> values;
    for (const HeaderField &field : fields) {
        if (equalsIgnoringCase(field.name, name))
            values.emplace_back(field.value);
    }
    return values;
}

/// Whether one of the comma-separated members of all fields of that name is `token`.
bool listHas(const HeaderFields &fields, std::string_view name, std::string_view token)
{
    for (std::string_view value : valuesOf(fields, name)) {
        while (!value.empty()) {
            const std::string_view member = value.substr(0, value.find(','));
            if (equalsIgnoringCase(stripBlanks(member), token))
                return true;
            value.remove_prefix(std::min(value.size(), member.size() + 1));
        }
    }
    return false;
}

void readHost(RequestHead &head)
{
    const auto hosts = valuesOf(head.fields, "host");
    if (hosts.size() > 1 || (hosts.empty() && head.minorVersion == 1))
        refuse("A request has exactly one Host.");
    if (!hosts.empty())
        head.host = hosts.front();
}

void readFraming(RequestHead &head)
{
    const auto lengths = valuesOf(head.fields, "content-length");
    const auto codings = valuesOf(head.fields, "transfer-encoding");
    if (!lengths.empty() && !codings.empty())
        refuse("A request has either a Content-Length or a Transfer-Encoding.");
    if (lengths.size() > 1)
        refuse("A request has one Content-Length.");
    if (!codings.empty()) {
        if (head.minorVersion == 0)
            refuse("HTTP/1.0 knows no Transfer-Encoding.");
        if (codings.size() > 1 || !equalsIgnoringCase(codings.front(), "chunked"))
            refuse("The only transfer coding that this server knows is chunked.", 501);
        head.chunked = true;
    }
    if (lengths.empty())
        return;
    const std::string_view digits = lengths.front();
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), isDigit))
        refuse("The Content-Length is not a number.");
    std::uint64_t length = 0;
    for (const char digit : digits) {
        if (length > 100'000'000'000'000'000U)
            refuse("The Content-Length is too large.", 413);
        length = length * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    head.contentLength = length;
}

void readConnection(RequestHead &head)
{
    const bool close = listHas(head.fields, "connection", "close");
    head.keepAlive = !close && (head.minorVersion == 1 || listHas(head.fields, "connection", "keep-alive"));
    head.webSocketUpgrade = head.minorVersion == 1 && listHas(head.fields, "connection", "upgrade") &&
                            listHas(head.fields, "upgrade", "websocket");
    const auto expectations = valuesOf(head.fields, "expect");
    if (expectations.empty() || head.minorVersion == 0)
        return;
    if (expectations.size() > 1 || !equalsIgnoringCase(expectations.front(), "100-continue"))
        refuse("The only expectation that this server can meet is 100-continue.", 417);
    head.expectsContinue = true;
}

std::string_view takeLine(std::string_view &text)
{
    const std::string_view line = text.substr(0, text.find("\r\n"));
    text.remove_prefix(std::min(text.size(), line.size() + 2));
    return line;
}

RequestHead readHead(std::string_view text)
{
    RequestHead head;
    parseRequestLine(takeLine(text), head);
    while (true) {
        const std::string_view line = takeLine(text);
        if (line.empty())
            break;
        if (head.fields.size() == kMostFields)
            refuse("The request has more than " + std::to_string(kMostFields) + " header fields.", 431);
        head.fields.push_back(parseField(line));
    }
    readHost(head);
    readFraming(head);
    readConnection(head);
    return head;
}

} // namespace

HeadScanner::State HeadScanner::scan(std::string_view received)
{
    while (m_position < received.size()) {
        const char c = received[m_position];
        if (m_afterCr != (c == '\n') || (isControl(c) && c != '\r' && c != '\n' && c != '\t'))
            return State::Malformed;
        ++m_position;
        m_afterCr = c == '\r';
        if (c != '\n')
            continue;
        if (m_position - m_lineBegin == 2)
            return State::Complete;
        m_lineBegin = m_position;
    }
    return State::More;
}

std::variant<RequestHead, HeadFault> parseHead(std::string_view text)
{
    HeadScanner scanner;
    if (scanner.scan(text) != HeadScanner::State::Complete || scanner.headBytes() != text.size() || text.size() == 2)
        return HeadFault{400, "The request's head is malformed."};
    try {
        return readHead(text);
    } catch (Refused &refused) {
        return std::move(refused.fault);
    }
}

bool isToken(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return isDigit(c) || (lowerCase(c) >= 'a' && lowerCase(c) <= 'z') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

bool isFieldValue(std::string_view text)
{
    return std::none_of(text.begin(), text.end(), [](char c) { return isControl(c) && c != '\t'; });
}

} // namespace palimpsest::http
