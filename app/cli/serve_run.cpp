// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/serve_run.h"

#include "app/documents/document_worker.h"
#include "app/engine_host.h"
#include "app/server/metrics.h"
#include "app/server/service.h"
#include "engine/error.h"

#include <QCoreApplication>
#include <array>
#include <chrono>
#include <clocale>
#include <filesystem>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kStoreName = "documents.sqlite";

/// Qt's event loop on the main thread. The application wants arguments that outlive it, and would take options of its
/// own from the real ones.
class MainLoop
{
public:
    MainLoop() : m_application(m_count, m_arguments.data())
    {
        std::setlocale(LC_NUMERIC, "C"); // Qt has set the person's locale, in which numbers may have commas
    }
    void run(const std::stop_token &stop)
    {
        const std::stop_callback quit(stop, [] { MainLoop::quit(); });
        QCoreApplication::exec();
    }
    /// Any thread; also before run().
    static void quit() { QMetaObject::invokeMethod(QCoreApplication::instance(), "quit", Qt::QueuedConnection); }

private:
    std::array<char, 11> m_name{"palimpsest"};
    std::array<char *, 2> m_arguments{m_name.data(), nullptr};
    int m_count = 1;
    QCoreApplication m_application;
};

/// Says on standard error how the loading goes, and ends the program's loop if it fails.
class LoadReport
{
public:
    void report(const EngineState &state); ///< any thread
    /// Why the model could not be loaded.
    [[nodiscard]] std::optional<Error> failure() const
    {
        const std::lock_guard lock(m_mutex);
        return m_failure;
    }

private:
    mutable std::mutex m_mutex; // guards all below
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
    int m_tenth = 0;
    bool m_done = false;
    std::optional<Error> m_failure;
};

void LoadReport::report(const EngineState &state)
{
    const std::lock_guard lock(m_mutex);
    if (m_done && state.phase != EngineState::Phase::Failed)
        return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
    switch (state.phase) {
    case EngineState::Phase::Loading:
        if (const int tenth = static_cast<int>(state.progress * 10.0); tenth > m_tenth && seconds > 1.0) {
            m_tenth = tenth;
            printNote(fmt::format("loading the model: {} %", 10 * tenth));
        }
        return;
    case EngineState::Phase::Ready:
        m_done = true;
        printNote(fmt::format("ready after {:.1f} s: {} on {}, {} tokens of context", seconds, state.model->id,
                              state.model->backend.deviceName, state.model->contextLength));
        return;
    case EngineState::Phase::Failed:
        if (m_failure || !state.error)
            return;
        if (m_done) { // it served before: /health says so, and whoever watches it decides
            printNote(state.error->what());
            return;
        }
        m_failure = state.error;
        MainLoop::quit();
        return;
    }
}

/// Says why drafts cannot be kept, if that is so: the endpoint works without them.
void reportStore(documents::DocumentWorker &store)
{
    store.runThen([](documents::DocumentStore &) {},
                  [](std::future<void> opened) {
                      try {
                          opened.get();
                      } catch (const Error &error) {
                          printNote(std::string("drafts cannot be kept: ") + error.what());
                      }
                  });
}

std::string addresses(const std::string &url, bool hasStudio, bool hasKeys)
{
    std::string text = "Palimpsest serves\n  endpoint        " + url + "/v1\n";
    if (hasStudio)
        text += "  browser studio  " + url + "/\n";
    if (hasKeys)
        text += "Both ask for an API key.\n";
    return text + "Ctrl-C stops it.\n";
}

} // namespace

ExitCode runServer(const ServeOptions &options, CommandContext &context)
{
    server::ServiceSettings settings{.server = serverSettings(options), .anyModelName = options.anyModelName};
    const bool hasKeys = !settings.server.access.keys.empty();
    context.interrupts.arm();
    MainLoop loop;
    server::Metrics metrics;
    EngineHost engine(engineLoader({.model = options.model,
                                    .id = options.modelName,
                                    .queueCapacity = options.queue,
                                    .onFinished = [&metrics](const FinishedRun &run) {
                                        metrics.runFinished(run);
                                    }}));
    documents::DocumentWorker store({.file = options.dataDirectory
                                                 ? std::filesystem::path(*options.dataDirectory) / kStoreName
                                                 : documents::DocumentStore::defaultFile()});
    server::Service service({engine, store, metrics}, std::move(settings));
    printResult(addresses(service.server().url(), service.hasStudio(), hasKeys));
    reportStore(store);
    const auto report = std::make_shared<LoadReport>(); // shared: a last call may come when this function has returned
    const auto subscription = engine.observe([report](const EngineState &state) { report->report(state); });
    report->report(engine.state()); // it may have been quick
    loop.run(context.interrupts.token());
    if (const auto failure = report->failure())
        throw Error(*failure);
    return ExitCode::Success;
}

} // namespace palimpsest::cli
