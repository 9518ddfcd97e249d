// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace palimpsest {

/// A finite number as Python prints a float: the shortest digits that read back as the same number; `1.0`, `1e-07`,
/// `1e+16`. The model has seen its numbers written like that.
[[nodiscard]] std::string pythonNumber(double value);

} // namespace palimpsest
