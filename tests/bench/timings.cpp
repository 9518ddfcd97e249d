// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/bench/timings.h"

#include <QAbstractEventDispatcher>
#include <QEventLoop>
#include <QFile>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace palimpsest::bench {

double milliseconds(const QElapsedTimer &timer)
{
    return static_cast<double>(timer.nsecsElapsed()) * 1e-6;
}

double computedMs()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

Turns::Turns()
{
    connect(QAbstractEventDispatcher::instance(), &QAbstractEventDispatcher::awake, this, [this] {
        times.push_back(computedMs() - m_before);
        m_before = computedMs();
    });
}

void spin(int forMs)
{
    QEventLoop loop;
    QTimer::singleShot(forMs, &loop, &QEventLoop::quit);
    loop.exec();
}

void print(const char *what, Times times)
{
    if (times.empty()) {
        std::printf("%-34s no samples\n", what);
        return;
    }
    std::sort(times.begin(), times.end());
    const auto at = [&](double share) {
        return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
    };
    const auto late = std::count_if(times.begin(), times.end(), [](double ms) { return ms > 16.0; });
    std::printf("%-34s %7zu  median %7.3f  99 %% %7.3f  worst %7.3f ms  over 16 ms: %td\n", what, times.size(), at(0.5),
                at(0.99), times.back(), late);
}

QByteArray processorName()
{
    QFile file(QStringLiteral("/proc/cpuinfo"));
    if (file.open(QIODevice::ReadOnly)) {
        for (const QByteArray &line : file.readAll().split('\n')) {
            if (line.startsWith("model name"))
                return line.mid(line.indexOf(':') + 1).trimmed();
        }
    }
    return "unknown";
}

} // namespace palimpsest::bench
