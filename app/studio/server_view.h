// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/metrics.h"
#include "app/studio/post_box.h"

#include <QObject>
#include <QString>
#include <QThread>
#include <QtQml/qqmlregistration.h>

class QSettings;

namespace palimpsest {
class EngineHost;
namespace documents {
class DocumentWorker;
}
} // namespace palimpsest

namespace palimpsest::studio {

class ServerRunner;

/// The local endpoint and the browser studio as the window shows them: on or off, where, for whom, who is there.
///
/// Settings: `server/on` (it was on when the studio ended), `server/port` (8080), `server/key` (the digest of the API
/// key, `sha256:SALT:DIGEST`; absent: none is asked for). A key itself is shown once, and kept nowhere.
///
/// GUI thread. The server works on the engine and the store that the window works on, on threads of its own.
class ServerView : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(State state READ state NOTIFY changed)
    Q_PROPERTY(bool wanted READ wanted WRITE setWanted NOTIFY changed) ///< the switch
    Q_PROPERTY(bool running READ running NOTIFY changed)
    Q_PROPERTY(QString chipText READ chipText NOTIFY changed)           ///< "API 127.0.0.1:8080"
    Q_PROPERTY(QString address READ address NOTIFY changed)             ///< the base URL for programs; "" while off
    Q_PROPERTY(QString studioAddress READ studioAddress NOTIFY changed) ///< "" while off, or in a build without it
    Q_PROPERTY(QString noteText READ noteText NOTIFY changed)           ///< "Port 8080 is taken, so ..."
    Q_PROPERTY(QString problemText READ problemText NOTIFY changed)
    Q_PROPERTY(QString clientsText READ clientsText NOTIFY clientsChanged)
    Q_PROPERTY(int port READ port WRITE setPort NOTIFY changed) ///< the one to begin with
    Q_PROPERTY(bool hasKey READ hasKey NOTIFY changed)
    Q_PROPERTY(QString newKey READ newKey NOTIFY changed) ///< the key just made, until it is hidden; else ""

public:
    enum class State { Off, Starting, On, Stopping, Failed };
    Q_ENUM(State)

    /// Nothing is owned; `settings` may be null: nothing is remembered.
    ServerView(EngineHost &engine, documents::DocumentWorker &store, server::Metrics &metrics, QSettings *settings,
               QObject *parent = nullptr);
    ~ServerView() override; ///< ends the server, waiting for it

    [[nodiscard]] State state() const noexcept { return m_state; }
    [[nodiscard]] bool wanted() const noexcept { return m_wanted; }
    void setWanted(bool wanted);
    [[nodiscard]] bool running() const noexcept { return m_state == State::On; }
    [[nodiscard]] QString chipText() const;
    [[nodiscard]] QString address() const;
    [[nodiscard]] QString studioAddress() const;
    [[nodiscard]] QString noteText() const;
    [[nodiscard]] QString problemText() const { return m_problem; }
    [[nodiscard]] QString clientsText() const;
    [[nodiscard]] int port() const noexcept { return m_port; }
    void setPort(int port);
    [[nodiscard]] bool hasKey() const noexcept { return !m_storedKey.isEmpty(); }
    [[nodiscard]] QString newKey() const { return m_newKey; }

    /// Makes a key, which everyone needs from now on; the one before is no longer good.
    Q_INVOKABLE void makeKey();
    Q_INVOKABLE void dropKey();                 ///< nobody needs one any more
    Q_INVOKABLE void hideKey();                 ///< it is not shown any more
    Q_INVOKABLE void copy(const QString &text); ///< to the clipboard

    /// Switches it on if it was on when the studio ended.
    void restore();
    /// Tells browsers that the window has changed the library.
    void ringLibrary();

Q_SIGNALS:
    void changed();
    void clientsChanged();
    /// A browser has changed the library.
    void libraryChanged();

private:
    void start();
    void stop();
    void restartIfOn();
    void remember(const QString &key, const QVariant &value);
    void onStarted(const QString &url, int port, bool hasStudio);
    void onFailed(const QString &message);
    void onStopped();

    QSettings *m_settings;
    QThread m_thread;
    http::CallQueue m_orders; ///< for the runner; lives on m_thread
    ServerRunner *m_runner;   ///< lives on m_thread, and ends with it
    State m_state = State::Off;
    bool m_wanted = false;
    int m_port;
    int m_boundPort = 0;
    QString m_url;
    bool m_hasStudio = false;
    QString m_problem;
    QString m_storedKey;
    QString m_newKey;
    int m_connections = 0;
    int m_windows = 0;
    PostBox m_box;
};

} // namespace palimpsest::studio
