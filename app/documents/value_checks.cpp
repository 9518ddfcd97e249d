// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/value_checks.h"

#include "app/documents/document_store.h"
#include "engine/error.h"
#include "engine/text_boundaries.h"
#include "engine/utf8.h"

#include <nlohmann/json.hpp>

#include <string>

namespace palimpsest::documents {

namespace {

/// Walks a text by UTF-16 code units.
class CodeUnitCursor
{
public:
    explicit CodeUnitCursor(std::string_view text) : m_text(text) {}

    /// Byte offset of code unit `unit`, which must not lie before an earlier one; nothing inside a character or behind
    /// the end.
    [[nodiscard]] std::optional<std::size_t> byteOf(std::int64_t unit)
    {
        while (m_unit < unit && m_byte < m_text.size()) {
            const Utf8Character character = readUtf8(m_text, m_byte);
            m_byte += character.length;
            m_unit += character.codePoint > 0xFFFF ? 2 : 1;
        }
        return m_unit == unit ? std::optional(m_byte) : std::nullopt;
    }

private:
    std::string_view m_text;
    std::size_t m_byte = 0;
    std::int64_t m_unit = 0;
};

} // namespace

void requireStorable(std::string_view text, std::string_view subject)
{
    const std::string name(subject);
    if (text.size() > static_cast<std::size_t>(kMostTextBytes)) {
        throw Error(ErrorKind::InvalidInput,
                    name + ": " + std::to_string(text.size()) + " bytes; a text may have at most " +
                        std::to_string(kMostTextBytes),
                    name);
    }
    requireValidUtf8(text, subject);
    if (const std::size_t position = text.find('\0'); position != std::string_view::npos) {
        throw Error(ErrorKind::InvalidInput,
                    name + ": holds a NUL character at byte " + std::to_string(position) + ", so it is not a text",
                    name);
    }
}

void requireJson(std::string_view json, std::string_view subject)
{
    requireStorable(json, subject);
    if (!nlohmann::json::accept(json))
        throw Error(ErrorKind::InvalidArgument, std::string(subject) + ": not well-formed JSON", std::string(subject));
}

void requireLocksFit(const std::vector<LockedRange> &locks, std::string_view text)
{
    CodeUnitCursor cursor(text);
    std::int64_t last = 0;
    for (const LockedRange &lock : locks) {
        const auto fail = [&lock](const std::string &what) {
            throw Error(ErrorKind::InvalidArgument,
                        "locks: [" + std::to_string(lock.begin) + ", " + std::to_string(lock.end) + ") " + what,
                        "locks");
        };
        if (lock.begin < last || lock.end <= lock.begin)
            fail("is empty, or does not lie behind the one before it");
        last = lock.end;
        const auto begin = cursor.byteOf(lock.begin);
        const auto end = begin ? cursor.byteOf(lock.end) : std::nullopt;
        if (!end)
            fail("does not lie at characters of the text");
        else if (text.substr(*begin, *end - *begin) != lock.text)
            fail("holds another text than the document has there");
    }
}

} // namespace palimpsest::documents
