// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/engine/model_folder.h"

#include "tests/support/tiny_checkpoint.h"

#include <QTest>

#include <cstring>

namespace palimpsest::test {

void ModelFolder::renew()
{
    m_parent = std::make_unique<QTemporaryDir>();
    if (!m_parent->isValid())
        qFatal("no temporary folder");
}

std::filesystem::path ModelFolder::path() const
{
    return std::filesystem::path(m_parent->path().toStdString()) / "model";
}

std::shared_ptr<const Checkpoint> ModelFolder::opened(const TinyCheckpoint &model) const
{
    model.write(path());
    return Checkpoint::open(path());
}

void expectComplaint(const std::filesystem::path &model, const Complaint &complaint)
{
    try {
        (void)Checkpoint::open(model);
        QFAIL("opened");
    } catch (const Error &error) {
        QVERIFY2(error.kind() == complaint.kind, error.what());
        for (const std::string &mention : complaint.mentions)
            QVERIFY2(std::strstr(error.what(), mention.c_str()) != nullptr, error.what());
        QVERIFY2(!error.subject().empty(), error.what());
    }
}

} // namespace palimpsest::test
