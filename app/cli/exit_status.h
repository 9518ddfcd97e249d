// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/error.h"

#include <functional>

namespace palimpsest::cli {

/// Runs a program and gives its exit status. The edge of every program: what it throws is said on standard error, and
/// becomes the status.
[[nodiscard]] int exitStatusOf(const std::function<int()> &program);

/// Says an error on standard error; the status that belongs to it.
[[nodiscard]] int reportFailure(const Error &error);

} // namespace palimpsest::cli
