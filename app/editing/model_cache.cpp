// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/model_cache.h"

namespace palimpsest::editing {

std::shared_ptr<const EditingModel> ModelCache::require()
{
    std::shared_ptr<const RunningModel> running = m_engine.requireModel();
    if (m_model == nullptr || m_model->running != running)
        m_model = std::make_shared<const EditingModel>(std::move(running));
    return m_model;
}

} // namespace palimpsest::editing
