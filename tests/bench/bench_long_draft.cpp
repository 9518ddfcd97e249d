// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What a draft as long as a book costs the studio's GUI thread: opening it, a key, a step of a run and a frame; and how
// much of it comes in one turn of the event loop, between two looks at the keyboard.
//
// Usage: bench_long_draft [WORDS]
//
// Times are what the GUI thread computed, so that other programs do not count.

#include "app/studio/draft_view.h"
#include "tests/app/studio/studio_bench.h"
#include "tests/bench/timings.h"

#include <QElapsedTimer>
#include <QEventLoop>
#include <QGuiApplication>
#include <QQuickItem>
#include <QQuickWindow>
#include <QSignalSpy>
#include <QTimer>

#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace palimpsest;
using namespace palimpsest::bench;

namespace {

constexpr int kKeys = 60;
constexpr int kSteps = 40; // a canvas has at most 48

/// Paragraphs of some eighty words.
QString bookOf(int words)
{
    const QString sentence = QStringLiteral("The boats came in before dawn, and the men went home along the wall. ");
    const QString paragraph = sentence.repeated(6).trimmed() + QStringLiteral("\n\n");
    return paragraph.repeated(words / (6 * 14) + 1).trimmed();
}

/// What the GUI thread computes for a letter, without the frame that shows it.
double typedMs(test::StudioBench &bench)
{
    const double before = computedMs();
    bench.type(QStringLiteral("e"));
    QCoreApplication::sendPostedEvents(nullptr, QEvent::MetaCall);
    return computedMs() - before;
}

/// Opens a draft as the library does, and goes on until all of it is on the page.
void open(test::StudioBench &bench, const QString &text, const char *what)
{
    QEventLoop loop;
    QObject::connect(&bench.page(), &studio::PageText::shownChanged, &loop, [&] {
        if (bench.page().isWhole() && bench.page().shown().text().size() == text.size())
            loop.quit();
    });
    QElapsedTimer timer;
    timer.start();
    const double before = computedMs();
    Turns turns;
    QTimer::singleShot(0, &loop, [&] { bench.window->studio().library()->create(QStringLiteral("Letter"), text); });
    loop.exec();
    spin(2 * studio::PageText::kFrameMs); // the frame of it
    std::printf("%-34s %.0f ms, of which %.1f are computed\n", what, milliseconds(timer), computedMs() - before);
    print("  a turn", turns.times);
}

double frameMs(test::StudioBench &bench)
{
    const double before = computedMs();
    bench.waitForFrame();
    return computedMs() - before;
}

void typeAt(test::StudioBench &bench, qsizetype place, const char *where)
{
    bench.placeCaret(place);
    bench.waitForFrame();
    Times keys;
    Times frames;
    for (int i = 0; i < kKeys; ++i) {
        keys.push_back(typedMs(bench));
        frames.push_back(frameMs(bench));
    }
    print((std::string("a key ") + where).c_str(), keys);
    print("  its frame", frames);
}

/// A sentence in the middle is written anew, and never settles.
void runAt(test::StudioBench &bench, qsizetype place)
{
    bench.script->settleWithin(test::StudioScript::kNever);
    bench.gate.close();
    QMetaObject::invokeMethod(bench.editor(), "select", Q_ARG(int, int(place)), Q_ARG(int, int(place) + 400));
    {
        Turns turns;
        QTimer::singleShot(0, &bench.view(), [&] { bench.draft().rewrite(QStringLiteral("Otherwise.")); });
        spin(4 * studio::PageText::kFrameMs);
        print("a run begins, a turn", turns.times);
    }
    Times news;
    Times turnTimes;
    for (int i = 0; i < kSteps; ++i) {
        bench.gate.let(1);
        while (!bench.gate.isWaitedFor()) // the step comes in, and is not looked at yet
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const double before = computedMs();
        QCoreApplication::sendPostedEvents(nullptr, QEvent::MetaCall);
        news.push_back(computedMs() - before);
        const Turns turns;
        spin(2 * studio::PageText::kFrameMs);
        turnTimes.insert(turnTimes.end(), turns.times.begin(), turns.times.end());
    }
    print("a step's news", news);
    print("  a turn: the page, its frame", turnTimes);
    Times keys;
    bench.placeCaret(10);
    bench.waitForFrame();
    for (int i = 0; i < kKeys; ++i) {
        keys.push_back(typedMs(bench));
        bench.waitForFrame();
    }
    print("a key while it runs", keys);
    bench.gate.open();
}

} // namespace

int main(int argc, char **argv)
{
    const QGuiApplication application(argc, argv);
    const int words = argc > 1 ? std::atoi(argv[1]) : 120'000;
    test::StudioBench bench(nullptr, 256);
    const QString text = bookOf(words);
    std::printf("%s; Qt %s, %s, %s\n", processorName().constData(), qVersion(),
                qPrintable(QGuiApplication::platformName()), qPrintable(QQuickWindow::sceneGraphBackend()));
    std::printf("%d words, %lld KB\n", words, static_cast<long long>(text.toUtf8().size() / 1000));

    bench.openDraft(QStringLiteral("A short one.")); // what is made at first use
    bench.waitForFrame();
    open(bench, text, "opened");
    open(bench, QStringLiteral("Another short one."), "a short one instead");
    open(bench, text, "opened again");
    bench.editor()->forceActiveFocus();

    typeAt(bench, text.size() / 2, "in the middle");
    typeAt(bench, 10, "at the beginning");
    typeAt(bench, bench.pageText().size(), "at the end");
    runAt(bench, text.size() / 2);
    return 0;
}
