// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/checkpoint.h"
#include "engine/error.h"
#include "tests/support/golden.h"
#include "tests/support/tiny_checkpoint.h"

#include <QTemporaryDir>
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

const std::string kExperts0 = "model.decoder.layers.0.experts.";
const std::string kExperts1 = "model.decoder.layers.1.experts.";

} // namespace

class TestCheckpoint : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void opensEveryModel_data();
    void opensEveryModel();
    void readsBothSpellingsOfTheFullLayers();
    void tinyCheckpointsAreValid_data();
    void tinyCheckpointsAreValid();
    void foldersWithAnyName_data();
    void foldersWithAnyName();
    void viewsShowTheBytesOfTheFile();
    void expertsOfSeveralLayersInOneFile();
    void expertsUnderAnyModulePath();
    void expertsInTheIndexedFiles();
    void encoderCopiesOfExpertsAreTolerated();
    void tiedCopiesAreTolerated();
    void weightsStoredUnderTheSecondNameAreFound();
    void visionTensorsAreRecognised();
    void unknownTensorsAreReported();
    void shardsWithAnIndex();
    void oddIndexesAreReported();
    void leftOverFileBesideAnIndexIsLeftAlone();
    void generationConfigMayBeMissing();
    void linksToFilesAreFollowed();
    void releasedPagesCanBeReadAgain();
    void changedFilesAreNoticed();
    void unknownNameThrows();

private:
    [[nodiscard]] std::shared_ptr<const Checkpoint> writeAndOpen(const TinyCheckpoint &model) const;

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_folder;
};

void TestCheckpoint::init()
{
    m_temporary = std::make_unique<QTemporaryDir>();
    QVERIFY(m_temporary->isValid());
    m_folder = fs::path(m_temporary->path().toStdString()) / "model";
}

std::shared_ptr<const Checkpoint> TestCheckpoint::writeAndOpen(const TinyCheckpoint &model) const
{
    model.write(m_folder);
    return Checkpoint::open(m_folder);
}

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
    const auto checkpoint = writeAndOpen(TinyCheckpoint(format));
    const bool quantised = format == TinyFormat::DgW4a16;
    QVERIFY(checkpoint->warnings().empty());
    QCOMPARE(checkpoint->format(), quantised ? CheckpointFormat::DgW4a16 : CheckpointFormat::Transformers);
    QCOMPARE(checkpoint->experts(1).gateUp.dtype, quantised                    ? Dtype::U8
                                                  : format == TinyFormat::Bf16 ? Dtype::BF16
                                                                               : Dtype::F32);
    QCOMPARE(checkpoint->directory(), m_folder);
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
    m_folder /= name.toStdString();
    const TinyCheckpoint model;
    QCOMPARE(writeAndOpen(model)->config().hiddenSize, 128);
    fs::remove(m_folder / "config.json");
    try {
        (void)Checkpoint::open(m_folder);
        QFAIL("opened without config.json");
    } catch (const Error &error) { // the message shows the name as it is
        QVERIFY2(std::strstr(error.what(), name.toUtf8().constData()) != nullptr, error.what());
    }
}

void TestCheckpoint::viewsShowTheBytesOfTheFile()
{
    TinyCheckpoint model;
    const auto checkpoint = writeAndOpen(model);
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

void TestCheckpoint::expertsOfSeveralLayersInOneFile()
{
    TinyCheckpoint model;
    model.weights["experts_00000.safetensors"].merge(model.weights["experts_00001.safetensors"]);
    model.weights.erase("experts_00001.safetensors");
    QCOMPARE(writeAndOpen(model)->experts(1).gateUp.name, kExperts1 + "gu_q");
}

void TestCheckpoint::expertsUnderAnyModulePath()
{
    TinyCheckpoint model;
    for (const char *suffix : {"gu_q", "gu_s", "gu_z", "dn_q", "dn_s", "dn_z"})
        model.rename(kExperts1 + suffix, std::string("layers.1.experts.") + suffix);
    const auto checkpoint = writeAndOpen(model);
    QCOMPARE(checkpoint->experts(1).gateUp.name, "layers.1.experts.gu_q");
    QVERIFY(checkpoint->warnings().empty());
}

void TestCheckpoint::expertsInTheIndexedFiles()
{
    const TinyCheckpoint model;
    model.write(m_folder);
    nlohmann::json map;
    for (const auto &[file, tensors] : model.weights) {
        for (const auto &[name, tensor] : tensors)
            map[name] = file;
    }
    test::writeFile(m_folder / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
    const auto checkpoint = Checkpoint::open(m_folder);
    QCOMPARE(std::ssize(checkpoint->files()), 3);
    QVERIFY(checkpoint->warnings().empty());
}

void TestCheckpoint::encoderCopiesOfExpertsAreTolerated()
{
    TinyCheckpoint model;
    auto &file = model.weights["experts_00001.safetensors"];
    const auto originals = file;
    for (const auto &[name, tensor] : originals) {
        std::string copy = name;
        file[copy.replace(0, std::strlen("model.decoder"), "model.encoder.language_model")] = tensor;
    }
    const auto checkpoint = writeAndOpen(model);
    QCOMPARE(checkpoint->experts(1).gateUp.name, kExperts1 + "gu_q");
    QVERIFY(anyContains(checkpoint->warnings(), "Second copies of weights, not read: 6 ("));
}

void TestCheckpoint::tiedCopiesAreTolerated()
{
    TinyCheckpoint model;
    auto &file = model.weights["model.safetensors"];
    file["lm_head.weight"] = model.tensor("model.decoder.embed_tokens.weight");
    file["model.encoder.language_model.embed_tokens.weight"] = model.tensor("model.decoder.embed_tokens.weight");
    file["model.encoder.language_model.layers.0.mlp.up_proj.weight"] =
        model.tensor("model.decoder.layers.0.mlp.up_proj.weight");
    const auto checkpoint = writeAndOpen(model);
    QCOMPARE(checkpoint->warnings().size(), std::size_t{1});
    QVERIFY(anyContains(checkpoint->warnings(), "Second copies of weights, not read: 3 ("));
}

void TestCheckpoint::weightsStoredUnderTheSecondNameAreFound()
{
    TinyCheckpoint model(TinyFormat::Bf16);
    const std::string encoder = "model.encoder.language_model.";
    model.rename("model.decoder.embed_tokens.weight", "lm_head.weight");
    model.rename("model.decoder.norm.weight", encoder + "norm.weight");
    model.rename(kExperts0 + "down_proj", encoder + "layers.0.experts.down_proj");
    model.rename(kExperts0 + "gate_up_proj", encoder + "layers.0.experts.gate_up_proj");
    const auto checkpoint = writeAndOpen(model);
    QCOMPARE(checkpoint->tensor("model.decoder.embed_tokens.weight").name, "lm_head.weight");
    QCOMPARE(checkpoint->tensor("model.decoder.norm.weight").name, encoder + "norm.weight");
    QCOMPARE(checkpoint->experts(0).down.name, encoder + "layers.0.experts.down_proj");
    QVERIFY(checkpoint->warnings().empty());
}

void TestCheckpoint::visionTensorsAreRecognised()
{
    TinyCheckpoint model;
    model.weights["model.safetensors"]["model.encoder.vision_tower.std_bias"] =
        test::TinyTensor::ofHalves("F16", {3}, 0x7E00); // any dtype, any value: it is left alone
    const auto checkpoint = writeAndOpen(model);
    QVERIFY(checkpoint->hasVisionTensors());
    QVERIFY(checkpoint->warnings().empty());
}

void TestCheckpoint::unknownTensorsAreReported()
{
    TinyCheckpoint model;
    for (const char *name : {"extra.weight", "model.decoder.layers.0.mlp2.weight",
                             "model.decoder.layers.2.layer_scalar", "model.decoder.layers.x.layer_scalar"})
        model.weights["model.safetensors"][name] = test::TinyTensor::ofBytes({2}, 0);
    const auto checkpoint = writeAndOpen(model);
    QCOMPARE(checkpoint->warnings().size(), std::size_t{1});
    QVERIFY(anyContains(checkpoint->warnings(), "not known, not read: 4 ("));
}

void TestCheckpoint::shardsWithAnIndex()
{
    TinyCheckpoint model;
    auto &whole = model.weights["model.safetensors"];
    nlohmann::json map;
    int number = 0;
    for (const auto &[name, tensor] : whole) {
        const std::string file = "model-0000" + std::to_string(1 + number++ % 3) + "-of-00003.safetensors";
        model.weights[file][name] = tensor;
        map[name] = file;
    }
    model.weights.erase("model.safetensors");
    QCOMPARE(std::ssize(writeAndOpen(model)->files()), 5); // without an index: found by their names
    test::writeFile(m_folder / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
    const auto checkpoint = Checkpoint::open(m_folder);
    QCOMPARE(std::ssize(checkpoint->files()), 5);
    QVERIFY(checkpoint->warnings().empty());
}

void TestCheckpoint::oddIndexesAreReported()
{
    const TinyCheckpoint model;
    model.write(m_folder);
    nlohmann::json map{{"gone.weight", "model.safetensors"}};
    for (const auto &[name, tensor] : model.weights.at("model.safetensors"))
        map[name] = "model.safetensors";
    map.erase("model.decoder.norm.weight");
    test::writeFile(m_folder / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
    const auto checkpoint = Checkpoint::open(m_folder);
    QVERIFY(anyContains(checkpoint->warnings(), "1 (model.decoder.norm.weight)"));
    QVERIFY(anyContains(checkpoint->warnings(), "1 (gone.weight)"));
}

void TestCheckpoint::leftOverFileBesideAnIndexIsLeftAlone()
{
    const TinyCheckpoint model;
    model.write(m_folder);
    nlohmann::json map;
    for (const auto &[name, tensor] : model.weights.at("model.safetensors"))
        map[name] = "model.safetensors";
    test::writeFile(m_folder / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
    test::writeFile(m_folder / "model-00001-of-00002.safetensors", "half a download");
    const auto checkpoint = Checkpoint::open(m_folder);
    QVERIFY(anyContains(checkpoint->warnings(), "model-00001-of-00002.safetensors is not named by"));
}

void TestCheckpoint::generationConfigMayBeMissing()
{
    const TinyCheckpoint model;
    model.write(m_folder);
    fs::remove(m_folder / "generation_config.json");
    const auto checkpoint = Checkpoint::open(m_folder);
    QVERIFY(anyContains(checkpoint->warnings(), "generation_config.json is missing"));
    QCOMPARE(checkpoint->generationDefaults().maxDenoisingSteps, 48);
    QCOMPARE(checkpoint->generationDefaults().eosTokenIds, std::vector<TokenId>{1});
}

void TestCheckpoint::linksToFilesAreFollowed()
{
    const TinyCheckpoint model;
    const fs::path blobs = m_folder.parent_path() / "blobs";
    model.write(blobs);
    fs::create_directory(m_folder);
    for (const auto &blob : fs::directory_iterator(blobs))
        fs::create_symlink(blob.path(), m_folder / blob.path().filename());
    QCOMPARE(Checkpoint::open(m_folder)->files()[0].path.parent_path(), m_folder);
}

void TestCheckpoint::releasedPagesCanBeReadAgain()
{
    TinyCheckpoint model;
    const auto checkpoint = writeAndOpen(model);
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
    const auto checkpoint = writeAndOpen(TinyCheckpoint());
    checkpoint->checkUnchanged();
    const fs::path file = m_folder / "experts_00001.safetensors";
    fs::resize_file(file, fs::file_size(file) - 1);
    try {
        checkpoint->checkUnchanged();
        QFAIL("not noticed");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::Io);
        QCOMPARE(error.subject(), file.string());
    }
}

void TestCheckpoint::unknownNameThrows()
{
    const auto checkpoint = writeAndOpen(TinyCheckpoint());
    QVERIFY_EXCEPTION_THROWN((void)checkpoint->tensor("model.decoder.layers.0.mlp"), Error);
    QVERIFY_EXCEPTION_THROWN((void)checkpoint->tensor(""), Error);
}

QTEST_GUILESS_MAIN(TestCheckpoint)
#include "tst_checkpoint.moc"
