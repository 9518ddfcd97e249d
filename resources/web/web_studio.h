// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>

namespace palimpsest {

/// The folder of the browser studio in the program's resources, ":/web", with index.html and all that it loads; empty
/// if the program was built without it.
[[nodiscard]] QString webStudioFolder();

} // namespace palimpsest
