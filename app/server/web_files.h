// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/routes.h"

#include <QString>

namespace palimpsest::server {

/// Serves the files of a folder (the browser studio's, from the program's resources) under their own paths, and its
/// index.html as `/`, open to everybody: there is nothing of a user in them. Browsers ask each time whether a file is
/// still the same (ETag), so that a new version of the program is never mixed with an old page.
///
/// Pages may load from here alone, talk to this server alone, and hold no inline script or style. For an empty
/// `folder`, `/` says that this build has no browser studio. Returns whether it has one.
bool addWebFiles(http::Routes &routes, const QString &folder);

/// The policy for pages of a server that was asked under that Host (checked before).
[[nodiscard]] std::string contentSecurityPolicy(std::string_view host);

} // namespace palimpsest::server
