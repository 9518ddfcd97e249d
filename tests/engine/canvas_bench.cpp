// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/engine/canvas_bench.h"

#include "tests/support/test_tokenizers.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace palimpsest::test {

CanvasEditor editorWith(std::int64_t canvasLength, std::int64_t maxPositions)
{
    ModelConfig model;
    model.vocabSize = demoTokenizer()->vocabSize();
    model.canvasLength = canvasLength;
    model.maxPositions = maxPositions;
    model.eosTokenIds = {kEos};
    GenerationDefaults defaults;
    defaults.padTokenId = kPad;
    defaults.eosTokenIds = {kEos, kTurnEnd};
    return {demoTokenizer(), ChatFormat(ChatDialect::PlainTurns), model, defaults};
}

EditRequest requestFor(const std::string &document, ByteRange selection)
{
    EditRequest request;
    request.document = document;
    request.selection = selection;
    return request;
}

ByteRange rangeOf(const std::string &document, const std::string &part)
{
    const auto begin = static_cast<std::int64_t>(document.find(part));
    return {begin, begin + static_cast<std::int64_t>(part.size())};
}

ByteRange takeSelection(QByteArray &document)
{
    ByteRange selection = {document.indexOf('['), document.indexOf(']') - 1};
    if (document.contains('|'))
        selection = {document.indexOf('|'), document.indexOf('|')};
    document.replace("[", "").replace("]", "").replace("|", "");
    return selection;
}

bool isBanned(const GenerationRequest &request, TokenId id)
{
    return std::any_of(request.logitBias.begin(), request.logitBias.end(), [id](const LogitBias &bias) {
        return bias.id == id && bias.bias == -std::numeric_limits<float>::infinity();
    });
}

std::vector<TokenId> idsOf(std::string_view text)
{
    return demoTokenizer()->encode(text, SpecialTokens::PlainText);
}

GenerationResult resultWith(const EditCandidate &candidate, const std::vector<TokenId> &ids, float entropy)
{
    const CanvasStart &start = *candidate.request.firstCanvas;
    GenerationResult result;
    CanvasRecord record;
    std::size_t next = 0;
    for (std::size_t i = 0; i < start.ids.size(); ++i) {
        record.committed.push_back(start.frozen[i] != 0 ? start.ids[i] : ids[next++ % ids.size()]);
    }
    record.meanEntropyNats = entropy;
    result.canvases.push_back(std::move(record));
    return result;
}

GenerationResult answerWith(const std::string &text, FinishReason finish)
{
    GenerationResult result;
    result.text = text;
    result.rawText = text;
    result.finish = finish;
    result.canvases.emplace_back();
    return result;
}

} // namespace palimpsest::test
