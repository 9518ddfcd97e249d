// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/checkpoint.h"
#include "tests/support/golden.h"

#include <QTest>

#include <filesystem>

using namespace palimpsest;

class TestCheckpoint : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void opensEveryModel_data();
    void opensEveryModel();
    void readsBothSpellingsOfTheFullLayers();
};

void TestCheckpoint::opensEveryModel_data()
{
    QTest::addColumn<QString>("directory");
    QTest::addColumn<bool>("quantised");
    const std::filesystem::path models = test::goldenFolder() / "models";
    for (const auto &model : std::filesystem::directory_iterator(models)) {
        for (const auto &format : std::filesystem::directory_iterator(model)) {
            const std::string name = (model.path().filename() / format.path().filename()).string();
            QTest::newRow(name.c_str()) << QString::fromStdString(format.path().string())
                                        << format.path().filename().string().starts_with("dg-w4a16");
        }
    }
    QTest::newRow("demo model") << QStringLiteral(PALIMPSEST_SOURCE_DIR "/resources/demo_model") << true;
}

void TestCheckpoint::opensEveryModel()
{
    QFETCH(QString, directory);
    QFETCH(bool, quantised);
    const auto checkpoint = Checkpoint::open(directory.toStdString());
    QCOMPARE(checkpoint->format(), quantised ? CheckpointFormat::DgW4a16 : CheckpointFormat::Transformers);
    QVERIFY2(checkpoint->warnings().empty(), checkpoint->warnings().empty() ? "" : checkpoint->warnings()[0].c_str());
    for (std::int64_t layer = 0; layer < std::ssize(checkpoint->config().layers); ++layer) {
        QCOMPARE(checkpoint->experts(layer).quantised, quantised);
        QVERIFY(!checkpoint->experts(layer).down.bytes.empty());
    }
    QCOMPARE(checkpoint->tensor("model.decoder.norm.weight").shape,
             std::vector<std::int64_t>{checkpoint->config().hiddenSize});
}

void TestCheckpoint::readsBothSpellingsOfTheFullLayers()
{
    const std::filesystem::path model = test::goldenFolder() / "models/tiny-a";
    const auto perLayer = Checkpoint::open(model / "bf16");
    const auto global = Checkpoint::open(model / "dg-w4a16");
    QCOMPARE(perLayer->config().layers.size(), global->config().layers.size());
    for (std::size_t layer = 0; layer < global->config().layers.size(); ++layer)
        QCOMPARE(perLayer->config().layers[layer], global->config().layers[layer]);
}

QTEST_GUILESS_MAIN(TestCheckpoint)
#include "tst_checkpoint.moc"
