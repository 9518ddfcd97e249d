// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/presets.h"

#include <algorithm>
#include <array>

namespace palimpsest::editing {

namespace {

// Large models understand any wording; the demo model follows those that it was trained on.
constexpr std::array kPresets = {
    Preset{"proofread", "Proofread", "", RunAction::Proofread},
    Preset{"continue", "Continue", "", RunAction::Continue},
    Preset{"shorten", "Shorten", "Make this more concise by removing filler words", RunAction::Rewrite},
    Preset{"formal", "More formal", "Make this more formal by expanding contractions", RunAction::Rewrite},
    Preset{"list", "As a list", "Turn this into a bullet list", RunAction::Rewrite},
    Preset{"custom", "Custom…", "", RunAction::Rewrite},
};

} // namespace

std::span<const Preset> presets() noexcept
{
    return kPresets;
}

const Preset *presetOf(QStringView id) noexcept
{
    const auto *found = std::find_if(kPresets.begin(), kPresets.end(),
                                     [id](const Preset &preset) { return id == QLatin1String(preset.id); });
    return found == kPresets.end() ? nullptr : found;
}

} // namespace palimpsest::editing
