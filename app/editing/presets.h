// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/run_wish.h"

#include <QString>

#include <span>

namespace palimpsest::editing {

/// A run that is asked for so often that it has a button.
struct Preset
{
    const char *id = "";          ///< stable: "proofread", "continue", "shorten", "formal", "list", "custom"
    const char *label = "";       ///< English; for translation by its user
    const char *instruction = ""; ///< what the model is told; "" = the action says it, or (custom) the writer does
    RunAction action = RunAction::Rewrite;
};

/// In the order of the buttons. The instructions are worded as those that the demo model was trained on.
[[nodiscard]] std::span<const Preset> presets() noexcept;
/// Null if there is none of this id.
[[nodiscard]] const Preset *presetOf(QStringView id) noexcept;

} // namespace palimpsest::editing
