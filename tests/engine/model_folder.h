// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/checkpoint.h"
#include "engine/error.h"

#include <QTemporaryDir>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace palimpsest::test {

class TinyCheckpoint;

/// A place for a test's model, which is not there yet.
class ModelFolder
{
public:
    ModelFolder() { renew(); }
    /// Another one; what is in this one goes.
    void renew();
    [[nodiscard]] std::filesystem::path path() const;
    /// Writes a model there and opens it.
    [[nodiscard]] std::shared_ptr<const Checkpoint> opened(const TinyCheckpoint &model) const;

private:
    std::unique_ptr<QTemporaryDir> m_parent;
};

/// What must be said about a damaged model.
struct Complaint
{
    ErrorKind kind = ErrorKind::InvalidCheckpoint;
    std::vector<std::string> mentions;
};

/// Opening the model has to end with this.
void expectComplaint(const std::filesystem::path &model, const Complaint &complaint);

} // namespace palimpsest::test
