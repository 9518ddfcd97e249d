// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/session_registry.h"
#include "app/server/live/hub.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace palimpsest {
class EngineHost;
namespace documents {
class DocumentWorker;
}
namespace http {
class Routes;
}
} // namespace palimpsest

namespace palimpsest::live {

/// The live channel as one part of a server: the hub and the documents that are open in it.
///
/// Made, used and destroyed on the server's thread, after the last connection has ended. Its end saves what is not yet
/// saved.
class LiveChannel
{
public:
    /// Neither is owned; both live longer. `version` is the program's.
    LiveChannel(EngineHost &engine, documents::DocumentWorker &store, const QString &version);
    ~LiveChannel();
    LiveChannel(const LiveChannel &) = delete;
    LiveChannel &operator=(const LiveChannel &) = delete;

    /// GET /ws.
    void addTo(http::Routes &routes);
    /// To be called, from any thread and also after this is gone, when somebody else has changed the library.
    [[nodiscard]] std::function<void()> bell() const;
    /// `tell` is called on this thread whenever the library has changed.
    void onLibraryChanged(std::function<void()> tell);
    /// Lines for GET /metrics.
    [[nodiscard]] std::string metrics() const { return prometheusText(m_hub.counters()); }

private:
    struct Bell
    {
        std::mutex mutex;
        Hub *hub = nullptr; ///< null when it is gone
    };

    editing::SessionRegistry m_sessions;
    Hub m_hub;
    std::shared_ptr<Bell> m_bell = std::make_shared<Bell>();
};

} // namespace palimpsest::live
