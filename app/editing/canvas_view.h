// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/frame.h"
#include "app/editing/run_info.h"
#include "engine/token.h"
#include "engine/tokenizer.h"

#include <QString>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace palimpsest {
struct StepEvent;
}

namespace palimpsest::editing {

/// One denoising step as the history keeps it. Vectors hold one element a canvas position.
struct RecordedStep
{
    int step = 0; ///< from 1
    int maxSteps = 0;
    std::vector<TokenId> argmax;        ///< what would be committed
    std::vector<TokenId> next;          ///< the canvas that goes on; empty once the step is on the disk
    std::vector<std::uint16_t> entropy; ///< hundredths of a nat
    std::vector<std::uint8_t> accepted;
    std::vector<std::uint8_t> frozen;
    float meanEntropy = 0.0F; ///< nats
    float stepMs = 0.0F;
    double elapsedMs = 0.0;
    bool last = false;
};

[[nodiscard]] RecordedStep recorded(const StepEvent &event);

/// Held positions whose letters are the draft's own and not what their tokens spell.
struct HeldLetters
{
    std::int64_t begin = 0; ///< canvas positions [begin, end)
    std::int64_t end = 0;
    std::string text; ///< UTF-8
};

/// How the canvases of a lane are to be read: which positions become text of the draft.
struct CanvasLayout
{
    std::vector<TokenId> endIds; ///< end of turn and padding: the text ends at the first of them
    /// Positions of the first canvas that become text, where it holds text around the gap as well; later canvases, and
    /// all of a fresh answer, become text as a whole.
    std::optional<std::int64_t> gapBegin;
    std::optional<std::int64_t> gapEnd;
    std::vector<HeldLetters> held;
    bool dropsLeadingSpace = false; ///< the gap's first token brings a space that the draft has already
    bool trimsFront = false;        ///< white space before the first word is none of the text
    bool crLf = false;              ///< line ends are written as CR LF
};

/// Turns steps into frames. Immutable; shared by everything that shows or stores canvases, so that a frame and what is
/// made of its step are the same to the byte.
class CanvasView
{
public:
    CanvasView(std::shared_ptr<const Tokenizer> tokenizer, CanvasLayout layout);

    /// `previous` is the step before in the same canvas, or null.
    [[nodiscard]] Frame frame(std::int64_t canvas, const RecordedStep &step, const RecordedStep *previous) const;
    /// What a committed canvas adds to the span: the text its last frame showed.
    [[nodiscard]] QString textOf(std::int64_t canvas, std::span<const TokenId> ids) const;
    [[nodiscard]] QString tokenText(TokenId id) const;
    /// The positions whose letters belong to the word around `position`; that position alone if there is no word.
    [[nodiscard]] std::vector<std::int64_t> wordAround(std::int64_t canvas, std::span<const TokenId> ids,
                                                       std::int64_t position) const;

    [[nodiscard]] const CanvasLayout &layout() const noexcept { return m_layout; }

private:
    struct Shown
    {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        std::int64_t padding = 0; ///< from here on
    };
    [[nodiscard]] bool isEnd(TokenId id) const;
    [[nodiscard]] Shown shownOf(std::int64_t canvas, std::span<const TokenId> ids) const;
    [[nodiscard]] std::vector<std::string> texts(std::int64_t canvas, std::span<const TokenId> ids,
                                                 const Shown &shown) const;

    std::shared_ptr<const Tokenizer> m_tokenizer;
    CanvasLayout m_layout;
};

} // namespace palimpsest::editing
