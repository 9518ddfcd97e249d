// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/half_precision.h"

#include <QTest>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

using namespace palimpsest;

namespace {

/// A half's value by the definition of IEEE 754, in double.
double definedFp16(std::uint16_t bits)
{
    const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
    const int exponent = (bits >> 10U) & 0x1F;
    const int fraction = bits & 0x3FF;
    if (exponent == 0x1F)
        return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024 + fraction, exponent - 25);
}

bool sameNumber(double a, double b)
{
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

constexpr unsigned kPatterns = 1U << 16U;

} // namespace

class TestHalfPrecision : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyFp16IsItsDefinition();
    void everyPatternSurvivesTheRoundTrip();
    void fp16RoundsHalfWayCasesToEven();
    void bf16RoundsHalfWayCasesToEven();
    void edges_data();
    void edges();
    void spansAtOddAddresses();
};

void TestHalfPrecision::everyFp16IsItsDefinition()
{
    for (unsigned pattern = 0; pattern < kPatterns; ++pattern) {
        const auto bits = static_cast<std::uint16_t>(pattern);
        QVERIFY2(sameNumber(static_cast<double>(fp16ToFloat(bits)), definedFp16(bits)),
                 qPrintable(QString::number(pattern)));
    }
}

void TestHalfPrecision::everyPatternSurvivesTheRoundTrip()
{
    for (unsigned pattern = 0; pattern < kPatterns; ++pattern) {
        const auto bits = static_cast<std::uint16_t>(pattern);
        if (!std::isnan(fp16ToFloat(bits)))
            QCOMPARE(floatToFp16(fp16ToFloat(bits)), bits);
        else
            QVERIFY(std::isnan(fp16ToFloat(floatToFp16(fp16ToFloat(bits)))));
        if (!std::isnan(bf16ToFloat(bits)))
            QCOMPARE(floatToBf16(bf16ToFloat(bits)), bits);
        else
            QVERIFY(std::isnan(bf16ToFloat(floatToBf16(bf16ToFloat(bits)))));
    }
}

void TestHalfPrecision::fp16RoundsHalfWayCasesToEven()
{
    for (std::uint16_t bits = 0; bits < 0x7BFF; ++bits) { // every finite pair of neighbours, subnormal ones included
        const float low = fp16ToFloat(bits);
        const float high = fp16ToFloat(static_cast<std::uint16_t>(bits + 1));
        const float middle = (low + high) / 2.0F; // exact: a float has the bits to spare
        const auto next = static_cast<std::uint16_t>(bits + 1);
        QCOMPARE(floatToFp16(middle), bits % 2 == 0 ? bits : next);
        QCOMPARE(floatToFp16(std::nextafter(middle, 0.0F)), bits);
        QCOMPARE(floatToFp16(std::nextafter(middle, 1e9F)), next);
        QCOMPARE(floatToFp16(-middle), static_cast<std::uint16_t>(0x8000U | floatToFp16(middle)));
    }
}

void TestHalfPrecision::bf16RoundsHalfWayCasesToEven()
{
    for (std::uint16_t bits = 0; bits < 0x7F7F; ++bits) {
        const std::uint32_t middle = (static_cast<std::uint32_t>(bits) << 16U) | 0x8000U;
        const auto next = static_cast<std::uint16_t>(bits + 1);
        QCOMPARE(floatToBf16(std::bit_cast<float>(middle)), bits % 2 == 0 ? bits : next);
        QCOMPARE(floatToBf16(std::bit_cast<float>(middle - 1)), bits);
        QCOMPARE(floatToBf16(std::bit_cast<float>(middle + 1)), next);
    }
}

void TestHalfPrecision::edges_data()
{
    QTest::addColumn<float>("value");
    QTest::addColumn<int>("fp16");
    QTest::addColumn<int>("bf16");
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    QTest::newRow("zero") << 0.0F << 0x0000 << 0x0000;
    QTest::newRow("minus zero") << -0.0F << 0x8000 << 0x8000;
    QTest::newRow("one") << 1.0F << 0x3C00 << 0x3F80;
    QTest::newRow("largest half") << 65504.0F << 0x7BFF << 0x4780;
    QTest::newRow("just below overflow") << 65519.996F << 0x7BFF << 0x4780;
    QTest::newRow("overflow") << 65520.0F << 0x7C00 << 0x4780;
    QTest::newRow("largest float") << std::numeric_limits<float>::max() << 0x7C00 << 0x7F80;
    QTest::newRow("infinity") << -kInfinity << 0xFC00 << 0xFF80;
    QTest::newRow("smallest subnormal") << 0x1p-24F << 0x0001 << 0x3380;
    QTest::newRow("half of it, to even") << 0x1p-25F << 0x0000 << 0x3300;
    QTest::newRow("just above half of it") << 0x1.000002p-25F << 0x0001 << 0x3300;
    QTest::newRow("smallest float") << std::numeric_limits<float>::denorm_min() << 0x0000 << 0x0000;
}

void TestHalfPrecision::edges()
{
    QFETCH(float, value);
    QTEST(static_cast<int>(floatToFp16(value)), "fp16");
    QTEST(static_cast<int>(floatToBf16(value)), "bf16");
}

void TestHalfPrecision::spansAtOddAddresses()
{
    constexpr std::array<std::uint16_t, 5> kBits{0x3F80, 0xC000, 0x0000, 0x4120, 0x7F80};
    std::vector<std::byte> bytes(1 + sizeof kBits);
    std::memcpy(bytes.data() + 1, kBits.data(), sizeof kBits);
    std::array<float, kBits.size()> brain{};
    std::array<float, kBits.size()> half{};
    bf16ToFloat(bytes.data() + 1, brain);
    fp16ToFloat(bytes.data() + 1, half);
    for (std::size_t i = 0; i < kBits.size(); ++i) {
        QCOMPARE(std::bit_cast<std::uint32_t>(brain[i]), std::bit_cast<std::uint32_t>(bf16ToFloat(kBits[i])));
        QCOMPARE(std::bit_cast<std::uint32_t>(half[i]), std::bit_cast<std::uint32_t>(fp16ToFloat(kBits[i])));
    }
}

QTEST_APPLESS_MAIN(TestHalfPrecision)
#include "tst_half_precision.moc"
