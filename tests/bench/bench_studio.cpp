// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// How long the studio's GUI thread is away while canvases run: another thread knocks a thousand times a second, and how
// long it waits for an answer is how long a key would; every event that the GUI thread handles is timed. Beside it,
// what a step costs by itself, and the times between two frames on the screen.
//
// Usage: bench_studio [RUNS] [MILLISECONDS A STEP]
//
// A scripted model gives steps of 256 positions whose words change at every step, the worst case; 0 ms a step are more
// steps than any display shows. Under Xvfb with QT_QUICK_BACKEND=software everything is drawn by the CPU, on the GUI
// thread.

#include "app/studio/draft_view.h"
#include "tests/app/studio/studio_bench.h"
#include "tests/bench/timings.h"

#include <QElapsedTimer>
#include <QEventLoop>
#include <QGuiApplication>
#include <QQuickWindow>
#include <QTest>
#include <QTimer>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::bench;

namespace {

/// Times every event that the GUI thread handles.
class TimedApplication : public QGuiApplication
{
public:
    using QGuiApplication::QGuiApplication;

    bool notify(QObject *receiver, QEvent *event) override
    {
        if (!counting || m_depth > 0)
            return QGuiApplication::notify(receiver, event);
        ++m_depth;
        QElapsedTimer timer;
        timer.start();
        const double computed = computedMs();
        const QByteArray name(receiver->metaObject()->className());
        const bool handled = QGuiApplication::notify(receiver, event);
        events.push_back(milliseconds(timer));
        computedFor.push_back(computedMs() - computed);
        if (computedFor.back() > 16.0)
            std::printf("  %.1f ms: event %d of %s\n", computedFor.back(), int(event->type()), name.constData());
        --m_depth;
        return handled;
    }

    Times events;
    Times computedFor; ///< the same, without what other programs took meanwhile
    bool counting = false;

private:
    int m_depth = 0;
};

/// Knocks at the GUI thread from a thread of its own, and times the answers. One knock at a time.
class Knocks : public QObject
{
public:
    Knocks() : m_thread([this](const std::stop_token &stop) { run(stop); }) {}

    Times waits; ///< ms; while `counting`
    bool counting = false;

protected:
    void customEvent(QEvent *) override
    {
        if (counting)
            waits.push_back(milliseconds(m_knocked));
        m_isAnswered = true;
    }

private:
    void run(const std::stop_token &stop)
    {
        while (!stop.stop_requested()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            if (!m_isAnswered.exchange(false))
                continue;
            m_knocked.start();
            QCoreApplication::postEvent(this, new QEvent(QEvent::User));
        }
    }

    QElapsedTimer m_knocked;
    std::atomic<bool> m_isAnswered = true;
    std::jthread m_thread; // last: it is to end before what it uses
};

/// With an event loop as the program has one: QTest's own waiting sleeps between its looks.
void waitForEnd(test::StudioBench &bench)
{
    QEventLoop loop;
    QTimer::singleShot(120'000, &loop, [] { qFatal("the run does not end"); });
    QObject::connect(&bench.draft(), &studio::DraftView::runChanged, &loop, [&] {
        if (!bench.draft().running())
            loop.quit();
    });
    if (bench.draft().running())
        loop.exec();
}

} // namespace

int main(int argc, char **argv)
{
    TimedApplication application(argc, argv);
    const int runs = argc > 1 ? std::atoi(argv[1]) : 5;
    const int stepMs = argc > 2 ? std::atoi(argv[2]) : 0;

    test::StudioBench bench(nullptr, 256);
    bench.script->settleWithin(test::StudioScript::kNever);
    bench.script->stepTime(std::chrono::milliseconds(stepMs));
    bench.openDraft(QStringLiteral("The boats came in, and the men went home. ").repeated(40));
    const auto run = [&] {
        bench.key(Qt::Key_A, Qt::ControlModifier);
        bench.draft().rewrite(QStringLiteral("Otherwise."));
        waitForEnd(bench);
        bench.draft().rejectAll();
        QTest::qWait(50);
    };
    run(); // what is made at first use
    bench.page().setEntropyShown(true);

    Times frames;
    QElapsedTimer sinceFrame;
    QObject::connect(&bench.view(), &QQuickWindow::frameSwapped, &bench.view(), [&] {
        if (sinceFrame.isValid())
            frames.push_back(milliseconds(sinceFrame));
        sinceFrame.start();
    });
    Knocks knocks;
    knocks.counting = true;
    application.counting = true;
    std::int64_t steps = 0;
    QElapsedTimer all;
    all.start();
    for (int i = 0; i < runs; ++i) {
        sinceFrame.invalidate();
        run();
        steps += bench.draft().session()->runs().back().figures->steps;
    }
    const double seconds = milliseconds(all) / 1000.0;
    application.counting = false;
    knocks.counting = false;

    // What one step asks of the GUI thread, apart from drawing.
    bench.gate.close();
    bench.key(Qt::Key_A, Qt::ControlModifier);
    bench.draft().rewrite(QStringLiteral("Otherwise."));
    Times costs;
    Times pages;
    for (int i = 0; i < 40; ++i) {
        bench.gate.let(1);
        while (!bench.gate.isWaitedFor()) // the step comes in, and is not looked at yet
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        double before = computedMs();
        QCoreApplication::sendPostedEvents(nullptr, QEvent::MetaCall);
        costs.push_back(computedMs() - before);
        QTest::qWait(20);
        before = computedMs();
        bench.page().setOriginalShown(i % 2 == 0); // all of the page's letters are others
        pages.push_back(computedMs() - before);
    }
    bench.gate.open();

    std::printf("%s, %u threads; Qt %s, %s, %s\n", processorName().constData(), std::thread::hardware_concurrency(),
                qVersion(), qPrintable(QGuiApplication::platformName()), qPrintable(QQuickWindow::sceneGraphBackend()));
    std::printf("%d runs, %lld steps of 256 positions in %.1f s, %d ms a step asked for\n", runs,
                static_cast<long long>(steps), seconds, stepMs);
    print("until a knock is answered", knocks.waits);
    print("an event", application.events);
    print("an event, computing time", application.computedFor);
    print("between two frames", frames);
    print("a step's news, computing time", costs);
    print("a page made anew, computing time", pages);
    return 0;
}
