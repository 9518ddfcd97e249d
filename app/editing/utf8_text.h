// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/text_edit.h"
#include "engine/byte_range.h"

#include <QString>
#include <QStringView>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::editing {

[[nodiscard]] std::string toUtf8(QStringView text);
[[nodiscard]] QString fromUtf8(std::string_view text);

/// A draft's text as the engine reads it, and the way between both kinds of positions: the only place where UTF-16 code
/// units become bytes. Positions inside a character belong to its beginning.
class Utf8Text
{
public:
    explicit Utf8Text(QStringView text); ///< without unpaired surrogates (`cleaned`)

    [[nodiscard]] const std::string &bytes() const noexcept { return m_bytes; }
    [[nodiscard]] std::int64_t toByte(qsizetype unit) const;
    [[nodiscard]] qsizetype toUnit(std::int64_t byte) const;
    [[nodiscard]] ByteRange toBytes(TextSpan span) const { return {toByte(span.start), toByte(span.end)}; }
    [[nodiscard]] TextSpan toUnits(ByteRange range) const { return {toUnit(range.begin), toUnit(range.end)}; }

private:
    struct Mark
    {
        qsizetype unit = 0;
        std::int64_t byte = 0;
    };
    std::string m_bytes;
    std::vector<Mark> m_marks; ///< every so many bytes, so that a look-up reads a short stretch
};

/// Whole characters as people see them (grapheme clusters). Throws as snappedToCodePoints.
[[nodiscard]] TextSpan snappedToCharacters(TextSpan span, QStringView text);

/// Whole words, numbers, signs and emoji, without the white space at the ends; empty if the span touches nothing else.
[[nodiscard]] TextSpan snappedToWords(TextSpan span, QStringView text);

/// What has to be changed, word by word, to make `revised` of `original`; positions in `original`, ascending, apart.
/// Each is a change that somebody may want or not want by itself.
[[nodiscard]] std::vector<TextEdit> wordChanges(QStringView original, QStringView revised);

} // namespace palimpsest::editing
