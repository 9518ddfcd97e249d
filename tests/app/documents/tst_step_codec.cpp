// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/step_codec.h"
#include "tests/app/documents/step_samples.h"
#include "tests/app/documents/store_fixture.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace palimpsest;
using namespace palimpsest::documents;
using palimpsest::test::asKept;
using palimpsest::test::kindOf;
using palimpsest::test::randomSteps;
using palimpsest::test::settlingCanvas;

class TestStepCodec : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void entropiesKeepTheirPlace();
    void stepsComeBack_data();
    void stepsComeBack();
    void extremesComeBack();
    void aCanvasIsSmall();
    void unequalStepsAreRefused();
    void damagedRecordsAreErrors();
};

void TestStepCodec::entropiesKeepTheirPlace()
{
    QCOMPARE(quantisedEntropy(0.0F), std::uint8_t{0});
    QCOMPARE(quantisedEntropy(-1.0F), std::uint8_t{0});
    QCOMPARE(quantisedEntropy(std::numeric_limits<float>::quiet_NaN()), std::uint8_t{0});
    QCOMPARE(quantisedEntropy(std::numeric_limits<float>::infinity()), std::uint8_t{255});
    QCOMPARE(entropyOfQuantised(255), kHighestKeptEntropyNats);
    for (int value = 0; value < 256; ++value)
        QCOMPARE(quantisedEntropy(entropyOfQuantised(static_cast<std::uint8_t>(value))), value);
    for (int thousandths = 0; thousandths < 12'500; ++thousandths) {
        const float nats = static_cast<float>(thousandths) / 1000.0F;
        const float kept = entropyOfQuantised(quantisedEntropy(nats));
        const float halfStep = std::sqrt(nats) * std::sqrt(kHighestKeptEntropyNats) / 255.0F + 0.0003F;
        QVERIFY2(std::abs(kept - nats) <= halfStep, std::to_string(nats).c_str());
    }
    QVERIFY(quantisedEntropy(0.0045F) < quantisedEntropy(0.0055F)); // both sides of the confidence threshold
}

void TestStepCodec::stepsComeBack_data()
{
    QTest::addColumn<int>("steps");
    QTest::addColumn<int>("positions");
    QTest::newRow("none") << 0 << 0;
    QTest::newRow("no positions") << 3 << 0;
    QTest::newRow("one of one") << 1 << 1;
    QTest::newRow("seven positions") << 5 << 7;
    QTest::newRow("eight positions") << 5 << 8;
    QTest::newRow("nine positions") << 2 << 9;
    QTest::newRow("a canvas") << 48 << 256;
}

void TestStepCodec::stepsComeBack()
{
    QFETCH(int, steps);
    QFETCH(int, positions);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const std::vector<StepRecord> made =
            randomSteps(seed, static_cast<std::size_t>(steps), static_cast<std::size_t>(positions));
        QVERIFY(unpackSteps(packSteps(made)) == asKept(made));
    }
}

void TestStepCodec::extremesComeBack()
{
    constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
    constexpr auto kLeast = std::numeric_limits<std::int32_t>::min();
    const std::vector<StepRecord> made{{.step = kMost,
                                        .ids = {kMost, kLeast, -1, 0},
                                        .argmax = {kLeast, kMost, 0, -1},
                                        .entropiesNats = {0, 1e9F, -1, 16},
                                        .accepted = {2, 0, 255, 1},
                                        .frozen = {},
                                        .meanEntropyNats = std::numeric_limits<float>::infinity(),
                                        .stepMs = -0.0F}};
    QVERIFY(unpackSteps(packSteps(made)) == asKept(made));
}

void TestStepCodec::aCanvasIsSmall()
{
    std::size_t bytes = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
        bytes += packSteps(settlingCanvas(seed, 48, 256, 262'144)).size();
    qInfo("256 positions, 48 steps: %zu bytes a canvas", bytes / 4);
    QVERIFY(bytes / 4 < 48 * 1024); // as it is: 48 * (256 * (4 + 4 + 4) + 64) = 150 528
}

void TestStepCodec::unequalStepsAreRefused()
{
    std::vector<StepRecord> steps = randomSteps(1, 3, 4);
    const auto pack = [&steps] {
        (void)packSteps(steps);
    };
    pack();
    steps[1].step = steps[0].step;
    QCOMPARE(kindOf(pack), ErrorKind::InvalidArgument);
    steps = randomSteps(1, 3, 4);
    steps[2].argmax.pop_back();
    QCOMPARE(kindOf(pack), ErrorKind::InvalidArgument);
    steps = randomSteps(1, 3, 4);
    steps[1].frozen = {1};
    QCOMPARE(kindOf(pack), ErrorKind::InvalidArgument);
    steps = randomSteps(1, 1, 4);
    steps[0].step = 0;
    QCOMPARE(kindOf(pack), ErrorKind::InvalidArgument);
}

void TestStepCodec::damagedRecordsAreErrors()
{
    const std::string record = packSteps(randomSteps(7, 4, 16));
    QTest::ignoreMessage(QtWarningMsg, QRegularExpression("qUncompress.*"));
    QCOMPARE(kindOf([&] { (void)unpackSteps(""); }), ErrorKind::InvalidInput);
    QCOMPARE(kindOf([&] { (void)unpackSteps("\xFF\xFF\xFF\xFF more"); }), ErrorKind::InvalidInput);
    QCOMPARE(kindOf([&] { (void)unpackSteps(record.substr(0, record.size() / 2)); }), ErrorKind::InvalidInput);
    // What is compressed may lie as well.
    for (const QByteArray &inside :
         {QByteArray("\x01"), QByteArray("\x02\0\0\0\0\0\0\0\0", 9), QByteArray("\x01\xFF\xFF\xFF\xFF\x01\0\0\0", 9),
          QByteArray("\x01\x01\0\0\0\xFF\xFF\xFF\xFF", 9), QByteArray("\x01\0\0\0\0\0\0\0\0more", 13)}) {
        const std::string lying = qCompress(inside).toStdString();
        QCOMPARE(kindOf([&] { (void)unpackSteps(lying); }), ErrorKind::InvalidInput);
    }
}

QTEST_GUILESS_MAIN(TestStepCodec)
#include "tst_step_codec.moc"
