// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QObject>
#include <deque>
#include <functional>
#include <mutex>

namespace palimpsest::http {

/// Runs functions on the thread that it lives on, one after the other.
///
/// They are handed over under a mutex of ours, and Qt's queue carries nothing but the wake-up: what goes from thread to
/// thread inside Qt is out of the thread sanitizer's sight, and it would report all of it.
class CallQueue : public QObject
{
    Q_OBJECT

public:
    void post(std::function<void()> call); ///< any thread; a call must not throw
    /// Runs it there, and waits; passes on what it throws. Not from that thread itself.
    void runAndWait(const std::function<void()> &call);

private:
    Q_INVOKABLE void runAll();

    std::mutex m_mutex;
    std::deque<std::function<void()>> m_calls; ///< guarded by m_mutex
};

} // namespace palimpsest::http
