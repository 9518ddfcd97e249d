// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/half_precision.h"
#include "engine/w4_format.h"
#include "tests/support/golden.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>

using namespace palimpsest;

namespace {

std::vector<std::uint16_t> halves(const test::GoldenTensors &golden, const std::string &name)
{
    const auto &tensor = golden.tensor(name);
    std::vector<std::uint16_t> bits(tensor.bytes.size() / sizeof(std::uint16_t));
    std::memcpy(bits.data(), tensor.bytes.data(), tensor.bytes.size());
    return bits;
}

/// As numbers: a stored -0 equals 0, infinity itself.
void compareNumbers(const std::vector<std::uint16_t> &found, const std::vector<std::uint16_t> &wanted)
{
    QCOMPARE(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
        QVERIFY2(fp16ToFloat(found[i]) == fp16ToFloat(wanted[i]), qPrintable(QStringLiteral("group %1").arg(i)));
}

} // namespace

class TestW4Format : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void matchesTheReference_data();
    void matchesTheReference();
    void packsEvenColumnsLow();
    void unpackUndoesPack();
    void notFiniteWeightsAreRefused_data();
    void notFiniteWeightsAreRefused();
    void emptyMatrix();
};

void TestW4Format::matchesTheReference_data()
{
    QTest::addColumn<int>("group");
    QTest::newRow("gate and up") << static_cast<int>(kGateUpGroupSize);
    QTest::newRow("down") << static_cast<int>(kDownGroupSize);
}

void TestW4Format::matchesTheReference()
{
    QFETCH(int, group);
    const auto golden = test::GoldenTensors::load("quantiser/quantiser.safetensors");
    const std::string suffix = std::to_string(group);
    const std::vector<float> weights = golden.floats("w");
    const std::int64_t columns = golden.shape("w")[1];

    const W4Matrix matrix = quantiseW4(weights, columns, group);
    QCOMPARE(matrix.packed, golden.bytes("q" + suffix));
    compareNumbers(matrix.scale, halves(golden, "s" + suffix));
    compareNumbers(matrix.zero, halves(golden, "z" + suffix));

    std::vector<float> found(weights.size());
    dequantiseW4(matrix.packed, matrix.scale, matrix.zero, found);
    const std::vector<float> wanted = golden.floats("deq" + suffix);
    for (std::size_t i = 0; i < wanted.size();
         ++i) { // an infinite scale gives infinity, and NaN where q is the zero point
        QVERIFY2(found[i] == wanted[i] || (std::isnan(found[i]) && std::isnan(wanted[i])),
                 qPrintable(QStringLiteral("weight %1: %2, wanted %3").arg(i).arg(found[i]).arg(wanted[i])));
    }
}

void TestW4Format::packsEvenColumnsLow()
{
    const std::vector<float> weights{0.0F, 15.0F, 3.0F, 10.0F};
    const W4Matrix matrix = quantiseW4(weights, 4, 4);
    QCOMPARE(matrix.packed, (std::vector<std::uint8_t>{0xF0, 0xA3}));
    QCOMPARE(fp16ToFloat(matrix.scale[0]), 1.0F);
    QCOMPARE(fp16ToFloat(matrix.zero[0]), 0.0F);
}

void TestW4Format::unpackUndoesPack()
{
    std::vector<std::uint8_t> packed(256);
    for (std::size_t i = 0; i < packed.size(); ++i)
        packed[i] = static_cast<std::uint8_t>(i);
    std::vector<std::uint8_t> nibbles(512);
    unpackW4(packed, nibbles);
    for (std::size_t i = 0; i < packed.size(); ++i) {
        QVERIFY(nibbles[2 * i] < 16 && nibbles[2 * i + 1] < 16);
        QCOMPARE(nibbles[2 * i] | (nibbles[2 * i + 1] << 4), static_cast<int>(packed[i]));
    }
}

void TestW4Format::notFiniteWeightsAreRefused_data()
{
    QTest::addColumn<float>("value");
    QTest::newRow("NaN") << std::numeric_limits<float>::quiet_NaN();
    QTest::newRow("infinity") << -std::numeric_limits<float>::infinity();
}

void TestW4Format::notFiniteWeightsAreRefused()
{
    QFETCH(float, value);
    std::vector<float> weights(256, 1.0F);
    weights[128 + 7] = value;
    try {
        const W4Matrix matrix = quantiseW4(weights, 128, 64);
        QFAIL("quantised");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidInput);
        QVERIFY2(std::strstr(error.what(), "row 1, column 7") != nullptr, error.what());
    }
}

void TestW4Format::emptyMatrix()
{
    const W4Matrix matrix = quantiseW4({}, 128, 64);
    QVERIFY(matrix.packed.empty() && matrix.scale.empty() && matrix.zero.empty());
    dequantiseW4({}, {}, {}, {});
}

QTEST_APPLESS_MAIN(TestW4Format)
#include "tst_w4_format.moc"
