// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/canvas.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// A stretch of new text; held ones are the document's own bytes and are not touched.
struct TextPiece
{
    std::string text;
    bool isHeld = false;
};

/// Joins the pieces and fits them between what stands before and after: no doubled and no lost space, no repetition of
/// the text after, the document's kind of line ends.
[[nodiscard]] std::string fittedText(std::vector<TextPiece> pieces, const EditPlan &plan);

/// A rewritten part of a sentence, given by a model that makes a sentence of everything: without the capital and the
/// full stop that the original did not have.
[[nodiscard]] std::string asPartOfSentence(std::string answer, std::string_view original);

/// Finds the filled gap in an answer that repeats the text around it: what lies between the last word before and the
/// first word behind. Nothing if the answer does not hold these.
[[nodiscard]] std::optional<std::string> filledGap(const EditPlan &plan, std::string_view answer);

} // namespace palimpsest
