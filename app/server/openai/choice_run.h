// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/openai/answer_run.h"
#include "app/server/openai/format_repair.h"

#include <memory>
#include <optional>
#include <string>

namespace palimpsest::openai {

/// One choice of an answer: what of it has settled, and whether it fits. Knows no threads; its owner calls it one at a
/// time.
class ChoiceRun
{
public:
    ChoiceRun(std::size_t index, std::shared_ptr<const PreparedAnswer> prepared, std::uint64_t seed,
              std::shared_ptr<const RunningModel> model);

    /// The first pass through the engine.
    [[nodiscard]] GenerationRequest request() const;

    /// Text that settled in the first pass. The delta is empty while the response format wants the answer whole.
    [[nodiscard]] AnswerDelta onCanvas(const CanvasEvent &event);
    /// A stop string was found in the answer: the pass can be ended.
    [[nodiscard]] bool stopped() const noexcept { return m_splitter && m_splitter->stopped(); }

    struct Ending
    {
        std::optional<GenerationRequest> next = {}; ///< another pass is wanted
        AnswerDelta rest = {};                      ///< else: what was held back
    };
    /// A pass has ended. Throws Error InvalidArgument, naming the field, if the answer does not fit what the request
    /// wanted and cannot be made to.
    [[nodiscard]] Ending onResult(GenerationResult result);

    [[nodiscard]] const ChoiceOutcome &outcome() const noexcept { return m_outcome; }
    /// The draft of the running canvas behind what has settled.
    [[nodiscard]] std::string draftText(const StepEvent &event) const;

private:
    [[nodiscard]] AnswerDelta take(const ReplyPieces &pieces, std::size_t settledTokens);
    [[nodiscard]] Ending endFirstPass(GenerationResult result);
    [[nodiscard]] Ending checkOrRepair();
    [[nodiscard]] AnswerDelta wholeAnswer() const;
    void noteOutcome(const GenerationResult &result);
    [[nodiscard]] bool startsInThought() const;

    std::shared_ptr<const PreparedAnswer> m_prepared;
    std::shared_ptr<const RunningModel> m_model;
    std::uint64_t m_seed;
    std::optional<ReplySplitter> m_splitter; ///< absent for raw text
    std::optional<FormatRepair> m_repair;    ///< once the first pass has ended
    std::vector<TokenId> m_tokens;           ///< of the canvases so far, if log-probabilities are wanted
    std::vector<TokenCertainty> m_certainties;
    std::size_t m_tokensGiven = 0; ///< visible ones
    ChoiceOutcome m_outcome;
};

} // namespace palimpsest::openai
