// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/prefix_cache.h"
#include "tests/support/fake_backend.h"

#include <QTest>

#include <numeric>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

using Ids = std::vector<TokenId>;

Ids countingFrom(TokenId first, std::size_t count)
{
    Ids ids(count);
    std::iota(ids.begin(), ids.end(), first);
    return ids;
}

/// A cache over a fake whose sequences take one byte a token.
struct Bench
{
    explicit Bench(std::int64_t capacityBytes, std::optional<std::int64_t> forkReach = std::nullopt)
        : backend({.vocabSize = 1000, .forkReach = forkReach}, settlingModel(1000), log), cache(backend, capacityBytes)
    {
    }

    void store(const Ids &ids)
    {
        const std::unique_ptr<Sequence> sequence = backend.newSequence();
        backend.encode(*sequence, ids, {});
        cache.store(*sequence, ids);
    }
    std::int64_t matched(const Ids &prompt)
    {
        const PrefixCache::Match match = cache.longestPrefix(prompt);
        return match.sequence->length() == match.length ? match.length : -1;
    }

    std::shared_ptr<FakeLog> log = std::make_shared<FakeLog>();
    FakeBackend backend;
    PrefixCache cache;
};

} // namespace

class TestPrefixCache : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void emptyCacheGivesAnEmptySequence();
    void theLongestCommonBeginningWins();
    void nothingInCommonIsNoMatch();
    void aMatchIsAtMostThePrompt();
    void snapshotsThatCannotBeRestoredAreSkipped();
    void theLeastRecentlyUsedGoesFirst();
    void storingTwiceKeepsOne();
    void whatDoesNotFitIsNotKept();
    void switchedOff();
    void snapshotsAreFreed();
};

void TestPrefixCache::emptyCacheGivesAnEmptySequence()
{
    Bench bench(100);
    QCOMPARE(bench.matched(countingFrom(0, 5)), 0);
    QCOMPARE(bench.matched({}), 0);
}

void TestPrefixCache::theLongestCommonBeginningWins()
{
    Bench bench(1000);
    bench.store(countingFrom(0, 10));
    bench.store(countingFrom(0, 30));
    Ids other = countingFrom(0, 20);
    other.push_back(999);
    bench.store(other);
    QCOMPARE(bench.matched(countingFrom(0, 40)), 30);
    QCOMPARE(bench.matched(countingFrom(0, 25)), 25);
    other.push_back(998);
    QCOMPARE(bench.matched(other), 21);
    QCOMPARE(bench.matched(countingFrom(0, 5)), 5);
}

void TestPrefixCache::nothingInCommonIsNoMatch()
{
    Bench bench(1000);
    bench.store(countingFrom(0, 10));
    QCOMPARE(bench.matched(countingFrom(1, 10)), 0);
}

void TestPrefixCache::aMatchIsAtMostThePrompt()
{
    Bench bench(1000);
    bench.store(countingFrom(0, 10));
    QCOMPARE(bench.matched(countingFrom(0, 10)), 10);
    QCOMPARE(bench.matched(countingFrom(0, 1)), 1);
    QCOMPARE(bench.matched({}), 0);
}

void TestPrefixCache::snapshotsThatCannotBeRestoredAreSkipped()
{
    Bench bench(1000, 3);
    bench.store(countingFrom(0, 30));
    bench.store(countingFrom(0, 12));
    QCOMPARE(bench.matched(countingFrom(0, 20)), 12); // 20 of the long one lies too far back
    QCOMPARE(bench.matched(countingFrom(0, 28)), 28);
    QCOMPARE(bench.matched(countingFrom(0, 10)), 10); // restored from the short one
    QCOMPARE(bench.matched(countingFrom(0, 5)), 0);
}

void TestPrefixCache::theLeastRecentlyUsedGoesFirst()
{
    Bench bench(30);
    bench.store(countingFrom(0, 10));
    bench.store(countingFrom(100, 10));
    bench.store(countingFrom(200, 10));
    QCOMPARE(bench.cache.bytes(), 30);
    QCOMPARE(bench.matched(countingFrom(0, 10)), 10); // used: now the second is the oldest
    bench.store(countingFrom(300, 10));
    QCOMPARE(bench.cache.snapshotCount(), std::size_t{3});
    QCOMPARE(bench.matched(countingFrom(100, 10)), 0);
    QCOMPARE(bench.matched(countingFrom(0, 10)), 10);
    QCOMPARE(bench.matched(countingFrom(200, 10)), 10);
    bench.store(countingFrom(400, 25));
    QCOMPARE(bench.cache.snapshotCount(), std::size_t{1});
    QCOMPARE(bench.cache.bytes(), 25);
}

void TestPrefixCache::storingTwiceKeepsOne()
{
    Bench bench(1000);
    bench.store(countingFrom(0, 10));
    bench.store(countingFrom(0, 10));
    QCOMPARE(bench.cache.snapshotCount(), std::size_t{1});
    QCOMPARE(bench.cache.bytes(), 10);
}

void TestPrefixCache::whatDoesNotFitIsNotKept()
{
    Bench bench(30);
    bench.store(countingFrom(0, 10));
    bench.store(countingFrom(100, 31));
    QCOMPARE(bench.cache.snapshotCount(), std::size_t{1});
    QCOMPARE(bench.matched(countingFrom(0, 10)), 10);
}

void TestPrefixCache::switchedOff()
{
    Bench bench(0);
    bench.store(countingFrom(0, 10));
    QCOMPARE(bench.cache.snapshotCount(), std::size_t{0});
    QCOMPARE(bench.log->counts().forks, 0);
}

void TestPrefixCache::snapshotsAreFreed()
{
    const auto log = [] {
        Bench bench(25);
        for (TokenId first = 0; first < 500; first += 10) {
            bench.store(countingFrom(first, 10));
        }
        return bench.log;
    }();
    QCOMPARE(log->counts().liveSequences, 0);
}

QTEST_GUILESS_MAIN(TestPrefixCache)
#include "tst_prefix_cache.moc"
