// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QJsonObject>
#include <QString>

namespace palimpsest::test {

class LiveClient;

/// The draft of the tests of runs, and the span that its wishes name: "quick brown fox".
inline const QString kText = QStringLiteral("The quick brown fox jumps over the lazy dog and runs away.");
inline constexpr int kStart = 4;
inline constexpr int kEnd = 19;

/// The fields of a `run.start` for that span and the seed 7; `more` goes over them.
[[nodiscard]] QJsonObject wish(const QString &document, const char *action, QJsonObject more = {});
/// The fields that name a run's first lane and canvas, and `more`.
[[nodiscard]] QJsonObject place(const QString &run, QJsonObject more = {});
/// What a frame shows of its canvas.
[[nodiscard]] QString shownText(const QJsonObject &frame);

/// Starts a run in a document; its name.
QString startRun(LiveClient &client, const QString &document, const char *action = "renoise",
                 const QJsonObject &more = {});

/// A document with a run that was waited for.
struct EndedRun
{
    explicit EndedRun(LiveClient &client, const char *action = "renoise", const QJsonObject &more = {});

    QString document;
    QString run;
    QJsonObject state;
    QString proposal; ///< "" = it led to none
};

/// A document with a run that is paused before its first step.
struct PausedRun
{
    explicit PausedRun(LiveClient &client, QJsonObject more = {});
    /// Lets the run do one step; its frame.
    QJsonObject step(LiveClient &client);

    QString document;
    QString run;
    int steps = 0;
};

} // namespace palimpsest::test
