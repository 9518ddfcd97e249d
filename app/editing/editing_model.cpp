// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/editing_model.h"

#include "engine/error.h"

#include <algorithm>
#include <utility>

namespace palimpsest::editing {

namespace {

const ChatFormat &requireChat(const RunningModel &model)
{
    if (!model.chat)
        throw Error(ErrorKind::Unsupported,
                    "the model " + model.id +
                        " has no chat template, so it cannot be told what to do with a text; use one that answers "
                        "instructions",
                    "model");
    return *model.chat;
}

std::vector<TokenId> endIdsOf(const RunningModel &model)
{
    std::vector<TokenId> ids =
        model.defaults.eosTokenIds.empty() ? model.config.eosTokenIds : model.defaults.eosTokenIds;
    ids.push_back(model.defaults.padTokenId.value_or(model.config.padTokenId));
    return ids;
}

/// The model's sizes with the context that is in force, which may be shorter than the model's own.
ModelConfig configOf(const RunningModel &model)
{
    ModelConfig config = model.config;
    if (model.contextLength > 0)
        config.maxPositions = std::min(config.maxPositions, model.contextLength);
    return config;
}

} // namespace

EditingModel::EditingModel(std::shared_ptr<const RunningModel> theRunning)
    : running(std::move(theRunning)),
      editor(running->tokenizer, requireChat(*running), configOf(*running), running->defaults),
      proofreader(running->tokenizer, requireChat(*running), configOf(*running), running->defaults),
      endIds(endIdsOf(*running))
{
}

} // namespace palimpsest::editing
