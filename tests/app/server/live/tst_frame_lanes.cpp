// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/frame_lanes.h"

#include <QTest>

using namespace palimpsest::live;

namespace {

const LaneKey kLane{.run = QStringLiteral("r"), .lane = 0};
const LaneKey kOther{.run = QStringLiteral("r"), .lane = 1};

} // namespace

class TestFrameLanes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingIsDueBeforeItIsOffered();
    void newerOnesReplaceEachOther();
    void twoUnconfirmedAreEnough();
    void aConfirmationCoversTheEarlierOnes();
    void lanesDoNotHoldEachOtherUp();
    void noFrameGoesBack();
    void noFrameOfASettledCanvas();
    void forgottenRunsLeaveNothing();
};

void TestFrameLanes::nothingIsDueBeforeItIsOffered()
{
    FrameLanes lanes;
    QVERIFY(!lanes.isDue(kLane));
    QVERIFY(lanes.due().empty());
    lanes.confirm(kLane, {.canvas = 0, .step = 3}); // of a run that it never heard of
    QVERIFY(lanes.due().empty());
}

void TestFrameLanes::newerOnesReplaceEachOther()
{
    FrameLanes lanes;
    for (int step = 1; step <= 5; ++step)
        lanes.offer(kLane);
    QCOMPARE(lanes.due().size(), std::size_t{1});
    QCOMPARE(lanes.skipped(), std::uint64_t{4});
    QVERIFY(lanes.take(kLane, {.canvas = 0, .step = 5}));
    QVERIFY(!lanes.isDue(kLane));
}

void TestFrameLanes::twoUnconfirmedAreEnough()
{
    FrameLanes lanes;
    for (int step = 1; step <= 2; ++step) {
        lanes.offer(kLane);
        QVERIFY(lanes.isDue(kLane));
        QVERIFY(lanes.take(kLane, {.canvas = 0, .step = step}));
    }
    lanes.offer(kLane);
    QVERIFY(!lanes.isDue(kLane));
    lanes.confirm(kLane, {.canvas = 0, .step = 1});
    QVERIFY(lanes.isDue(kLane));
}

void TestFrameLanes::aConfirmationCoversTheEarlierOnes()
{
    FrameLanes lanes;
    for (int step = 1; step <= 2; ++step) {
        lanes.offer(kLane);
        QVERIFY(lanes.take(kLane, {.canvas = 0, .step = step}));
    }
    lanes.confirm(kLane, {.canvas = 1, .step = 1}); // a later canvas: all of this one
    for (int step = 3; step <= 4; ++step) {
        lanes.offer(kLane);
        QVERIFY(lanes.isDue(kLane));
        QVERIFY(lanes.take(kLane, {.canvas = 1, .step = step}));
    }
    lanes.offer(kLane);
    lanes.confirm(kLane, {.canvas = 1, .step = 2}); // none of those that are out
    QVERIFY(!lanes.isDue(kLane));
}

void TestFrameLanes::lanesDoNotHoldEachOtherUp()
{
    FrameLanes lanes;
    for (int step = 1; step <= 2; ++step) {
        lanes.offer(kLane);
        QVERIFY(lanes.take(kLane, {.canvas = 0, .step = step}));
    }
    lanes.offer(kLane);
    lanes.offer(kOther);
    QCOMPARE(lanes.due(), std::vector{kOther});
}

void TestFrameLanes::noFrameGoesBack()
{
    FrameLanes lanes;
    lanes.offer(kLane);
    QVERIFY(lanes.take(kLane, {.canvas = 1, .step = 2}));
    lanes.offer(kLane);
    QVERIFY(!lanes.take(kLane, {.canvas = 1, .step = 2}));
    QVERIFY(!lanes.isDue(kLane)); // until there is news again
    lanes.offer(kLane);
    QVERIFY(!lanes.take(kLane, {.canvas = 0, .step = 9}));
    lanes.offer(kLane);
    QVERIFY(lanes.take(kLane, {.canvas = 2, .step = 1}));
}

void TestFrameLanes::noFrameOfASettledCanvas()
{
    FrameLanes lanes;
    lanes.offer(kLane);
    lanes.settle(kLane, 0);
    QVERIFY(!lanes.isDue(kLane));
    lanes.offer(kLane);
    QVERIFY(!lanes.take(kLane, {.canvas = 0, .step = 48}));
    lanes.offer(kLane);
    QVERIFY(lanes.take(kLane, {.canvas = 1, .step = 1}));
}

void TestFrameLanes::forgottenRunsLeaveNothing()
{
    FrameLanes lanes;
    lanes.offer(kLane);
    lanes.offer(kOther);
    lanes.offer({.run = QStringLiteral("s"), .lane = 0});
    lanes.forget(QStringLiteral("r"));
    QCOMPARE(lanes.due(), (std::vector{LaneKey{.run = QStringLiteral("s"), .lane = 0}}));
}

QTEST_APPLESS_MAIN(TestFrameLanes)
#include "tst_frame_lanes.moc"
