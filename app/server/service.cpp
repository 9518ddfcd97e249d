// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/service.h"

#include "app/engine_host.h"
#include "app/server/drafts/document_routes.h"
#include "app/server/live/live_channel.h"
#include "app/server/openai/endpoint.h"
#include "app/server/status_routes.h"
#include "app/server/web_files.h"
#include "app/version.h"
#include "resources/web/web_studio.h"

#include <spdlog/spdlog.h>
#include <utility>

namespace palimpsest::server {

Service::Service(const ServiceParts &parts, ServiceSettings settings)
    : m_endpoint(std::make_unique<openai::Endpoint>(parts.engine,
                                                    openai::EndpointSettings{.serveAnyName = settings.anyModelName}))
{
    settings.server.served = [&metrics = parts.metrics](const http::Served &served) {
        spdlog::debug("{} {} {} after {:.1f} ms", served.method, served.route.empty() ? "-" : served.route,
                      served.status, served.milliseconds);
        metrics.requestServed(served);
    };
    m_server = std::make_unique<Server>(
        std::move(settings.server), [&](http::Routes &routes, const auto &figures) -> std::shared_ptr<void> {
            const auto channel =
                std::make_shared<live::LiveChannel>(parts.engine, parts.store, QString::fromLatin1(kVersion));
            channel->addTo(routes);
            if (parts.libraryChanged)
                channel->onLibraryChanged(parts.libraryChanged);
            m_libraryBell = channel->bell();
            addStatusRoutes(routes, parts.engine, parts.metrics, figures,
                            [&live = *channel] { return live.metrics(); });
            documents::addDocumentRoutes(routes, parts.store,
                                         [ring = m_libraryBell](const documents::DocumentSummary &) { ring(); });
            m_endpoint->addTo(routes);
            m_hasStudio = addWebFiles(routes, webStudioFolder());
            return channel;
        });
}

Service::~Service() = default;

} // namespace palimpsest::server
