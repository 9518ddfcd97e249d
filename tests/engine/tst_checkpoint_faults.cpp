// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/half_precision.h"
#include "tests/engine/model_folder.h"
#include "tests/support/tiny_checkpoint.h"

#include <QTest>

#include <cstdint>
#include <functional>
#include <string>

using namespace palimpsest;
using test::Complaint;
using test::expectComplaint;
using test::ModelFolder;
using test::TinyCheckpoint;
using test::TinyFormat;
using test::TinyTensor;

namespace {

using BreakModel = std::function<void(TinyCheckpoint &)>;

const std::string kLayer0 = "model.decoder.layers.0.";
const std::string kExperts0 = "model.decoder.layers.0.experts.";
const std::string kExperts1 = "model.decoder.layers.1.experts.";
const std::string kExpertsFile = "experts_00001.safetensors";

} // namespace

Q_DECLARE_METATYPE(BreakModel)
Q_DECLARE_METATYPE(Complaint)

/// Models whose tensors or numbers do not fit.
class TestCheckpointFaults : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder.renew(); }

    void damagedModels_data();
    void damagedModels();
    void everySizeAThousandTimesTooLarge_data();
    void everySizeAThousandTimesTooLarge();

private:
    ModelFolder m_folder;
};

// F027, F082
void TestCheckpointFaults::damagedModels_data()
{
    QTest::addColumn<BreakModel>("damage");
    QTest::addColumn<Complaint>("complaint");
    const auto row = [](const char *name, const BreakModel &damage, const Complaint &complaint) {
        QTest::newRow(name) << damage << complaint;
    };
    using enum ErrorKind;

    row("architecture one letter off",
        [](TinyCheckpoint &m) { m.config["architectures"][0] = "DiffusionGemmaForBlockDiffusiom"; },
        {Unsupported, {"config.json", "DiffusionGemmaForBlockDiffusiom", "\"DiffusionGemmaForBlockDiffusion\""}});
    row("a layer's weight is missing",
        [](TinyCheckpoint &m) { m.weights["model.safetensors"].erase(kLayer0 + "mlp.up_proj.weight"); },
        {InvalidCheckpoint, {kLayer0 + "mlp.up_proj.weight", "[32, 128]", "download it again"}});
    row("the encoder's scalar is missing",
        [](TinyCheckpoint &m) {
            m.weights["model.safetensors"].erase("model.encoder.language_model.layers.1.layer_scalar");
        },
        {InvalidCheckpoint, {"model.encoder.language_model.layers.1.layer_scalar"}});
    row("the decoder's scalar is missing",
        [](TinyCheckpoint &m) { m.weights["model.safetensors"].erase(kLayer0 + "layer_scalar"); },
        {InvalidCheckpoint, {kLayer0 + "layer_scalar"}});
    row("a matrix of another shape",
        [](TinyCheckpoint &m) {
            m.tensor(kLayer0 + "mlp.up_proj.weight").shape = {128, 32};
        },
        {InvalidCheckpoint, {"model.safetensors", kLayer0 + "mlp.up_proj.weight", "[128, 32]", "wanted [32, 128]"}});
    row("a flattened matrix", [](TinyCheckpoint &m) { m.tensor(kLayer0 + "mlp.up_proj.weight").shape = {4096}; },
        {InvalidCheckpoint, {"[4096]", "[32, 128]"}});
    row("a weight in fp16", [](TinyCheckpoint &m) { m.tensor(kLayer0 + "mlp.up_proj.weight").dtype = "F16"; },
        {Unsupported, {"model.safetensors", kLayer0 + "mlp.up_proj.weight", "dtype F16", "BF16 or F32"}});
    row("a weight in fp8",
        [](TinyCheckpoint &m) {
            m.tensor(kLayer0 + "mlp.up_proj.weight") = TinyTensor::ofBytes({32, 128}, 0);
            m.tensor(kLayer0 + "mlp.up_proj.weight").dtype = "F8_E4M3";
        },
        {Unsupported, {"F8_E4M3", "BF16 or F32"}});
    row("a dtype nobody knows",
        [](TinyCheckpoint &m) {
            m.weights["model.safetensors"]["extra"] = {"F6_E2M3", {4}, {1, 2, 3}};
        },
        {Unsupported, {"model.safetensors", "extra", "F6_E2M3"}});
    row("NaN in a norm",
        [](TinyCheckpoint &m) {
            m.tensor(kLayer0 + "input_layernorm.weight") = TinyTensor::ofHalves("BF16", {128}, 0x7FC0);
        },
        {InvalidCheckpoint, {kLayer0 + "input_layernorm.weight", "NaN at index 0"}});
    row("infinity in the router's scales",
        [](TinyCheckpoint &m) {
            m.tensor(kLayer0 + "router.per_expert_scale") = TinyTensor::ofHalves("BF16", {4}, 0x7F80);
        },
        {InvalidCheckpoint, {kLayer0 + "router.per_expert_scale", "inf"}});
    row("one tensor in two files",
        [](TinyCheckpoint &m) {
            m.weights["model-2.safetensors"]["model.decoder.norm.weight"] = m.tensor("model.decoder.norm.weight");
        },
        {InvalidCheckpoint, {"model.decoder.norm.weight", "model-2.safetensors", "model.safetensors", "two files"}});

    row("experts of one layer are missing", [](TinyCheckpoint &m) { m.weights.erase(kExpertsFile); },
        {InvalidCheckpoint, {kExperts1 + "gu_q", "download it again"}});
    row("one expert tensor is missing", [](TinyCheckpoint &m) { m.weights[kExpertsFile].erase(kExperts1 + "dn_z"); },
        {InvalidCheckpoint, {kExperts1 + "dn_z"}});
    row("scale in fp32",
        [](TinyCheckpoint &m) {
            m.tensor(kExperts0 + "gu_s") = {"F32", {4, 128, 1}, std::vector<std::uint8_t>(2048)};
        },
        {Unsupported, {"experts_00000.safetensors", kExperts0 + "gu_s", "dtype F32", "wanted F16"}});
    row("scale in bf16", [](TinyCheckpoint &m) { m.tensor(kExperts0 + "dn_s").dtype = "BF16"; },
        {Unsupported, {kExperts0 + "dn_s", "dtype BF16", "wanted F16"}});
    row("one column too many",
        [](TinyCheckpoint &m) {
            m.tensor(kExperts0 + "gu_q") = TinyTensor::ofBytes({4, 128, 65}, 0);
        },
        {InvalidCheckpoint, {"experts_00000.safetensors", kExperts0 + "gu_q", "[4, 128, 65]", "[4, 128, 64]"}});
    row("one group too many",
        [](TinyCheckpoint &m) {
            m.tensor(kExperts1 + "dn_z") = TinyTensor::ofHalves("F16", {4, 128, 2}, 0);
        },
        {InvalidCheckpoint, {kExpertsFile, kExperts1 + "dn_z", "[4, 128, 2]", "[4, 128, 1]"}});
    const auto lastHalf = [](const std::string &name, std::uint16_t bits) {
        return [name, bits](TinyCheckpoint &m) {
            auto &bytes = m.tensor(name).bytes;
            bytes[bytes.size() - 2] = static_cast<std::uint8_t>(bits & 0xFFU);
            bytes[bytes.size() - 1] = static_cast<std::uint8_t>(bits >> 8U);
        };
    };
    row("NaN scale", lastHalf(kExperts1 + "gu_s", 0x7E00),
        {InvalidCheckpoint, {kExpertsFile, kExperts1 + "gu_s", "NaN at element 511"}});
    row("infinite scale", lastHalf(kExperts1 + "dn_s", 0x7C00), {InvalidCheckpoint, {kExperts1 + "dn_s", "inf"}});
    row("negative scale", lastHalf(kExperts1 + "dn_s", floatToFp16(-0.5F)),
        {InvalidCheckpoint, {kExperts1 + "dn_s", "-0.5"}});
    row("NaN zero point", lastHalf(kExperts1 + "gu_z", 0xFE01), {InvalidCheckpoint, {kExperts1 + "gu_z", "NaN"}});
    row("zero point of 16", lastHalf(kExperts1 + "dn_z", floatToFp16(16.0F)),
        {InvalidCheckpoint, {kExperts1 + "dn_z", "found 16", "from 0 to 15"}});
    row("zero point of -1", lastHalf(kExperts1 + "dn_z", floatToFp16(-1.0F)),
        {InvalidCheckpoint, {kExperts1 + "dn_z", "found -1"}});
    row("no w4_meta.json", [](TinyCheckpoint &m) { m.w4Meta = nullptr; },
        {InvalidCheckpoint, {"w4_meta.json", "experts_00000.safetensors", "dg-w4a16-v1"}});
    row("another format", [](TinyCheckpoint &m) { m.w4Meta["format"] = "dg-w4a16-v2"; },
        {Unsupported, {"w4_meta.json", "dg-w4a16-v2", "\"dg-w4a16-v1\""}});
    row("no format", [](TinyCheckpoint &m) { m.w4Meta.erase("format"); },
        {InvalidCheckpoint, {"w4_meta.json", "format", "found nothing"}});
    row("another group size", [](TinyCheckpoint &m) { m.w4Meta["gate_up_group"] = 32; },
        {Unsupported, {"gate_up_group", "found 32", "128"}});
    row("another group size, other spelling",
        [](TinyCheckpoint &m) {
            m.w4Meta["group_size"] = {{"gate_up_proj", 128}, {"down_proj", 128}};
        },
        {Unsupported, {"group_size.down_proj", "found 128", "64"}});
    row("another number of bits", [](TinyCheckpoint &m) { m.w4Meta["bits"] = 8; }, {Unsupported, {"bits", "found 8"}});
    row("another dtype of scales", [](TinyCheckpoint &m) { m.w4Meta["scale_dtype"] = "bfloat16"; },
        {Unsupported, {"scale_dtype", "bfloat16"}});
    row("another number of layers", [](TinyCheckpoint &m) { m.w4Meta["num_layers"] = 3; },
        {InvalidCheckpoint, {"w4_meta.json", "num_layers", "found 3", "2 as in config.json"}});
    row("another number of experts", [](TinyCheckpoint &m) { m.w4Meta["num_experts"] = 8; },
        {InvalidCheckpoint, {"num_experts", "found 8", "4"}});
    row("a file of the weight map is missing",
        [](TinyCheckpoint &m) {
            m.w4Meta["weight_map"] = {{kExperts1 + "gu_q", "experts_00009.safetensors"}};
        },
        {InvalidCheckpoint, {"experts_00009.safetensors", "missing", "w4_meta.json"}});
    row("the weight map leaves the folder",
        [](TinyCheckpoint &m) {
            m.w4Meta["weight_map"] = {{"a", "../model/config.json"}};
        },
        {InvalidCheckpoint, {"w4_meta.json", "../model/config.json", "the same folder"}});
    row("hidden size that groups do not divide",
        [](TinyCheckpoint &m) { m.config["text_config"]["hidden_size"] = 192; },
        {InvalidCheckpoint, {"embed_tokens", "[40, 128]", "[40, 192]"}});
    row("expert size that groups do not divide",
        [](TinyCheckpoint &m) { m.config["text_config"]["moe_intermediate_size"] = 96; },
        {InvalidCheckpoint, {"config.json", "moe_intermediate_size", "found 96", "a multiple of 64"}});
}

void TestCheckpointFaults::damagedModels()
{
    QFETCH(BreakModel, damage);
    QFETCH(Complaint, complaint);
    TinyCheckpoint model;
    damage(model);
    model.write(m_folder.path());
    expectComplaint(m_folder.path(), complaint);
}

void TestCheckpointFaults::everySizeAThousandTimesTooLarge_data()
{
    QTest::addColumn<QString>("field");
    QTest::addColumn<TinyFormat>("format");
    const TinyCheckpoint model;
    for (const auto &[name, value] : model.config["text_config"].items()) {
        const bool isOff = value == 0; // the padding token
        if (!value.is_number() || isOff)
            continue;
        QTest::newRow((name + ", 4 bits").c_str()) << QString::fromStdString(name) << TinyFormat::DgW4a16;
        QTest::newRow((name + ", bf16").c_str()) << QString::fromStdString(name) << TinyFormat::Bf16;
    }
}

void TestCheckpointFaults::everySizeAThousandTimesTooLarge()
{
    QFETCH(QString, field);
    QFETCH(TinyFormat, format);
    for (const std::int64_t factor : {1'000LL, 10'000'000LL}) {
        if (field == "max_position_embeddings" && factor == 1'000)
            continue; // 256,000 positions are what some models really have, and no tensor shows them
        TinyCheckpoint model(format);
        nlohmann::json &value = model.config["text_config"][field.toStdString()];
        if (value.is_number_integer())
            value = value.get<std::int64_t>() * factor;
        else
            value = value.get<double>() * static_cast<double>(factor);
        if (model.w4Meta.is_object())
            model.w4Meta.erase("num_layers");
        model.write(m_folder.path());
        expectComplaint(m_folder.path(), {ErrorKind::InvalidCheckpoint, {"config.json"}});
    }
}

QTEST_GUILESS_MAIN(TestCheckpointFaults)
#include "tst_checkpoint_faults.moc"
