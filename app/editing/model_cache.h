// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/editing_model.h"

#include <memory>

namespace palimpsest {
class EngineHost;
}

namespace palimpsest::editing {

/// What edits need of the model that is running, made once a model. For one thread.
class ModelCache
{
public:
    explicit ModelCache(EngineHost &engine) : m_engine(engine) {}

    /// Throws what EngineHost::requireModel and EditingModel throw.
    [[nodiscard]] std::shared_ptr<const EditingModel> require();

private:
    EngineHost &m_engine;
    std::shared_ptr<const EditingModel> m_model;
};

} // namespace palimpsest::editing
