// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/stop_names.h"

namespace palimpsest {

std::string_view nameOf(CanvasStop stop) noexcept
{
    switch (stop) {
    case CanvasStop::Converged:
        return "converged";
    case CanvasStop::StepCap:
        return "step_cap";
    case CanvasStop::Cancelled:
        return "cancelled";
    }
    return "unknown";
}

std::string_view nameOf(FinishReason reason) noexcept
{
    switch (reason) {
    case FinishReason::EndOfTurn:
        return "end_of_turn";
    case FinishReason::StopString:
        return "stop_string";
    case FinishReason::Budget:
        return "budget";
    case FinishReason::Cancelled:
        return "cancelled";
    }
    return "unknown";
}

} // namespace palimpsest
