// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/run_info.h"

namespace palimpsest::editing {

QString nameOf(RunState state)
{
    switch (state) {
    case RunState::Queued:
        return QStringLiteral("queued");
    case RunState::Prefill:
        return QStringLiteral("prefill");
    case RunState::Running:
        return QStringLiteral("running");
    case RunState::Paused:
        return QStringLiteral("paused");
    case RunState::Done:
        return QStringLiteral("done");
    case RunState::Stopped:
        return QStringLiteral("stopped");
    case RunState::Failed:
        break;
    }
    return QStringLiteral("failed");
}

bool hasEnded(RunState state) noexcept
{
    return state == RunState::Done || state == RunState::Stopped || state == RunState::Failed;
}

} // namespace palimpsest::editing
