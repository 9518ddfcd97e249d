// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/events.h"

#include <string_view>

namespace palimpsest {

/// Why a canvas or a request ended, as reports, metrics and the endpoint name it: "step_cap", "end_of_turn".
[[nodiscard]] std::string_view nameOf(CanvasStop stop) noexcept;
[[nodiscard]] std::string_view nameOf(FinishReason reason) noexcept;

} // namespace palimpsest
