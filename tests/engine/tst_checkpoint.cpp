// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/checkpoint.h"
#include "engine/error.h"
#include "tests/engine/model_folder.h"
#include "tests/support/golden.h"
#include "tests/support/tiny_checkpoint.h"

#include <QTest>

#include <algorithm>
#include <cstring>
#include <filesystem>

using namespace palimpsest;
using test::TinyCheckpoint;
using test::TinyFormat;
namespace fs = std::filesystem;

namespace {

bool anyContains(std::span<const std::string> sentences, const char *part)
{
    return std::any_of(sentences.begin(), sentences.end(),
                       [&](const std::string &sentence) { return sentence.find(part) != std::string::npos; });
}

const std::string kExperts1 = "model.decoder.layers.1.experts.";

} // namespace

/// Model folders that are in order: what is in them, and that their bytes are the file's.
class TestCheckpoint : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder.renew(); }

    void opensEveryModel_data();
    void opensEveryModel();
    void readsBothSpellingsOfTheFullLayers();
    void tinyCheckpointsAreValid_data();
    void tinyCheckpointsAreValid();
    void foldersWithAnyName_data();
    void foldersWithAnyName();
    void viewsShowTheBytesOfTheFile();
    void generationConfigMayBeMissing();
    void linksToFilesAreFollowed();
    void releasedPagesCanBeReadAgain();
    void changedFilesAreNoticed();
    void progressRisesToTheEnd();
    void openingCanBeStoppedHalfWay();

private:
    test::ModelFolder m_folder;
};

void TestCheckpoint::opensEveryModel_data()
{
    QTest::addColumn<QString>("directory");
    QTest::addColumn<bool>("quantised");
    for (const auto &model : fs::directory_iterator(test::goldenFolder() / "models")) {
        for (const auto &format : fs::directory_iterator(model)) {
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
        QVERIFY(checkpoint->experts(layer).gateUp.name.find("layers." + std::to_string(layer) + ".") !=
                std::string::npos);
    }
    QCOMPARE(checkpoint->tensor("model.decoder.norm.weight").shape,
             std::vector<std::int64_t>{checkpoint->config().hiddenSize});
}

void TestCheckpoint::readsBothSpellingsOfTheFullLayers()
{
    const fs::path model = test::goldenFolder() / "models/tiny-a";
    QCOMPARE(Checkpoint::open(model / "bf16")->config().layers, Checkpoint::open(model / "dg-w4a16")->config().layers);
}

void TestCheckpoint::tinyCheckpointsAreValid_data()
{
    QTest::addColumn<TinyFormat>("format");
    QTest::newRow("4 bits") << TinyFormat::DgW4a16;
    QTest::newRow("bf16") << TinyFormat::Bf16;
    QTest::newRow("fp32") << TinyFormat::F32;
}

void TestCheckpoint::tinyCheckpointsAreValid()
{
    QFETCH(TinyFormat, format);
    const auto checkpoint = m_folder.opened(TinyCheckpoint(format));
    const bool quantised = format == TinyFormat::DgW4a16;
    QVERIFY(checkpoint->warnings().empty());
    QCOMPARE(checkpoint->format(), quantised ? CheckpointFormat::DgW4a16 : CheckpointFormat::Transformers);
    QCOMPARE(checkpoint->experts(1).gateUp.dtype, quantised                    ? Dtype::U8
                                                  : format == TinyFormat::Bf16 ? Dtype::BF16
                                                                               : Dtype::F32);
    QCOMPARE(checkpoint->directory(), m_folder.path());
    QCOMPARE(checkpoint->generationDefaults().maxDenoisingSteps, 8);
    QVERIFY(!checkpoint->hasVisionTensors());
    std::int64_t bytes = 0;
    std::int64_t count = 0;
    for (const CheckpointFile &file : checkpoint->files()) {
        QCOMPARE(static_cast<std::int64_t>(fs::file_size(file.path)), file.bytes);
        bytes += file.bytes;
        count += file.tensorCount;
    }
    QCOMPARE(checkpoint->weightBytes(), bytes);
    QCOMPARE(std::ssize(checkpoint->allTensors()), count);
}

// F076
void TestCheckpoint::foldersWithAnyName_data()
{
    QTest::addColumn<QString>("name");
    for (const char *name : {"with space", "é", "田", "a\u3000b", "'quoted' \"twice\" $HOME", "-dash", "%41"})
        QTest::newRow(name) << QString::fromUtf8(name);
    QTest::newRow("300 bytes") << QStringLiteral("long-").repeated(30) + QLatin1Char('/') +
                                      QStringLiteral("long-").repeated(30);
}

void TestCheckpoint::foldersWithAnyName()
{
    QFETCH(QString, name);
    const fs::path folder = m_folder.path() / name.toStdString();
    TinyCheckpoint().write(folder);
    QCOMPARE(Checkpoint::open(folder)->config().hiddenSize, 128);
    fs::remove(folder / "config.json");
    try {
        (void)Checkpoint::open(folder);
        QFAIL("opened without config.json");
    } catch (const Error &error) { // the message shows the name as it is
        QVERIFY2(std::strstr(error.what(), name.toUtf8().constData()) != nullptr, error.what());
    }
}

void TestCheckpoint::viewsShowTheBytesOfTheFile()
{
    TinyCheckpoint model;
    const auto checkpoint = m_folder.opened(model);
    const auto same = [&](const TensorView &view) {
        const auto &wanted = model.tensor(view.name);
        return view.shape == wanted.shape && view.bytes.size() == wanted.bytes.size() &&
               std::memcmp(view.bytes.data(), wanted.bytes.data(), wanted.bytes.size()) == 0;
    };
    for (const TensorView &view : checkpoint->allTensors())
        QVERIFY2(same(view), view.name.c_str());
    QVERIFY(same(checkpoint->tensor("model.encoder.language_model.layers.1.layer_scalar")));
    QCOMPARE(checkpoint->experts(1).downZero.name, kExperts1 + "dn_z");
    QVERIFY(same(checkpoint->experts(1).downZero));
    QCOMPARE(checkpoint->experts(1).downZero.file.filename().string(), "experts_00001.safetensors");
    QCOMPARE(checkpoint->experts(0).gateUp.elementCount(), 4 * 128 * 64);
}

void TestCheckpoint::generationConfigMayBeMissing()
{
    const TinyCheckpoint model;
    model.write(m_folder.path());
    fs::remove(m_folder.path() / "generation_config.json");
    const auto checkpoint = Checkpoint::open(m_folder.path());
    QVERIFY(anyContains(checkpoint->warnings(), "generation_config.json is missing"));
    QCOMPARE(checkpoint->generationDefaults().maxDenoisingSteps, 48);
    QCOMPARE(checkpoint->generationDefaults().eosTokenIds, std::vector<TokenId>{1});
}

void TestCheckpoint::linksToFilesAreFollowed()
{
    const TinyCheckpoint model;
    const fs::path blobs = m_folder.path().parent_path() / "blobs";
    model.write(blobs);
    fs::create_directory(m_folder.path());
    for (const auto &blob : fs::directory_iterator(blobs))
        fs::create_symlink(blob.path(), m_folder.path() / blob.path().filename());
    QCOMPARE(Checkpoint::open(m_folder.path())->files()[0].path.parent_path(), m_folder.path());
}

void TestCheckpoint::releasedPagesCanBeReadAgain()
{
    TinyCheckpoint model;
    const auto checkpoint = m_folder.opened(model);
    for (const TensorView &view : checkpoint->allTensors()) {
        checkpoint->releasePages(view);
        const auto &wanted = model.tensor(view.name).bytes;
        QVERIFY(std::memcmp(view.bytes.data(), wanted.data(), wanted.size()) == 0);
    }
    checkpoint->releasePages(TensorView{}); // not ours: nothing happens
    std::vector<std::byte> foreign(100'000, std::byte{7});
    TensorView view;
    view.bytes = foreign;
    checkpoint->releasePages(view);
    QCOMPARE(foreign[50'000], std::byte{7});
}

void TestCheckpoint::changedFilesAreNoticed()
{
    const auto checkpoint = m_folder.opened(TinyCheckpoint());
    checkpoint->checkUnchanged();
    const fs::path file = m_folder.path() / "experts_00001.safetensors";
    fs::resize_file(file, fs::file_size(file) - 1);
    try {
        checkpoint->checkUnchanged();
        QFAIL("not noticed");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::Io);
        QCOMPARE(error.subject(), file.string());
    }
}

void TestCheckpoint::progressRisesToTheEnd()
{
    TinyCheckpoint().write(m_folder.path());
    std::vector<double> told;
    (void)Checkpoint::open(m_folder.path(), [&told](double part) {
        told.push_back(part);
        return true;
    });
    QVERIFY(std::is_sorted(told.begin(), told.end()));
    QCOMPARE(told.front(), 0.0);
    QCOMPARE(told.back(), 1.0);
    QVERIFY2(told.size() > 10, "three files, and eight tensors whose every value is read");
}

void TestCheckpoint::openingCanBeStoppedHalfWay()
{
    TinyCheckpoint model;
    test::TinyTensor &last = model.tensor(kExperts1 + "dn_z");
    last = test::TinyTensor::ofHalves("F16", last.shape, 0x7E00); // not a number: whoever reads it refuses the model
    model.write(m_folder.path());
    try {
        (void)Checkpoint::open(m_folder.path(), [](double part) { return part < 0.6; });
        QFAIL("opened although it was stopped");
    } catch (const Error &error) {
        QVERIFY2(error.kind() == ErrorKind::Backend && error.subject() == "cancelled", error.what());
    }
    try {
        (void)Checkpoint::open(m_folder.path(), [](double) { return true; });
        QFAIL("opened with a zero point that is not a number");
    } catch (const Error &error) {
        QVERIFY2(error.kind() == ErrorKind::InvalidCheckpoint, error.what());
    }
}

QTEST_GUILESS_MAIN(TestCheckpoint)
#include "tst_checkpoint.moc"
