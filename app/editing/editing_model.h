// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/engine_host.h"
#include "engine/canvas.h"
#include "engine/proofreading.h"

#include <memory>
#include <vector>

namespace palimpsest::editing {

/// A running model with what edits need of it, made once a model. Immutable.
struct EditingModel
{
    /// Throws Error Unsupported for a model without a chat format: it does not follow instructions.
    explicit EditingModel(std::shared_ptr<const RunningModel> running);

    std::shared_ptr<const RunningModel> running;
    CanvasEditor editor;
    Proofreader proofreader;
    std::vector<TokenId> endIds; ///< end of turn, and padding
};

} // namespace palimpsest::editing
