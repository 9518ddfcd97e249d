// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/checkpoint_report.h"
#include "tests/support/golden.h"
#include "tests/support/tiny_checkpoint.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace palimpsest;

namespace {

std::string valueOf(const std::vector<CheckpointReport::Setting> &settings, const std::string &name)
{
    const auto found = std::find_if(settings.begin(), settings.end(), [&](const auto &s) { return s.name == name; });
    return found == settings.end() ? "(no such row)" : found->value;
}

} // namespace

class TestCheckpointReport : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void totalsAddUp_data();
    void totalsAddUp();
    void quantisedAndPlainModelsHaveTheSameParameters();
    void layersThatAreAlikeShareARow();
    void tensorsAndWarnings();
};

void TestCheckpointReport::totalsAddUp_data()
{
    QTest::addColumn<QString>("directory");
    const std::filesystem::path models = test::goldenFolder() / "models";
    QTest::newRow("4 bits") << QString::fromStdString((models / "tiny-a/dg-w4a16").string());
    QTest::newRow("bf16") << QString::fromStdString((models / "tiny-a/bf16").string());
    QTest::newRow("demo model") << QStringLiteral(PALIMPSEST_SOURCE_DIR "/resources/demo_model");
}

void TestCheckpointReport::totalsAddUp()
{
    QFETCH(QString, directory);
    const auto checkpoint = Checkpoint::open(directory.toStdString());
    const CheckpointReport report = makeCheckpointReport(*checkpoint);
    std::int64_t tensorBytes = 0;
    std::int64_t kindBytes = 0;
    std::int64_t kindTensors = 0;
    for (const auto &tensor : report.tensors) {
        tensorBytes += tensor.bytes;
        QVERIFY2(tensor.kind != "unknown", tensor.name.c_str());
    }
    for (const auto &kind : report.kinds) {
        kindBytes += kind.bytes;
        kindTensors += kind.tensorCount;
    }
    QCOMPARE(kindBytes, tensorBytes);
    QCOMPARE(kindTensors, std::ssize(report.tensors));
    QVERIFY(tensorBytes < report.fileBytes && report.fileBytes < tensorBytes + 100'000); // the headers
    QVERIFY(std::is_sorted(report.kinds.begin(), report.kinds.end(),
                           [](const auto &a, const auto &b) { return a.bytes > b.bytes; }));
    QCOMPARE(report.groupSizes.empty(), checkpoint->format() == CheckpointFormat::Transformers);
}

void TestCheckpointReport::quantisedAndPlainModelsHaveTheSameParameters()
{
    const std::filesystem::path model = test::goldenFolder() / "models/tiny-a";
    const auto quantised = makeCheckpointReport(*Checkpoint::open(model / "dg-w4a16"));
    const auto plain = makeCheckpointReport(*Checkpoint::open(model / "bf16"));
    QCOMPARE(quantised.parameterCount, plain.parameterCount);
    QCOMPARE(quantised.format, "dg-w4a16-v1");
    QCOMPARE(quantised.groupSizes[0].columns, 128);
    QCOMPARE(quantised.groupSizes[1].columns, 64);
    QVERIFY(quantised.fileBytes < plain.fileBytes);
}

void TestCheckpointReport::layersThatAreAlikeShareARow()
{
    const auto report = makeCheckpointReport(*Checkpoint::open(PALIMPSEST_SOURCE_DIR "/resources/demo_model"));
    QCOMPARE(valueOf(report.config, "layers"), "8");
    QCOMPARE(valueOf(report.config, "layers 0-2, 4-6"),
             "sliding attention, 2 key/value heads of 64, RoPE theta 10000 on 64 of 64 dimensions");
    QCOMPARE(valueOf(report.config, "layers 3, 7"),
             "full attention, 1 key/value head of 128, RoPE theta 1e+06 on 32 of 128 dimensions");
    QCOMPARE(valueOf(report.config, "experts"), "32 of size 128, 4 for each token");
    QCOMPARE(valueOf(report.config, "RMS norm epsilon"), "1e-06");
    QCOMPARE(valueOf(report.generation, "end tokens"), "1, 6");
}

void TestCheckpointReport::tensorsAndWarnings()
{
    const QTemporaryDir temporary;
    const auto folder = std::filesystem::path(temporary.path().toStdString());
    test::TinyCheckpoint model;
    model.weights["model.safetensors"]["lm_head.weight"] = model.tensor("model.decoder.embed_tokens.weight");
    model.weights["model.safetensors"]["odd"] = test::TinyTensor::ofBytes({3}, 1);
    model.write(folder);
    const CheckpointReport report = makeCheckpointReport(*Checkpoint::open(folder));
    const auto tensor = [&](const std::string &name) {
        return *std::find_if(report.tensors.begin(), report.tensors.end(),
                             [&](const auto &t) { return t.name == name; });
    };
    QCOMPARE(tensor("odd").kind, "unknown");
    QCOMPARE(tensor("lm_head.weight").kind, "tied copy");
    const auto scale = tensor("model.decoder.layers.1.experts.dn_s");
    QCOMPARE(scale.kind, "experts");
    QCOMPARE(scale.dtype, "F16");
    QCOMPARE(scale.shape, "[4, 128, 1]");
    QCOMPARE(scale.bytes, 1024);
    QCOMPARE(scale.file, "experts_00001.safetensors");
    QCOMPARE(report.warnings.size(), std::size_t{2});
    QCOMPARE(report.files.size(), std::size_t{3});
}

QTEST_GUILESS_MAIN(TestCheckpointReport)
#include "tst_checkpoint_report.moc"
