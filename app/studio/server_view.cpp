// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/server_view.h"

#include "app/studio/server_runner.h"
#include "engine/error.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QSettings>

#include <utility>

namespace palimpsest::studio {

namespace {

constexpr int kLastPort = 65535;
constexpr QLatin1String kOn("server/on");
constexpr QLatin1String kPort("server/port");
constexpr QLatin1String kKey("server/key");

} // namespace

ServerView::ServerView(EngineHost &engine, documents::DocumentWorker &store, server::Metrics &metrics,
                       QSettings *settings, QObject *parent)
    : QObject(parent), m_settings(settings), m_port(server::ServerSettings::kDefaultPort)
{
    if (m_settings != nullptr) {
        if (const int port = m_settings->value(kPort).toInt(); port > 0 && port <= kLastPort)
            m_port = port;
        m_storedKey = m_settings->value(kKey).toString();
    }
    const auto tell = [this, post = m_box.sender()] {
        post([this] { Q_EMIT libraryChanged(); });
    };
    m_runner = new ServerRunner({.engine = engine, .store = store, .metrics = metrics, .libraryChanged = tell});
    m_runner->moveToThread(&m_thread);
    m_orders.moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_runner, &QObject::deleteLater);
    connect(m_runner, &ServerRunner::started, this, &ServerView::onStarted);
    connect(m_runner, &ServerRunner::failed, this, &ServerView::onFailed);
    connect(m_runner, &ServerRunner::stopped, this, &ServerView::onStopped);
    connect(m_runner, &ServerRunner::clientsChanged, this, [this](int connections, int windows) {
        m_connections = connections;
        m_windows = windows;
        Q_EMIT clientsChanged();
    });
    m_thread.setObjectName(QStringLiteral("server owner"));
    m_thread.start();
}

ServerView::~ServerView()
{
    m_orders.runAndWait([this] { m_runner->stop(); });
    m_thread.quit();
    m_thread.wait();
}

void ServerView::setWanted(bool wanted)
{
    if (wanted == m_wanted)
        return;
    m_wanted = wanted;
    remember(kOn, wanted);
    if (wanted)
        start();
    else
        stop();
}

void ServerView::start()
{
    server::ServiceSettings settings;
    settings.server.port = static_cast<std::uint16_t>(m_port);
    settings.server.portTaken = server::PortTaken::UseNext; // F075: the studio opens whatever another program holds
    try {
        if (!m_storedKey.isEmpty())
            settings.server.access.keys.addStored(m_storedKey.toStdString(), "server/key in the settings file");
    } catch (const Error &error) {
        onFailed(QString::fromUtf8(error.what())); // better off than open to everybody
        return;
    }
    m_state = State::Starting;
    m_problem.clear();
    m_orders.post([runner = m_runner, settings = std::move(settings)] { runner->start(settings); });
    Q_EMIT changed();
}

void ServerView::stop()
{
    m_state = State::Stopping;
    m_problem.clear();
    m_orders.post([runner = m_runner] { runner->stop(); });
    Q_EMIT changed();
}

void ServerView::restartIfOn()
{
    if (m_wanted)
        start();
    Q_EMIT changed();
}

void ServerView::onStarted(const QString &url, int port, bool hasStudio)
{
    if (!m_wanted)
        return; // switched off meanwhile: `stopped` comes
    m_url = url;
    m_boundPort = port;
    m_hasStudio = hasStudio;
    m_state = State::On;
    Q_EMIT changed();
}

void ServerView::onFailed(const QString &message)
{
    m_problem = message;
    m_wanted = false;
    m_state = State::Failed;
    Q_EMIT changed();
}

void ServerView::onStopped()
{
    if (m_wanted)
        return; // switched on again meanwhile: `started` comes
    m_state = State::Off;
    m_connections = m_windows = 0;
    Q_EMIT changed();
    Q_EMIT clientsChanged();
}

QString ServerView::chipText() const
{
    switch (m_state) {
    case State::On:
        return tr("API %1").arg(m_url.mid(m_url.indexOf(QStringLiteral("//")) + 2));
    case State::Starting:
        return tr("API starts…");
    case State::Failed:
        return tr("API failed");
    case State::Off:
    case State::Stopping:
        break;
    }
    return tr("API off");
}

QString ServerView::address() const
{
    return running() ? m_url + QStringLiteral("/v1") : QString();
}

QString ServerView::studioAddress() const
{
    return running() && m_hasStudio ? m_url + u'/' : QString();
}

QString ServerView::noteText() const
{
    if (running() && m_boundPort != m_port)
        return tr("Another program has port %1, so this is port %2.").arg(m_port).arg(m_boundPort);
    return {};
}

QString ServerView::clientsText() const
{
    if (!running())
        return {};
    QStringList parts;
    if (m_windows > 0)
        parts << tr("%n browser window(s)", nullptr, m_windows);
    if (m_connections > 0)
        parts << tr("%n other connection(s)", nullptr, m_connections);
    return parts.isEmpty() ? tr("Nobody is connected.") : parts.join(QStringLiteral(", "));
}

void ServerView::setPort(int port)
{
    if (port == m_port || port < 1 || port > kLastPort)
        return;
    m_port = port;
    remember(kPort, port);
    restartIfOn();
}

void ServerView::makeKey()
{
    const std::string key = http::ApiKeys::freshKey();
    m_storedKey = QString::fromStdString(http::ApiKeys::storedForm(key));
    m_newKey = QString::fromStdString(key);
    remember(kKey, m_storedKey);
    restartIfOn();
}

void ServerView::dropKey()
{
    m_storedKey.clear();
    m_newKey.clear();
    remember(kKey, {});
    restartIfOn();
}

void ServerView::hideKey()
{
    m_newKey.clear();
    Q_EMIT changed();
}

void ServerView::copy(const QString &text)
{
    QGuiApplication::clipboard()->setText(text);
}

void ServerView::restore()
{
    if (m_settings != nullptr && m_settings->value(kOn).toBool())
        setWanted(true);
}

void ServerView::ringLibrary()
{
    m_orders.post([runner = m_runner] { runner->ringLibrary(); });
}

void ServerView::remember(const QString &key, const QVariant &value)
{
    if (m_settings == nullptr)
        return;
    if (value.isValid())
        m_settings->setValue(key, value);
    else
        m_settings->remove(key);
}

} // namespace palimpsest::studio
