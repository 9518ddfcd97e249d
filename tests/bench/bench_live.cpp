// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_worker.h"
#include "app/editing/run_plan.h"
#include "app/engine_host.h"
#include "app/server/live/run_messages.h"
#include "app/server/openai/prepared_answer.h"
#include "app/server/service.h"
#include "tests/app/server/live/live_client.h"

#include <QCoreApplication>
#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QNetworkRequest>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

// What serving costs a denoising step of the demo model: two requests run in one batch, first handed to the desk and
// watched by nobody, then the very same two as a run of a draft that a window watches at its WebSocket and as a chat
// that streams its drafts. The clients are in this process, so that their time counts as well where the backend leaves
// no processor to them. Beside it: bytes and time of a frame. Usage: bench_live [ROUNDS]

using namespace palimpsest;
using namespace palimpsest::test;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kSteps = 48;
constexpr int kThreads = 2;
constexpr int kPatienceMs = 300'000;
const QString kText = QStringLiteral("The harbour lay still that morning, and the boats that had come in at night were "
                                     "being unloaded by men who did not speak.");

double milliseconds(Clock::duration duration)
{
    return std::chrono::duration<double, std::milli>(duration).count();
}

double median(std::vector<double> values)
{
    if (values.empty())
        return 0.0;
    std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
    return values[values.size() / 2];
}

/// What the server's thread has computed so far.
double serverThreadMs()
{
    double sum = 0.0;
    for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::ifstream(task.path() / "comm") >> name;
        std::int64_t nanoseconds = 0;
        std::ifstream(task.path() / "schedstat") >> nanoseconds;
        if (name == "server")
            sum += 1e-6 * static_cast<double>(nanoseconds);
    }
    return sum;
}

/// Whole steps of two full canvases: from the end of one pass to the end of the next, so with all that the scheduler
/// and its observers do between them.
class StepTimes
{
public:
    void pass(std::size_t jobs, Clock::time_point begin, Clock::time_point end)
    {
        const std::lock_guard lock(m_mutex);
        if (jobs == 2 && m_lastJobs == 2) {
            m_steps.push_back(milliseconds(end - m_lastEnd));
            m_passes.push_back(milliseconds(end - begin));
        }
        m_lastJobs = jobs;
        m_lastEnd = end;
    }
    /// Steps and the backend's part of them, since the last call.
    [[nodiscard]] std::pair<std::vector<double>, std::vector<double>> take()
    {
        const std::lock_guard lock(m_mutex);
        m_lastJobs = 0;
        return {std::exchange(m_steps, {}), std::exchange(m_passes, {})};
    }

private:
    std::mutex m_mutex;
    std::size_t m_lastJobs = 0;
    Clock::time_point m_lastEnd;
    std::vector<double> m_steps;
    std::vector<double> m_passes;
};

class TimedBackend : public Backend
{
public:
    TimedBackend(std::unique_ptr<Backend> inner, StepTimes &times) : m_inner(std::move(inner)), m_times(times) {}

    [[nodiscard]] const ModelConfig &config() const noexcept override { return m_inner->config(); }
    [[nodiscard]] const BackendInfo &info() const noexcept override { return m_inner->info(); }
    [[nodiscard]] std::unique_ptr<Sequence> newSequence() override { return m_inner->newSequence(); }
    [[nodiscard]] std::unique_ptr<Sequence> fork(const Sequence &source, std::int64_t length) override
    {
        return m_inner->fork(source, length);
    }
    bool encode(Sequence &sequence, std::span<const TokenId> ids, std::stop_token stop) override
    {
        return m_inner->encode(sequence, ids, std::move(stop));
    }
    [[nodiscard]] std::unique_ptr<SelfConditioning> newSelfConditioning() override
    {
        return m_inner->newSelfConditioning();
    }
    void denoise(std::span<const DenoiseJob> jobs) override
    {
        const Clock::time_point begin = Clock::now();
        m_inner->denoise(jobs);
        m_times.pass(jobs.size(), begin, Clock::now());
    }

private:
    std::unique_ptr<Backend> m_inner;
    StepTimes &m_times;
};

EngineParts demoParts(StepTimes &times)
{
    const EngineLoader load = engineLoader(
        {.model = {.model = PALIMPSEST_SOURCE_DIR "/resources/demo_model", .threads = kThreads, .device = "cpu"},
         .id = std::nullopt});
    EngineParts parts = load([](double) { return true; });
    parts.backend = std::make_unique<TimedBackend>(std::move(parts.backend), times);
    return parts;
}

/// A chat that streams its drafts and never converges, so that its canvas takes all its steps.
nlohmann::json chatBody()
{
    return {{"model", "demo_model"},
            {"stream", true},
            {"max_tokens", 256},
            {"seed", 2},
            {"messages", {{{"role", "user"}, {"content", kText.toStdString()}}}},
            {"palimpsest", {{"steps", kSteps}, {"confidence_threshold", 0.0}, {"drafts", true}}}};
}

/// A change of the whole draft that never converges.
editing::RunWish rewriteWish()
{
    editing::RunWish wish;
    wish.span = {0, kText.size()};
    wish.instruction = QStringLiteral("Make this more formal by expanding contractions");
    wish.seed = 1;
    wish.sampler.maxSteps = kSteps;
    wish.sampler.confidence = 0.0;
    return wish;
}

/// What the draft's session and the endpoint make of the two.
std::vector<GenerationRequest> requestsOf(const std::shared_ptr<const RunningModel> &model)
{
    const editing::RunWish wish = rewriteWish();
    editing::PlanInput input;
    input.model = std::make_shared<const editing::EditingModel>(model);
    input.wish = wish;
    input.text = kText;
    input.seed = *wish.seed;
    input.sampler = wish.sampler.resolved(model->defaults);
    return {editing::planRun(input)->request(0),
            openai::prepareConversation(openai::readChatRequest(chatBody()), *model).request};
}

void runUnwatched(const std::shared_ptr<const RunningModel> &model)
{
    std::promise<void> ended[2];
    std::vector<GenerationRequest> requests = requestsOf(model);
    for (std::size_t i = 0; i < 2; ++i)
        model->desk->submit("bench", std::move(requests[i]), nullptr,
                            [&promise = ended[i]](const auto &) { promise.set_value(); });
    for (std::promise<void> &promise : ended)
        promise.get_future().wait();
}

/// The same two, watched.
void runWatched(LiveClient &window, const QString &document, QNetworkAccessManager &network, std::uint16_t port)
{
    QNetworkRequest request(QUrl(QStringLiteral("http://127.0.0.1:%1/v1/chat/completions").arg(port)));
    request.setHeader(QNetworkRequest::ContentTypeHeader, "application/json");
    const std::unique_ptr<QNetworkReply> stream(network.post(request, QByteArray::fromStdString(chatBody().dump())));
    const editing::RunWish wish = rewriteWish();
    const QString run = window
                            .demand("run.start", {{"document", document},
                                                  {"version", 0},
                                                  {"action", editing::nameOf(wish.action)},
                                                  {"instruction", wish.instruction},
                                                  {"start", wish.span.start},
                                                  {"end", wish.span.end},
                                                  {"seed", static_cast<qint64>(*wish.seed)},
                                                  {"sampler", QJsonObject{{"maxSteps", *wish.sampler.maxSteps},
                                                                          {"confidence", *wish.sampler.confidence}}}})
                            .value(u"run")
                            .toString();
    static_cast<void>(window.waitForEnd(run));
    if (!QTest::qWaitFor([&] { return stream->isFinished(); }, kPatienceMs) ||
        stream->error() != QNetworkReply::NoError)
        throw std::runtime_error("the stream failed: " + stream->readAll().toStdString());
    if (!stream->readAll().contains("event: draft"))
        throw std::runtime_error("the stream had no drafts");
}

/// One way of running, over all rounds.
struct Figures
{
    std::vector<double> steps;
    std::vector<double> passes;
    double serverMs = 0.0; ///< CPU time of the server's thread

    void add(StepTimes &times, double server)
    {
        const auto [moreSteps, morePasses] = times.take();
        steps.insert(steps.end(), moreSteps.begin(), moreSteps.end());
        passes.insert(passes.end(), morePasses.begin(), morePasses.end());
        serverMs += server;
    }
    [[nodiscard]] double serverMsAStep() const
    {
        return serverMs / static_cast<double>(std::max<std::size_t>(1, steps.size()));
    }
    void print(const char *name) const
    {
        std::printf("  %-10s %6zu steps, median %8.3f ms a step, %8.3f ms of it in the backend; the server's thread "
                    "computes %.3f ms a step\n",
                    name, steps.size(), median(steps), median(passes), serverMsAStep());
    }
};

void measureFrame(const QJsonObject &frame)
{
    editing::Frame made;
    for (const auto &text : frame.value(u"text").toArray())
        made.text.push_back(text.toString());
    for (const auto &entropy : frame.value(u"entropy").toArray())
        made.entropy.push_back(static_cast<std::uint16_t>(entropy.toInt()));
    made.marks = frame.value(u"marks").toString().toLatin1();
    made.showEnd = made.positions();
    constexpr int kTimes = 2000;
    qsizetype bytes = 0;
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kTimes; ++i)
        bytes = live::frameMessage(frame.value(u"run").toString(), made).toUtf8().size();
    std::printf("frame: %d positions, %lld bytes, encoded in %.1f us\n", made.positions(),
                static_cast<long long>(bytes), 1000.0 * milliseconds(Clock::now() - begin) / kTimes);
}

int measure(int rounds)
{
    StepTimes times;
    QTemporaryDir folder;
    server::Metrics metrics;
    EngineHost engine(demoParts(times));
    documents::DocumentWorker store({.file = folder.filePath("documents.sqlite").toStdString()});
    server::Service service({engine, store, metrics}, {.server = {.port = 0}, .anyModelName = true});
    const std::uint16_t port = service.server().port();
    LiveClient window(QStringLiteral("ws://127.0.0.1:%1/ws").arg(port));
    QNetworkAccessManager network;
    const QString document = window.openNew(kText);
    runWatched(window, document, network, port); // and warm
    static_cast<void>(times.take());
    Figures alone;
    Figures watched;
    for (int round = 0; round < rounds; ++round) { // in turn, so that a machine that gets warm does not count
        double before = serverThreadMs();
        runUnwatched(engine.model());
        alone.add(times, serverThreadMs() - before);
        before = serverThreadMs();
        runWatched(window, document, network, port);
        watched.add(times, serverThreadMs() - before);
    }
    std::printf("two canvases of %lld positions in a step, %d threads\n",
                static_cast<long long>(engine.model()->config.canvasLength), kThreads);
    alone.print("unwatched");
    watched.print("watched");
    std::printf(
        "  overhead   %+.2f %% by the medians, which a busy machine moves; %.2f %% if the server's thread takes its "
        "time from the backend's threads; frames to the window: %zu\n",
        100.0 * (median(watched.steps) / median(alone.steps) - 1.0),
        100.0 * watched.serverMsAStep() / kThreads / median(alone.steps), window.heard("frame").size());
    measureFrame(window.heard("frame").back());
    return EXIT_SUCCESS;
}

} // namespace

int main(int argc, char **argv)
{
    QCoreApplication application(argc, argv);
    try {
        return measure(argc > 1 ? std::atoi(argv[1]) : 5);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
