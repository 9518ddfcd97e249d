// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

namespace palimpsest {

/// Called while a model is opened, and again while it is loaded, with 0..1; return false to cancel (which throws Error
/// Backend "cancelled").
using LoadProgress = std::function<bool(double)>;

} // namespace palimpsest
