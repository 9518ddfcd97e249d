// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_run.h"

#include "tests/app/server/live/live_client.h"

#include <QJsonArray>

#include <utility>

namespace palimpsest::test {

namespace {

bool isFrameOf(const QJsonObject &message, const QString &run, int step)
{
    return message.value(u"run").toString() == run && message.value(u"lane").toInt() == 0 &&
           message.value(u"step").toInt() == step;
}

} // namespace

QJsonObject wish(const QString &document, const char *action, QJsonObject more)
{
    more.insert(QStringLiteral("document"), document);
    more.insert(QStringLiteral("action"), QLatin1String(action));
    for (const auto &[name, value] : {std::pair("version", 0), {"start", kStart}, {"end", kEnd}, {"seed", 7}}) {
        if (!more.contains(QLatin1String(name)))
            more.insert(QLatin1String(name), value);
    }
    return more;
}

QJsonObject place(const QString &run, QJsonObject more)
{
    more.insert(QStringLiteral("run"), run);
    more.insert(QStringLiteral("lane"), 0);
    more.insert(QStringLiteral("canvas"), 0);
    return more;
}

QString shownText(const QJsonObject &frame)
{
    const QJsonArray texts = frame.value(u"text").toArray();
    const QJsonArray show = frame.value(u"show").toArray();
    QString shown;
    for (int i = show.at(0).toInt(); i < show.at(1).toInt(); ++i)
        shown += texts.at(i).toString();
    return shown;
}

QString startRun(LiveClient &client, const QString &document, const char *action, const QJsonObject &more)
{
    return client.demand("run.start", wish(document, action, more)).value(u"run").toString();
}

EndedRun::EndedRun(LiveClient &client, const char *action, const QJsonObject &more)
    : document(client.openNew(kText)),
      run(startRun(client, document, action, more)),
      state(client.waitForEnd(run)),
      proposal(state.value(u"proposal").toString())
{
}

PausedRun::PausedRun(LiveClient &client, QJsonObject more)
{
    document = client.openNew(kText);
    more.insert(QStringLiteral("paused"), true);
    run = startRun(client, document, "renoise", more);
}

QJsonObject PausedRun::step(LiveClient &client)
{
    client.demand("run.step", {{"run", run}});
    ++steps;
    return client.waitFor("frame", [this](const QJsonObject &frame) { return isFrameOf(frame, run, steps); });
}

} // namespace palimpsest::test
