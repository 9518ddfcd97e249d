// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "tests/support/generation_driver.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <functional>
#include <limits>
#include <string>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

constexpr float kBan = -std::numeric_limits<float>::infinity();

} // namespace

class TestRequestCheck : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void requestsThatDoNotFitTellTheNumbers();
    void uselessStopStringsAreRefused();
    void requestsOutOfRangeAreNamed_data();
    void requestsOutOfRangeAreNamed();
};

void TestRequestCheck::requestsThatDoNotFitTellTheNumbers()
{
    const auto message = [](const GenerationRequest &request) -> std::string {
        try {
            const Generation generation(1, request, fakeConfig({.maxPositions = 100}), nullptr);
            return "accepted";
        } catch (const Error &error) {
            return error.kind() == ErrorKind::ContextLength ? error.what() : "another kind";
        }
    };
    GenerationRequest request = basicRequest();
    request.prompt.assign(70, 4);
    request.maxNewTokens = 31;
    const std::string text = message(request);
    for (const char *number : {"70", "31", "100", "30"}) {
        QVERIFY2(text.find(number) != std::string::npos, text.c_str());
    }
    request.maxNewTokens = 30;
    QCOMPARE(message(request), std::string("accepted"));
    request.maxNewTokens = std::numeric_limits<std::int64_t>::max();
    QVERIFY(message(request).starts_with("The prompt has 70"));
    request.singleCanvas = true; // at most one canvas of eight is needed
    QCOMPARE(message(request), std::string("accepted"));
    request.prompt.assign(100, 4);
    QVERIFY(message(request).starts_with("The prompt has 100"));
    request.prompt.assign(95, 4);
    request.firstCanvas = CanvasStart{Ids(6, 1), Mask(6, 1), {}}; // its ids are given: not trimmed
    request.maxNewTokens = 1;
    QVERIFY(message(request).starts_with("The prompt has 95"));
}

void TestRequestCheck::uselessStopStringsAreRefused()
{
    for (const std::string_view stop : {"", "\xA9", "caf\xC3"}) {
        GenerationRequest request = basicRequest();
        request.stopStrings = {"fine", std::string(stop)};
        QVERIFY_EXCEPTION_THROWN(Generation(1, request, fakeConfig({.vocabSize = 8192}), demoTokenizer()), Error);
    }
}

void TestRequestCheck::requestsOutOfRangeAreNamed_data()
{
    using Change = std::function<void(GenerationRequest &)>;
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("field");
    const auto row = [](const char *name, const char *field, const Change &change) {
        QTest::newRow(name) << change << QString::fromLatin1(field);
    };
    row("empty prompt", "prompt", [](GenerationRequest &r) { r.prompt.clear(); });
    row("prompt id too large", "prompt", [](GenerationRequest &r) { r.prompt[1] = 64; });
    row("prompt id negative", "prompt", [](GenerationRequest &r) { r.prompt[1] = -1; });
    row("no new tokens", "maxNewTokens", [](GenerationRequest &r) { r.maxNewTokens = 0; });
    row("negative budget", "maxNewTokens", [](GenerationRequest &r) { r.maxNewTokens = -256; });
    row("end token too large", "eosTokenIds", [](GenerationRequest &r) { r.eosTokenIds = {1, 106}; });
    row("pad token negative", "padTokenId", [](GenerationRequest &r) { r.padTokenId = -1; });
    row("stop strings without a tokenizer", "stopStrings", [](GenerationRequest &r) { r.stopStrings = {"x"}; });
    row("sampler", "tMax", [](GenerationRequest &r) { r.sampler.tMax = -1.0; });
    row("bias id", "logitBias", [](GenerationRequest &r) { r.logitBias = {{64, 1.0F}}; });
    row("bias twice", "logitBias", [](GenerationRequest &r) { r.logitBias = {{4, 1.0F}, {2, 1.0F}, {4, 2.0F}}; });
    row("bias not a number", "logitBias", [](GenerationRequest &r) {
        r.logitBias = {{4, std::numeric_limits<float>::quiet_NaN()}};
    });
    row("bias infinite", "logitBias", [](GenerationRequest &r) { r.logitBias = {{4, -kBan}}; });
    row("everything banned", "logitBias", [](GenerationRequest &r) {
        for (TokenId id = 0; id < 64; ++id) {
            r.logitBias.push_back({id, kBan});
        }
    });
    row("first canvas empty", "firstCanvas.ids", [](GenerationRequest &r) { r.firstCanvas = CanvasStart{}; });
    row("first canvas too long", "firstCanvas.ids", [](GenerationRequest &r) {
        r.firstCanvas = CanvasStart{Ids(9, 1), {}, {}};
    });
    row("frozen mask of another length", "firstCanvas.frozen", [](GenerationRequest &r) {
        r.firstCanvas = CanvasStart{Ids(8, 1), Mask(7, 1), {}};
    });
    row("start mask of another length", "firstCanvas.keepAtStart", [](GenerationRequest &r) {
        r.firstCanvas = CanvasStart{Ids(8, 1), {}, Mask(9, 1)};
    });
    row("frozen id outside", "firstCanvas.ids", [](GenerationRequest &r) {
        r.firstCanvas = CanvasStart{Ids(8, 64), Mask(8, 1), {}};
    });
}

void TestRequestCheck::requestsOutOfRangeAreNamed()
{
    QFETCH(std::function<void(GenerationRequest &)>, change);
    QFETCH(QString, field);
    GenerationRequest request = basicRequest();
    change(request);
    try {
        const Generation generation(1, request, fakeConfig(), nullptr);
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidArgument);
        QCOMPARE(QString::fromStdString(error.subject()), field);
        QVERIFY(QString::fromUtf8(error.what()).contains(field));
    }
}

QTEST_GUILESS_MAIN(TestRequestCheck)
#include "tst_request_check.moc"
