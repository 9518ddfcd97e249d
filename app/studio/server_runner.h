// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/service.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <memory>

namespace palimpsest::studio {

/// Starts and stops the service, which waits for sockets and for the disk: so it lives on a thread of its own, and the
/// window does not wait. Calls come as queued ones.
class ServerRunner : public QObject
{
    Q_OBJECT

public:
    /// What `parts` names lives longer.
    explicit ServerRunner(server::ServiceParts parts);
    ~ServerRunner() override;

    void start(server::ServiceSettings settings); ///< ends in `started` or `failed`; one that runs is stopped before
    void stop();                                  ///< ends in `stopped`
    void ringLibrary();                           ///< the window has changed the library

Q_SIGNALS:
    void started(const QString &url, int port, bool hasStudio);
    void stopped();
    void failed(const QString &message);
    void clientsChanged(int connections, int windows); ///< of programs; of browsers with a live channel

private:
    void count();

    server::ServiceParts m_parts;
    std::unique_ptr<server::Service> m_service;
    QTimer m_counting{this}; // a child, so that it moves with this
    int m_connections = 0;
    int m_windows = 0;
};

} // namespace palimpsest::studio
