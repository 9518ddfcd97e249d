// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/canvas.h"

#include <QByteArray>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::test {

inline constexpr TokenId kPad = 0;
inline constexpr TokenId kEos = 1;
inline constexpr TokenId kTurnEnd = 6;

/// A family of three: one character for a reader, of five code points.
inline const std::string kFamily = "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7";

/// A small model's sizes over the demo tokenizer: canvases of 64, so that texts of a few sentences do not fit.
[[nodiscard]] CanvasEditor editorWith(std::int64_t canvasLength = 64, std::int64_t maxPositions = 2048);

[[nodiscard]] EditRequest requestFor(const std::string &document, ByteRange selection);
/// Where `part` is in the document for the first time.
[[nodiscard]] ByteRange rangeOf(const std::string &document, const std::string &part);
/// Takes the marks out of a row's document: [ and ] around a selection, or | for a caret.
[[nodiscard]] ByteRange takeSelection(QByteArray &document);

[[nodiscard]] bool isBanned(const GenerationRequest &request, TokenId id);
[[nodiscard]] std::vector<TokenId> idsOf(std::string_view text);

/// What the loop commits if the model fills the free positions with `ids`, in turn.
[[nodiscard]] GenerationResult resultWith(const EditCandidate &candidate, const std::vector<TokenId> &ids,
                                          float entropy = 0.0F);
/// What the loop gives if the model answers with this text.
[[nodiscard]] GenerationResult answerWith(const std::string &text, FinishReason finish = FinishReason::EndOfTurn);

} // namespace palimpsest::test
