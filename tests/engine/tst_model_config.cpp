// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/model_config.h"
#include "tests/support/tiny_checkpoint.h"

#include <QTest>

#include <cstring>

using namespace palimpsest;
using nlohmann::json;

namespace {

const json kTiny = test::TinyCheckpoint().config;

ModelConfig parse(const json &config)
{
    return parseModelConfig(config.dump(), "folder/config.json");
}

/// The tiny config with one field set to the JSON text `value`, or removed if that is empty.
json changed(const QString &pointer, const QByteArray &value)
{
    json config = kTiny;
    const json::json_pointer place(pointer.toStdString());
    if (value.isEmpty())
        config[place.parent_pointer()].erase(place.back());
    else
        config[place] = json::parse(value.toStdString());
    return config;
}

} // namespace

class TestModelConfig : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsEverySize();
    void optionalFieldsHaveDefaults_data();
    void optionalFieldsHaveDefaults();
    void perLayerConfigIsTheSameAsGlobalSizes();
    void rotatedPairsFollowTheReference_data();
    void rotatedPairsFollowTheReference();
    void requiredFields_data();
    void requiredFields();
    void badValuesAreRefused_data();
    void badValuesAreRefused();
    void otherModelsAreRefusedByName_data();
    void otherModelsAreRefusedByName();
    void generationDefaults();
    void badGenerationDefaults_data();
    void badGenerationDefaults();
};

void TestModelConfig::readsEverySize()
{
    json text = kTiny;
    text["text_config"]["eos_token_id"] = {1, 7};
    text["image_token_id"] = 30;
    text["vision_config"] = json::object();
    const ModelConfig config = parse(text);
    QCOMPARE(config.vocabSize, 40);
    QCOMPARE(config.hiddenSize, 128);
    QCOMPARE(config.denseIntermediateSize, 32);
    QCOMPARE(config.attentionHeads, 2);
    QCOMPARE(config.slidingWindow, 6);
    QCOMPARE(config.expertCount, 4);
    QCOMPARE(config.expertsPerToken, 2);
    QCOMPARE(config.expertIntermediateSize, 64);
    QCOMPARE(config.rmsNormEpsilon, 1e-6);
    QCOMPARE(config.finalLogitSoftcap, 30.0);
    QCOMPARE(config.maxPositions, 256);
    QCOMPARE(config.canvasLength, 8);
    QCOMPARE(config.padTokenId, 0);
    QCOMPARE(config.bosTokenId, 2);
    QCOMPARE(config.eosTokenIds, (std::vector<TokenId>{1, 7}));
    QCOMPARE(config.imageTokenId, std::optional<TokenId>(30));
    QVERIFY(config.hasVisionConfig);
    const LayerConfig sliding{.kind = LayerKind::Sliding,
                              .headDim = 16,
                              .kvHeads = 2,
                              .hasValueProjection = true,
                              .ropeTheta = 10000.0,
                              .rotatedPairs = 8};
    const LayerConfig full{.kind = LayerKind::Full,
                           .headDim = 32,
                           .kvHeads = 1,
                           .hasValueProjection = false,
                           .ropeTheta = 1e6,
                           .rotatedPairs = 4};
    QCOMPARE(config.layers, (std::vector<LayerConfig>{sliding, full}));
}

void TestModelConfig::optionalFieldsHaveDefaults_data()
{
    QTest::addColumn<QString>("pointer");
    for (const char *pointer :
         {"/tie_word_embeddings", "/text_config/final_logit_softcapping", "/text_config/pad_token_id",
          "/text_config/bos_token_id", "/text_config/num_global_key_value_heads", "/text_config/attention_bias",
          "/text_config/model_type", "/text_config/use_bidirectional_attention"})
        QTest::newRow(pointer) << QString::fromLatin1(pointer);
}

void TestModelConfig::optionalFieldsHaveDefaults()
{
    QFETCH(QString, pointer);
    const ModelConfig absent = parse(changed(pointer, ""));
    const ModelConfig null = parse(changed(pointer, "null"));
    QCOMPARE(absent.finalLogitSoftcap, 30.0);
    QCOMPARE(null.layers, absent.layers);
    QCOMPARE(absent.bosTokenId, 2);
    QCOMPARE(absent.padTokenId, 0);
    const bool sharesHeads = pointer.endsWith("num_global_key_value_heads"); // then as in sliding layers
    QCOMPARE(absent.layers[1].kvHeads, sharesHeads ? 2 : 1);
}

void TestModelConfig::perLayerConfigIsTheSameAsGlobalSizes()
{
    json config = kTiny;
    config["text_config"].erase("global_head_dim");
    config["text_config"].erase("num_global_key_value_heads");
    config["text_config"]["per_layer_config"] = {{"1", {{"head_dim", 32}, {"num_key_value_heads", 1}}}};
    QCOMPARE(parse(config).layers, parse(kTiny).layers);

    config["text_config"]["per_layer_config"] = {{"1", {{"head_dim", 32}}}};
    QCOMPARE(parse(config).layers[1].kvHeads, 2);
    config["text_config"]["per_layer_config"] = json::object();
    QCOMPARE(parse(config).layers[1].headDim, 16);
}

void TestModelConfig::rotatedPairsFollowTheReference_data()
{
    QTest::addColumn<int>("headDim");
    QTest::addColumn<double>("share");
    QTest::addColumn<int>("pairs");
    QTest::newRow("a quarter of 512") << 512 << 0.25 << 64;
    QTest::newRow("a quarter of 64") << 64 << 0.25 << 8;
    QTest::newRow("rounds down") << 10 << 0.25 << 1;
    QTest::newRow("three quarters of 32") << 32 << 0.75 << 12;
    QTest::newRow("all") << 32 << 1.0 << 16;
    QTest::newRow("none") << 32 << 0.0 << 0;
}

void TestModelConfig::rotatedPairsFollowTheReference()
{
    QFETCH(int, headDim);
    QFETCH(double, share);
    json config = kTiny;
    config["text_config"]["global_head_dim"] = headDim;
    config["text_config"]["rope_parameters"]["full_attention"]["partial_rotary_factor"] = share;
    QTEST(static_cast<int>(parse(config).layers[1].rotatedPairs), "pairs");
}

void TestModelConfig::requiredFields_data()
{
    QTest::addColumn<QString>("pointer");
    for (const char *pointer : {"/architectures",
                                "/model_type",
                                "/canvas_length",
                                "/text_config",
                                "/text_config/vocab_size",
                                "/text_config/hidden_size",
                                "/text_config/intermediate_size",
                                "/text_config/num_hidden_layers",
                                "/text_config/num_attention_heads",
                                "/text_config/num_key_value_heads",
                                "/text_config/head_dim",
                                "/text_config/global_head_dim",
                                "/text_config/hidden_activation",
                                "/text_config/max_position_embeddings",
                                "/text_config/rms_norm_eps",
                                "/text_config/sliding_window",
                                "/text_config/layer_types",
                                "/text_config/num_experts",
                                "/text_config/top_k_experts",
                                "/text_config/moe_intermediate_size",
                                "/text_config/rope_parameters",
                                "/text_config/rope_parameters/sliding_attention",
                                "/text_config/rope_parameters/full_attention/rope_theta",
                                "/text_config/rope_parameters/full_attention/rope_type"})
        QTest::newRow(pointer) << QString::fromLatin1(pointer);
}

void TestModelConfig::requiredFields()
{
    QFETCH(QString, pointer);
    const std::string field = pointer.mid(1).replace(QLatin1Char('/'), QLatin1Char('.')).toStdString();
    for (const char *value : {"", "null", "true", "\"x\"", "[[]]", "-1", "1.5"}) {
        try {
            const ModelConfig config = parse(changed(pointer, value));
            if (pointer.endsWith("rope_theta") && QByteArray(value) == "1.5")
                continue; // a valid number
            QFAIL(qPrintable(pointer + " = " + value + " was accepted"));
        } catch (const Error &error) {
            QVERIFY2(std::strstr(error.what(), "folder/config.json: field ") == error.what(), error.what());
            QVERIFY2(std::strstr(error.what(), field.c_str()) != nullptr, error.what());
            QVERIFY2(std::strstr(error.what(), "found ") != nullptr, error.what());
            if (*value == '\0') {
                QCOMPARE(error.kind(), ErrorKind::InvalidCheckpoint);
                QVERIFY2(std::strstr(error.what(), "found nothing") != nullptr, error.what());
                QCOMPARE(error.subject(), field);
            }
        }
    }
}

void TestModelConfig::badValuesAreRefused_data()
{
    QTest::addColumn<QString>("pointer");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("mention");
    const auto row = [](const char *pointer, const char *value, const char *mention) {
        QTest::newRow((std::string(pointer) + " = " + value).c_str())
            << QString::fromLatin1(pointer) << QByteArray(value) << QByteArray(mention);
    };
    row("/text_config/vocab_size", "0", "found 0");
    row("/text_config/hidden_size", "2147483648", "found 2147483648");
    row("/text_config/hidden_size", "18446744073709551615", "found 18446744073709551615");
    row("/text_config/hidden_size", "1e2", "found 100.0");
    row("/text_config/num_hidden_layers", "3", "a list of 3 texts");
    row("/text_config/num_hidden_layers", "2000", "a list of 2000 texts");
    row("/text_config/num_hidden_layers", "2000000000", "found 2000000000");
    row("/text_config/layer_types", "[]", "a list of 2 texts");
    row("/text_config/layer_types", "\"sliding_attention\"", "a list of 2 texts");
    row("/text_config/num_attention_heads", "3", "a multiple of the key/value heads");
    row("/text_config/num_key_value_heads", "4", "a multiple of the key/value heads");
    row("/text_config/head_dim", "15", "an even number");
    row("/text_config/global_head_dim", "33", "an even number");
    row("/text_config/top_k_experts", "5", "from 1 to 4");
    row("/text_config/top_k_experts", "0", "from 1 to 4");
    row("/text_config/sliding_window", "0", "from 1 to 256");
    row("/text_config/sliding_window", "6000", "from 1 to 256");
    row("/text_config/max_position_embeddings", "262144000", "from 1 to 2097152");
    row("/canvas_length", "8000", "from 1 to 256");
    row("/text_config/rms_norm_eps", "0", "found 0");
    row("/text_config/rms_norm_eps", "1e-3", "found 0.001");
    row("/text_config/final_logit_softcapping", "30000.0", "found 30000.0");
    row("/text_config/final_logit_softcapping", "-30.0", "found -30.0");
    row("/text_config/rope_parameters/full_attention/rope_theta", "1e9", "rope_theta");
    row("/text_config/rope_parameters/full_attention/rope_theta", "0", "rope_theta");
    row("/text_config/rope_parameters/full_attention/partial_rotary_factor", "1.25", "from 0.0 to 1.0");
    row("/text_config/rope_parameters/full_attention/partial_rotary_factor", "-0.25", "from 0.0 to 1.0");
    row("/text_config/eos_token_id", "40", "from 0 to 39");
    row("/text_config/eos_token_id", "[1, -1]", "from 0 to 39");
    row("/text_config/eos_token_id", "[1, [2]]", "from 0 to 39");
    row("/text_config/pad_token_id", "262144", "from 0 to 39");
    row("/text_config/bos_token_id", "2.0", "from 0 to 39");
    row("/image_token_id", "40", "from 0 to 39");
    row("/text_config/per_layer_config", R"({"2": {}})", "the number of a layer, 0 to 1");
    row("/text_config/per_layer_config", R"({"-1": {}})", "the number of a layer");
    row("/text_config/per_layer_config", R"({"one": {}})", "the number of a layer");
    row("/text_config/per_layer_config", R"({"1x": {}})", "the number of a layer");
    row("/text_config/per_layer_config", R"({"99999999999999999999": {}})", "the number of a layer");
    row("/text_config/per_layer_config", R"({"1": 5})", "per_layer_config.1: found 5");
    row("/text_config/per_layer_config", R"({"1": {"head_dim": 0}})", "per_layer_config.1.head_dim: found 0");
    row("/text_config/per_layer_config", R"([])", "per_layer_config");
    row("/architectures", "[]", "found a list of 0");
    row("/architectures", "\"DiffusionGemmaForBlockDiffusion\"", "architectures");
}

void TestModelConfig::badValuesAreRefused()
{
    QFETCH(QString, pointer);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, mention);
    try {
        const ModelConfig config = parse(changed(pointer, value));
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidCheckpoint);
        QVERIFY2(std::strstr(error.what(), "folder/config.json: field ") == error.what(), error.what());
        QVERIFY2(std::strstr(error.what(), mention) != nullptr, error.what());
    }
}

void TestModelConfig::otherModelsAreRefusedByName_data()
{
    QTest::addColumn<QString>("pointer");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("supported");
    const auto row = [](const char *pointer, const char *value, const char *supported) {
        QTest::newRow((std::string(pointer) + " = " + value).c_str())
            << QString::fromLatin1(pointer) << QByteArray(value) << QByteArray(supported);
    };
    row("/architectures", R"(["DiffusionGemmaForBlockDiffusiom"])", "DiffusionGemmaForBlockDiffusion");
    row("/architectures", R"(["Gemma4ForConditionalGeneration"])", "DiffusionGemmaForBlockDiffusion");
    row("/model_type", R"("gemma4")", "diffusion_gemma");
    row("/text_config/model_type", R"("gemma4_text")", "diffusion_gemma_text");
    row("/text_config/hidden_activation", R"("silu")", "gelu_pytorch_tanh");
    row("/text_config/layer_types", R"(["sliding_attention", "chunked_attention"])", "full_attention");
    row("/text_config/layer_types", R"(["sliding_attention", 7])", "full_attention");
    row("/text_config/rope_parameters/full_attention/rope_type", R"("yarn")", "proportional");
    row("/text_config/rope_parameters/full_attention/factor", "8.0", "only 1");
    row("/text_config/rope_parameters/sliding_attention/partial_rotary_factor", "0.5", "only 1");
    row("/text_config/attention_bias", "true", "models without it");
    row("/text_config/num_kv_shared_layers", "4", "models without it");
    row("/text_config/hidden_size_per_layer_input", "256", "models without it");
    row("/text_config/attention_k_eq_v", "false", "only true");
    row("/text_config/tie_word_embeddings", "false", "only true");
    row("/tie_word_embeddings", "false", "only true");
    row("/text_config/use_bidirectional_attention", R"("all")", "vision");
    row("/text_config/per_layer_config", R"({"1": {"sliding_window": 4}})", "head_dim");
}

void TestModelConfig::otherModelsAreRefusedByName()
{
    QFETCH(QString, pointer);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, supported);
    try {
        const ModelConfig config = parse(changed(pointer, value));
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::Unsupported);
        QVERIFY2(std::strstr(error.what(), "folder/config.json: field ") == error.what(), error.what());
        QVERIFY2(std::strstr(error.what(), "supports only") != nullptr, error.what());
        QVERIFY2(std::strstr(error.what(), supported) != nullptr, error.what());
    }
}

void TestModelConfig::generationDefaults()
{
    const ModelConfig model = parse(kTiny);
    const auto read = parseGenerationDefaults(R"({"max_new_tokens": 100, "max_denoising_steps": 12, "t_min": 0.1,
        "t_max": 0.9, "stability_threshold": 2, "confidence_threshold": 0.5, "pad_token_id": 3,
        "eos_token_id": [1, 6], "sampler_config": {"_cls_name": "EntropyBoundSamplerConfig", "entropy_bound": 0.25}})",
                                              "generation_config.json", model);
    QCOMPARE(read.maxNewTokens, 100);
    QCOMPARE(read.maxDenoisingSteps, 12);
    QCOMPARE(read.tMin, 0.1);
    QCOMPARE(read.tMax, 0.9);
    QCOMPARE(read.stabilityThreshold, 2);
    QCOMPARE(read.confidenceThresholdNats, 0.5);
    QCOMPARE(read.entropyBoundNats, 0.25);
    QCOMPARE(read.padTokenId, std::optional<TokenId>(3));
    QCOMPARE(read.eosTokenIds, (std::vector<TokenId>{1, 6}));

    const auto defaults = parseGenerationDefaults("{}", "generation_config.json", model);
    QCOMPARE(defaults.maxDenoisingSteps, 48);
    QCOMPARE(defaults.entropyBoundNats, 0.1);
    QVERIFY(!defaults.padTokenId && defaults.eosTokenIds.empty());
}

void TestModelConfig::badGenerationDefaults_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("field");
    QTest::newRow("no steps") << QByteArray(R"({"max_denoising_steps": 0})") << QByteArray("max_denoising_steps");
    QTest::newRow("too many steps") << QByteArray(R"({"max_denoising_steps": 48000})")
                                    << QByteArray("max_denoising_steps");
    QTest::newRow("negative temperature") << QByteArray(R"({"t_min": -0.4})") << QByteArray("t_min");
    QTest::newRow("temperature a text") << QByteArray(R"({"t_max": "hot"})") << QByteArray("t_max");
    QTest::newRow("negative bound") << QByteArray(R"({"sampler_config": {"entropy_bound": -1}})")
                                    << QByteArray("sampler_config.entropy_bound");
    QTest::newRow("other sampler") << QByteArray(R"({"sampler_config": {"_cls_name": "TopKSamplerConfig"}})")
                                   << QByteArray("sampler_config._cls_name");
    QTest::newRow("end token outside") << QByteArray(R"({"eos_token_id": [1, 40]})") << QByteArray("eos_token_id");
    QTest::newRow("pad token outside") << QByteArray(R"({"pad_token_id": -1})") << QByteArray("pad_token_id");
    QTest::newRow("no tokens") << QByteArray(R"({"max_new_tokens": 0})") << QByteArray("max_new_tokens");
    QTest::newRow("negative stability") << QByteArray(R"({"stability_threshold": -1})")
                                        << QByteArray("stability_threshold");
    QTest::newRow("a list") << QByteArray("[]") << QByteArray("generation_config.json");
}

void TestModelConfig::badGenerationDefaults()
{
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, field);
    try {
        const auto defaults = parseGenerationDefaults(text.toStdString(), "generation_config.json", parse(kTiny));
        QFAIL("accepted");
    } catch (const Error &error) {
        QVERIFY2(std::strstr(error.what(), field) != nullptr, error.what());
        QVERIFY2(std::strstr(error.what(), "found ") != nullptr, error.what());
    }
}

QTEST_APPLESS_MAIN(TestModelConfig)
#include "tst_model_config.moc"
