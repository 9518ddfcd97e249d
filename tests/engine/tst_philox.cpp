// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/philox.h"

#include <QTest>

using namespace palimpsest;

class TestPhilox : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void knownAnswersOfRandom123();
    void tokenIdsOfTheSpecification();
};

void TestPhilox::knownAnswersOfRandom123()
{
    QCOMPARE(philox4x32({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    QCOMPARE(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
             (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    QCOMPARE(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
             (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

void TestPhilox::tokenIdsOfTheSpecification()
{
    constexpr std::int64_t kVocabSize = 262144;
    QCOMPARE(uniformTokenId({0, 0, 0}, NoiseKind::InitialCanvas, 0, kVocabSize), 104607);
    QCOMPARE(uniformTokenId({1, 0, 0}, NoiseKind::InitialCanvas, 5, kVocabSize), 61333);
    QCOMPARE(uniformTokenId({0x123456789abcdef0, 0, 48}, NoiseKind::Renoise, 17, kVocabSize), 98109);
    QCOMPARE(uniformTokenId({0x123456789abcdef0, 3, 1}, NoiseKind::Renoise, 255, kVocabSize), 244022);
}

QTEST_GUILESS_MAIN(TestPhilox)
#include "tst_philox.moc"
