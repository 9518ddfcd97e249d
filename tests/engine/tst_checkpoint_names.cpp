// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/checkpoint.h"
#include "engine/error.h"
#include "tests/engine/model_folder.h"
#include "tests/support/tiny_checkpoint.h"

#include <QTest>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

using namespace palimpsest;
using test::TinyCheckpoint;
using test::TinyFormat;

namespace {

bool anyContains(std::span<const std::string> sentences, const char *part)
{
    return std::any_of(sentences.begin(), sentences.end(),
                       [&](const std::string &sentence) { return sentence.find(part) != std::string::npos; });
}

const std::string kExperts0 = "model.decoder.layers.0.experts.";
const std::string kExperts1 = "model.decoder.layers.1.experts.";

} // namespace

/// Under which name and in which file a tensor is found, and what is said of those that nobody asks for.
class TestCheckpointNames : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder.renew(); }

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
    void unknownNameThrows();

private:
    test::ModelFolder m_folder;
};

void TestCheckpointNames::expertsOfSeveralLayersInOneFile()
{
    TinyCheckpoint model;
    model.weights["experts_00000.safetensors"].merge(model.weights["experts_00001.safetensors"]);
    model.weights.erase("experts_00001.safetensors");
    QCOMPARE(m_folder.opened(model)->experts(1).gateUp.name, kExperts1 + "gu_q");
}

void TestCheckpointNames::expertsUnderAnyModulePath()
{
    TinyCheckpoint model;
    for (const char *suffix : {"gu_q", "gu_s", "gu_z", "dn_q", "dn_s", "dn_z"})
        model.rename(kExperts1 + suffix, std::string("layers.1.experts.") + suffix);
    const auto checkpoint = m_folder.opened(model);
    QCOMPARE(checkpoint->experts(1).gateUp.name, "layers.1.experts.gu_q");
    QVERIFY(checkpoint->warnings().empty());
}

void TestCheckpointNames::expertsInTheIndexedFiles()
{
    const TinyCheckpoint model;
    model.write(m_folder.path());
    nlohmann::json map;
    for (const auto &[file, tensors] : model.weights) {
        for (const auto &[name, tensor] : tensors)
            map[name] = file;
    }
    test::writeFile(m_folder.path() / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
    const auto checkpoint = Checkpoint::open(m_folder.path());
    QCOMPARE(std::ssize(checkpoint->files()), 3);
    QVERIFY(checkpoint->warnings().empty());
}

void TestCheckpointNames::encoderCopiesOfExpertsAreTolerated()
{
    TinyCheckpoint model;
    auto &file = model.weights["experts_00001.safetensors"];
    const auto originals = file;
    for (const auto &[name, tensor] : originals) {
        std::string copy = name;
        file[copy.replace(0, std::strlen("model.decoder"), "model.encoder.language_model")] = tensor;
    }
    const auto checkpoint = m_folder.opened(model);
    QCOMPARE(checkpoint->experts(1).gateUp.name, kExperts1 + "gu_q");
    QVERIFY(anyContains(checkpoint->warnings(), "Second copies of weights, not read: 6 ("));
}

void TestCheckpointNames::tiedCopiesAreTolerated()
{
    TinyCheckpoint model;
    auto &file = model.weights["model.safetensors"];
    file["lm_head.weight"] = model.tensor("model.decoder.embed_tokens.weight");
    file["model.encoder.language_model.embed_tokens.weight"] = model.tensor("model.decoder.embed_tokens.weight");
    file["model.encoder.language_model.layers.0.mlp.up_proj.weight"] =
        model.tensor("model.decoder.layers.0.mlp.up_proj.weight");
    const auto checkpoint = m_folder.opened(model);
    QCOMPARE(checkpoint->warnings().size(), std::size_t{1});
    QVERIFY(anyContains(checkpoint->warnings(), "Second copies of weights, not read: 3 ("));
}

void TestCheckpointNames::weightsStoredUnderTheSecondNameAreFound()
{
    TinyCheckpoint model(TinyFormat::Bf16);
    const std::string encoder = "model.encoder.language_model.";
    model.rename("model.decoder.embed_tokens.weight", "lm_head.weight");
    model.rename("model.decoder.norm.weight", encoder + "norm.weight");
    model.rename(kExperts0 + "down_proj", encoder + "layers.0.experts.down_proj");
    model.rename(kExperts0 + "gate_up_proj", encoder + "layers.0.experts.gate_up_proj");
    const auto checkpoint = m_folder.opened(model);
    QCOMPARE(checkpoint->tensor("model.decoder.embed_tokens.weight").name, "lm_head.weight");
    QCOMPARE(checkpoint->tensor("model.decoder.norm.weight").name, encoder + "norm.weight");
    QCOMPARE(checkpoint->experts(0).down.name, encoder + "layers.0.experts.down_proj");
    QVERIFY(checkpoint->warnings().empty());
}

void TestCheckpointNames::visionTensorsAreRecognised()
{
    TinyCheckpoint model;
    model.weights["model.safetensors"]["model.encoder.vision_tower.std_bias"] =
        test::TinyTensor::ofHalves("F16", {3}, 0x7E00); // any dtype, any value: it is left alone
    const auto checkpoint = m_folder.opened(model);
    QVERIFY(checkpoint->hasVisionTensors());
    QVERIFY(checkpoint->warnings().empty());
}

void TestCheckpointNames::unknownTensorsAreReported()
{
    TinyCheckpoint model;
    for (const char *name : {"extra.weight", "model.decoder.layers.0.mlp2.weight",
                             "model.decoder.layers.2.layer_scalar", "model.decoder.layers.x.layer_scalar"})
        model.weights["model.safetensors"][name] = test::TinyTensor::ofBytes({2}, 0);
    const auto checkpoint = m_folder.opened(model);
    QCOMPARE(checkpoint->warnings().size(), std::size_t{1});
    QVERIFY(anyContains(checkpoint->warnings(), "not known, not read: 4 ("));
}

void TestCheckpointNames::shardsWithAnIndex()
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
    QCOMPARE(std::ssize(m_folder.opened(model)->files()), 5); // without an index: found by their names
    test::writeFile(m_folder.path() / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
    const auto checkpoint = Checkpoint::open(m_folder.path());
    QCOMPARE(std::ssize(checkpoint->files()), 5);
    QVERIFY(checkpoint->warnings().empty());
}

void TestCheckpointNames::oddIndexesAreReported()
{
    const TinyCheckpoint model;
    model.write(m_folder.path());
    nlohmann::json map{{"gone.weight", "model.safetensors"}};
    for (const auto &[name, tensor] : model.weights.at("model.safetensors"))
        map[name] = "model.safetensors";
    map.erase("model.decoder.norm.weight");
    test::writeFile(m_folder.path() / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
    const auto checkpoint = Checkpoint::open(m_folder.path());
    QVERIFY(anyContains(checkpoint->warnings(), "1 (model.decoder.norm.weight)"));
    QVERIFY(anyContains(checkpoint->warnings(), "1 (gone.weight)"));
}

void TestCheckpointNames::leftOverFileBesideAnIndexIsLeftAlone()
{
    const TinyCheckpoint model;
    model.write(m_folder.path());
    nlohmann::json map;
    for (const auto &[name, tensor] : model.weights.at("model.safetensors"))
        map[name] = "model.safetensors";
    test::writeFile(m_folder.path() / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
    test::writeFile(m_folder.path() / "model-00001-of-00002.safetensors", "half a download");
    const auto checkpoint = Checkpoint::open(m_folder.path());
    QVERIFY(anyContains(checkpoint->warnings(), "model-00001-of-00002.safetensors is not named by"));
}

void TestCheckpointNames::unknownNameThrows()
{
    const auto checkpoint = m_folder.opened(TinyCheckpoint());
    QVERIFY_EXCEPTION_THROWN((void)checkpoint->tensor("model.decoder.layers.0.mlp"), Error);
    QVERIFY_EXCEPTION_THROWN((void)checkpoint->tensor(""), Error);
}

QTEST_GUILESS_MAIN(TestCheckpointNames)
#include "tst_checkpoint_names.moc"
