// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/model_lookup.h"

#include <cstdint>
#include <string>

namespace palimpsest::studio {

/// Weights from here on are a large model: on a CPU its canvases take minutes.
inline constexpr std::int64_t kLargeModelBytes = 2LL << 30;

/// Throws Error Unsupported where a large model would be computed on the CPU without anybody having asked for that: at
/// a start without the graphics card (or driver) that it was chosen for. `agreedFolder`: the model that the writer
/// wanted on the CPU all the same. Throws what findModel throws.
void requireAgreement(const ModelOptions &options, const std::string &agreedFolder);

} // namespace palimpsest::studio
