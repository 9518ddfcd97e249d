// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/engine_host.h"

#include "app/model_session.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <condition_variable>
#include <future>
#include <mutex>
#include <spdlog/spdlog.h>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace palimpsest {

namespace {

std::int64_t changeTimeOf(const std::filesystem::path &file)
{
    struct stat status = {};
    if (::stat(file.c_str(), &status) != 0)
        return 1;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(status.st_mtime));
}

std::shared_ptr<const RunningModel> runningModel(EngineParts parts)
{
    auto model = std::make_shared<RunningModel>();
    model->id = std::move(parts.id);
    model->createdSeconds = parts.createdSeconds;
    model->directory = std::move(parts.directory);
    model->tokenizer = parts.tokenizer;
    model->chat = parts.chat;
    model->config = parts.backend->config();
    model->defaults = std::move(parts.defaults);
    model->backend = parts.backend->info();
    model->contextLength = model->config.maxPositions;
    model->desk = std::make_shared<RequestDesk>(std::move(parts.backend), std::move(parts.tokenizer), parts.desk);
    return model;
}

/// The error that the smallest possible request ends with, if any.
std::optional<Error> tryDevice(const RunningModel &model)
{
    GenerationRequest request;
    request.prompt = {model.config.bosTokenId};
    request.sampler.maxDenoisingSteps = 1;
    request.maxNewTokens = 1;
    request.singleCanvas = true;
    const auto promise = std::make_shared<std::promise<std::optional<Error>>>();
    std::future<std::optional<Error>> answer = promise->get_future();
    try {
        model.desk->submit("the host", std::move(request), nullptr, [promise](auto outcome) {
            const auto *error = std::get_if<Error>(&outcome);
            promise->set_value(error == nullptr ? std::nullopt : std::optional<Error>(*error));
        });
    } catch (const Error &error) {
        return error.kind() == ErrorKind::Backend ? std::optional<Error>(error) : std::nullopt;
    }
    return answer.get();
}

} // namespace

struct EngineHost::State
{
    // Any thread.
    void post(void (State::*task)());

    // The host's thread.
    void run();
    void load();
    void exchange();
    void loadNow();
    void probe();
    void change(const EngineState &next);
    [[nodiscard]] bool reportProgress(double progress);

    mutable std::mutex mutex;
    std::condition_variable wake;
    EngineState current;
    std::vector<std::weak_ptr<const Observer>> observers;
    std::vector<void (State::*)()> tasks;
    bool stopping = false;

    std::optional<EngineLoader> nextLoader; ///< waits for exchange()

    std::atomic<bool> cancelLoading = false;
    double toldProgress = 0.0; ///< the host's thread alone
    EngineLoader loader;       ///< the host's thread alone, once it runs
    std::thread thread;
};

void EngineHost::State::post(void (State::*task)())
{
    const std::lock_guard lock(mutex);
    if (std::find(tasks.begin(), tasks.end(), task) == tasks.end())
        tasks.push_back(task);
    wake.notify_one();
}

void EngineHost::State::run()
{
    std::unique_lock lock(mutex);
    while (true) {
        wake.wait(lock, [this] { return stopping || !tasks.empty(); });
        if (stopping)
            return;
        const auto task = tasks.front();
        tasks.erase(tasks.begin());
        lock.unlock();
        (this->*task)();
        lock.lock();
    }
}

void EngineHost::State::load()
{
    EngineState::Phase phase{};
    {
        const std::lock_guard lock(mutex);
        phase = current.phase;
    }
    if (phase == EngineState::Phase::Ready || !loader)
        return;
    if (phase == EngineState::Phase::Failed)
        change({});
    loadNow();
}

void EngineHost::State::exchange()
{
    std::shared_ptr<const RunningModel> old;
    {
        const std::lock_guard lock(mutex);
        if (!nextLoader)
            return;
        loader = std::move(*nextLoader);
        nextLoader.reset();
        cancelLoading = false;
        old = current.model;
    }
    change({});
    if (old)
        old->desk->close(); // whoever else still holds the model holds no weights
    old.reset();
    loadNow();
}

void EngineHost::State::loadNow()
{
    toldProgress = 0.0;
    try {
        EngineParts parts = loader([this](double progress) { return reportProgress(progress); });
        parts.desk.onDeviceError = [this] {
            post(&State::probe);
        };
        change({.phase = EngineState::Phase::Ready,
                .progress = 1.0,
                .error = {},
                .model = runningModel(std::move(parts))});
    } catch (const Error &error) {
        change({.phase = EngineState::Phase::Failed, .progress = 0.0, .error = error, .model = {}});
    } catch (const std::exception &error) { // the thread's edge: nothing may leave it
        change({.phase = EngineState::Phase::Failed,
                .progress = 0.0,
                .error = Error(ErrorKind::Backend, std::string("The model could not be loaded: ") + error.what()),
                .model = {}});
    }
}

bool EngineHost::State::reportProgress(double progress)
{
    constexpr double kTellingStep = 0.01;
    if (progress >= toldProgress + kTellingStep) {
        toldProgress = progress;
        change({.phase = EngineState::Phase::Loading,
                .progress = std::clamp(progress, 0.0, 1.0),
                .error = {},
                .model = {}});
    }
    const std::lock_guard lock(mutex);
    return !cancelLoading && !stopping;
}

void EngineHost::State::probe()
{
    std::shared_ptr<const RunningModel> model;
    {
        const std::lock_guard lock(mutex);
        model = current.model;
    }
    if (!model)
        return;
    const std::optional<Error> error = tryDevice(*model);
    if (!error || error->kind() != ErrorKind::Backend)
        return;
    {
        const std::lock_guard lock(mutex);
        if (stopping)
            return;
    }
    spdlog::error("the device has failed for good: {}", error->what());
    change({.phase = EngineState::Phase::Failed, .progress = 0.0, .error = error, .model = {}});
    model->desk->close();
}

void EngineHost::State::change(const EngineState &next)
{
    std::vector<std::shared_ptr<const Observer>> told;
    {
        const std::lock_guard lock(mutex);
        if (nextLoader && next.phase != EngineState::Phase::Loading) {
            if (next.model) // finished a moment too late
                next.model->desk->close();
            return;
        }
        current = next;
        std::erase_if(observers, [](const auto &observer) { return observer.expired(); });
        for (const auto &observer : observers)
            told.push_back(observer.lock());
    }
    for (const auto &observer : told) {
        if (observer)
            (*observer)(next);
    }
}

EngineHost::EngineHost(EngineLoader loader) : m_state(std::make_shared<State>())
{
    m_state->loader = std::move(loader);
    m_state->post(&State::load);
    m_state->thread = std::thread([state = m_state.get()] { state->run(); });
}

EngineHost::EngineHost(EngineParts parts) : m_state(std::make_shared<State>())
{
    parts.desk.onDeviceError = [state = m_state.get()] {
        state->post(&State::probe);
    };
    m_state->current = {
        .phase = EngineState::Phase::Ready, .progress = 1.0, .error = {}, .model = runningModel(std::move(parts))};
    m_state->thread = std::thread([state = m_state.get()] { state->run(); });
}

EngineHost::~EngineHost()
{
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->stopping = true;
        m_state->wake.notify_one();
    }
    if (const auto model = state().model) // ends what the host's thread may be waiting for
        model->desk->close();
    m_state->thread.join();
    if (const auto model = state().model) // one that was finished meanwhile
        model->desk->close();
}

EngineState EngineHost::state() const
{
    const std::lock_guard lock(m_state->mutex);
    return m_state->current;
}

std::shared_ptr<const RunningModel> EngineHost::requireModel() const
{
    EngineState now = state();
    if (now.phase == EngineState::Phase::Failed)
        throw Error(*now.error);
    if (now.phase == EngineState::Phase::Loading) {
        const auto percent = static_cast<int>(std::floor(100.0 * now.progress));
        throw Error(ErrorKind::Backend,
                    "The model is still loading (" + std::to_string(percent) + " %); try again soon", "loading");
    }
    return std::move(now.model);
}

EngineHost::Subscription EngineHost::observe(Observer observer)
{
    auto shared = std::make_shared<const Observer>(std::move(observer));
    const std::lock_guard lock(m_state->mutex);
    m_state->observers.push_back(shared);
    return shared;
}

void EngineHost::reload()
{
    if (state().phase != EngineState::Phase::Failed)
        return;
    m_state->cancelLoading = false;
    m_state->post(&State::load);
}

void EngineHost::replace(EngineLoader loader)
{
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->nextLoader = std::move(loader);
        m_state->cancelLoading = true;
    }
    m_state->post(&State::exchange);
}

void EngineHost::cancelLoading()
{
    const std::lock_guard lock(m_state->mutex);
    if (m_state->current.phase == EngineState::Phase::Loading)
        m_state->cancelLoading = true;
}

EngineLoader engineLoader(EngineChoice choice)
{
    return [choice = std::move(choice)](const LoadProgress &progress) {
        // Opening can be stopped as well, and counts nothing: the weights are what takes the time.
        const LoadedModel model = openModel(choice.model, [&progress](double) { return progress(0.0); });
        EngineParts parts;
        parts.id = choice.id.value_or(modelIdOf(model.location.directory));
        parts.directory = model.location.directory;
        parts.createdSeconds = changeTimeOf(parts.directory / "config.json");
        parts.backend = startBackend(model, progress);
        parts.tokenizer = model.tokenizer;
        parts.chat = model.chat;
        parts.defaults = model.checkpoint->generationDefaults();
        parts.desk.maxBatch = batchCanvases(parts.backend->info());
        parts.desk.queueCapacity = choice.queueCapacity;
        parts.desk.onFinished = choice.onFinished;
        return parts;
    };
}

std::string modelIdOf(const std::filesystem::path &directory)
{
    std::error_code failure;
    if (std::filesystem::equivalent(directory, bundledModelDirectory(), failure))
        return "palimpsest-demo";
    std::filesystem::path name = directory.lexically_normal().filename();
    if (name.empty()) // "folder/"
        name = directory.lexically_normal().parent_path().filename();
    std::string id;
    for (const char character : name.string()) {
        const auto byte = static_cast<unsigned char>(character);
        if (std::isalnum(byte) != 0 || byte == '.' || byte >= 0x80)
            id += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
        else if (!id.empty() && id.back() != '-')
            id += '-';
    }
    while (!id.empty() && (id.back() == '-' || id.back() == '.'))
        id.pop_back();
    return id.empty() ? "palimpsest" : id;
}

} // namespace palimpsest
