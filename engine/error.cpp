// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/error.h"

#include <utility>

namespace palimpsest {

Error::Error(ErrorKind kind, const std::string &message, std::string subject)
    : std::runtime_error(message), m_kind(kind), m_subject(std::move(subject))
{
}

} // namespace palimpsest
