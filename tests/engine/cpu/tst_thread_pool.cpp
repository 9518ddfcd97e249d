// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/cpu/thread_pool.h"
#include "engine/error.h"

#include <QTest>

#include <atomic>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::cpu;

class TestThreadPool : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void runsEveryItemOnce_data();
    void runsEveryItemOnce();
    void rethrowsAndGoesOn();
};

void TestThreadPool::runsEveryItemOnce_data()
{
    QTest::addColumn<int>("threads");
    QTest::newRow("one") << 1;
    QTest::newRow("two") << 2;
    QTest::newRow("more than cores") << 7;
}

void TestThreadPool::runsEveryItemOnce()
{
    QFETCH(int, threads);
    ThreadPool pool(threads);
    QCOMPARE(pool.threadCount(), threads);
    for (const std::int64_t count : {0, 1, 2, 3, 100, 1000}) {
        for (int round = 0; round < 50; ++round) {
            std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
            std::atomic<bool> workersAreKnown{true};
            pool.run(count, [&](std::int64_t item, int worker) {
                seen[static_cast<std::size_t>(item)].fetch_add(1);
                if (worker < 0 || worker >= threads)
                    workersAreKnown = false;
            });
            QVERIFY(workersAreKnown);
            for (const std::atomic<int> &times : seen)
                QCOMPARE(times.load(), 1);
        }
    }
}

void TestThreadPool::rethrowsAndGoesOn()
{
    ThreadPool pool(3);
    for (int round = 0; round < 20; ++round) {
        QVERIFY_EXCEPTION_THROWN(pool.run(100,
                                          [](std::int64_t item, int) {
                                              if (item == 57)
                                                  throw Error(ErrorKind::Backend, "item 57");
                                          }),
                                 Error);
        std::atomic<int> done{0};
        pool.run(100, [&](std::int64_t, int) { done.fetch_add(1); });
        QCOMPARE(done.load(), 100);
    }
}

QTEST_GUILESS_MAIN(TestThreadPool)
#include "tst_thread_pool.moc"
