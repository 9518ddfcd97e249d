// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/backend_loader.h"
#include "engine/error.h"
#include "engine/scheduler.h"
#include "tests/support/demo_model.h"

#include <cstdio>
#include <future>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// The scheduler over the CUDA module as the program loads it, by dlopen and through the Backend interface: requests
// that wait, are refused, cancelled, continued from a prefix, and that run out of memory because another process took
// it.

using namespace palimpsest;

namespace {

int failures = 0;

void require(bool holds, const std::string &what)
{
    if (holds)
        return;
    ++failures;
    std::printf("FAIL %s\n", what.c_str());
}

using Outcome = std::variant<GenerationResult, Error>;

struct Pending
{
    RequestHandle handle;
    std::future<Outcome> outcome;
};

Pending submit(Scheduler &scheduler, const GenerationRequest &request,
               const std::shared_ptr<GenerationObserver> &observer = nullptr)
{
    auto promise = std::make_shared<std::promise<Outcome>>();
    std::future<Outcome> future = promise->get_future();
    RequestHandle handle =
        scheduler.submit(request, observer, [promise](Outcome outcome) { promise->set_value(std::move(outcome)); });
    return {std::move(handle), std::move(future)};
}

std::unique_ptr<Backend> loadedBackend(const test::DemoModel &model)
{
    return loadBackend(model.checkpoint, {.device = DeviceChoice::Cuda, .moduleFolders = defaultModuleFolders()})
        .backend;
}

std::vector<TokenId> tokensOf(Pending &pending, const std::string &what)
{
    const Outcome outcome = pending.outcome.get();
    if (const auto *error = std::get_if<Error>(&outcome)) {
        require(false, what + ": " + error->what());
        return {};
    }
    return std::get<GenerationResult>(outcome).tokens;
}

const std::string kText = "He go to school yesterday and forgetted his books on the kitchen tabel.";

GenerationRequest requestFor(const test::DemoModel &model, std::uint64_t seed)
{
    return model.request(kText + std::string(seed % 3, '!'), seed);
}

/// Alone, together with others, and from the cache of an earlier prompt: the same tokens.
void sameAloneAndTogether(const test::DemoModel &model)
{
    constexpr std::uint64_t kRequests = 12;
    std::vector<std::vector<TokenId>> alone;
    {
        Scheduler scheduler(loadedBackend(model), model.tokenizer, {.maxBatch = 1, .prefixCacheBytes = 0});
        require(scheduler.backendInfo().kind == "cuda", "the backend is not the device's");
        for (std::uint64_t seed = 0; seed < kRequests; ++seed)
            alone.push_back(scheduler.run(requestFor(model, seed)).tokens);
    }
    Scheduler scheduler(loadedBackend(model), model.tokenizer);
    std::vector<Pending> together;
    for (std::uint64_t seed = 0; seed < kRequests; ++seed)
        together.push_back(submit(scheduler, requestFor(model, seed)));
    for (std::uint64_t seed = 0; seed < kRequests; ++seed)
        require(tokensOf(together[seed], "together") == alone[seed],
                "request " + std::to_string(seed) + " differs between alone and in a batch");
    const GenerationResult again = scheduler.run(requestFor(model, 0));
    require(again.reusedPromptTokens > 0 && again.tokens == alone[0], "a prompt that was seen before");
    std::printf("%d requests: the same alone and eight at a time; %lld of %lld prompt tokens reused\n",
                static_cast<int>(kRequests), static_cast<long long>(again.reusedPromptTokens),
                static_cast<long long>(again.promptTokens));
}

void fullQueueAndCancel(const test::DemoModel &model)
{
    Scheduler scheduler(loadedBackend(model), model.tokenizer, {.maxBatch = 1, .queueCapacity = 1});
    const std::vector<TokenId> wanted = scheduler.run(requestFor(model, 1)).tokens;
    GenerationRequest paused = requestFor(model, 0);
    paused.startPaused = true;
    Pending running = submit(scheduler, paused);
    while (scheduler.status().running == 0)
        std::this_thread::yield();
    Pending waiting = submit(scheduler, requestFor(model, 1));
    std::string refusal;
    try {
        (void)submit(scheduler, requestFor(model, 2));
    } catch (const Error &error) {
        refusal = error.what();
        require(error.kind() == ErrorKind::QueueFull, "another refusal than a full queue: " + refusal);
    }
    require(!refusal.empty(), "a third request was taken");
    running.handle.cancel();
    const Outcome cancelled = running.outcome.get();
    require(std::holds_alternative<GenerationResult>(cancelled) &&
                std::get<GenerationResult>(cancelled).finish == FinishReason::Cancelled,
            "a cancelled request has no result");
    require(tokensOf(waiting, "waiting") == wanted, "the request behind a cancelled one");
    std::printf("a full queue refuses (\"%s\"), a cancelled request ends, the next one runs\n", refusal.c_str());
}

/// Another process that holds all but `leaveMiB` of the device's memory until the end of its scope.
class Hog
{
public:
    explicit Hog(int leaveMiB)
    {
        int in[2];
        int out[2];
        if (pipe(in) != 0 || pipe(out) != 0)
            return;
        m_process = fork();
        if (m_process == 0) {
            dup2(in[0], STDIN_FILENO);
            dup2(out[1], STDOUT_FILENO);
            for (const int end : {in[0], in[1], out[0], out[1]})
                close(end);
            const std::string program =
                std::filesystem::read_symlink("/proc/self/exe").replace_filename("gpu_memory_hog");
            const std::string argument = std::to_string(leaveMiB);
            execl(program.c_str(), program.c_str(), argument.c_str(), static_cast<char *>(nullptr));
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        m_input = in[1];
        char character = 0;
        while (read(out[0], &character, 1) == 1 && character != '\n')
            m_said += character;
        close(out[0]);
        require(m_said.starts_with("held"), "the second process could not take the memory");
    }
    ~Hog()
    {
        close(m_input);
        int status = 0;
        waitpid(m_process, &status, 0);
    }
    Hog(const Hog &) = delete;
    Hog &operator=(const Hog &) = delete;

private:
    pid_t m_process = -1;
    int m_input = -1;
    std::string m_said;
};

// F083: at load, before this process has a context of its own, and once it has one.
void memoryTakenAtLoad(const test::DemoModel &model, int leaveMiB, const std::string &when)
{
    const auto tryToLoad = [&]() -> std::string {
        try {
            (void)loadedBackend(model);
        } catch (const Error &error) {
            require(error.kind() == ErrorKind::OutOfMemory || error.kind() == ErrorKind::Backend,
                    when + ": another kind of error: " + error.what());
            return error.what();
        }
        return {};
    };
    std::string refusal;
    {
        const Hog hog(leaveMiB);
        refusal = tryToLoad();
    }
    require(!refusal.empty(), when + ": loaded without memory");
    const std::string later = tryToLoad();
    require(later.empty(), when + ": not loaded with the memory back: " + later);
    std::printf("%s, %d MiB left: \"%s\"; loaded once the memory was back\n", when.c_str(), leaveMiB, refusal.c_str());
}

// F083, F084: in the middle of a generation. A prompt that needs room for its context fails alone.
void memoryTakenInTheMiddle(const test::DemoModel &model)
{
    const std::vector<TokenId> wanted = [&] {
        Scheduler scheduler(loadedBackend(model), model.tokenizer, {.prefixCacheBytes = 0});
        return scheduler.run(requestFor(model, 4)).tokens;
    }();
    Scheduler scheduler(loadedBackend(model), model.tokenizer, {.prefixCacheBytes = 0});
    GenerationRequest longPrompt = requestFor(model, 5);
    while (std::ssize(longPrompt.prompt) + 300 < scheduler.config().maxPositions)
        longPrompt.prompt.push_back(longPrompt.prompt[longPrompt.prompt.size() % 20]);
    GenerationRequest shortPrompt = requestFor(model, 4);
    shortPrompt.startPaused = true;
    Pending running = submit(scheduler, shortPrompt);
    running.handle.step();
    while (scheduler.status().stepsDone == 0)
        std::this_thread::yield();
    {
        const Hog hog(0);
        Pending failing = submit(scheduler, longPrompt);
        const Outcome outcome = failing.outcome.get();
        const auto *error = std::get_if<Error>(&outcome);
        require(error != nullptr && error->kind() == ErrorKind::OutOfMemory,
                std::string("a long prompt without memory: ") + (error == nullptr ? "no error" : error->what()));
        if (error != nullptr)
            std::printf("memory taken in the middle: \"%s\"\n", error->what());
        running.handle.resume();
        require(tokensOf(running, "the generation beside it") == wanted, "the generation beside a failed one differs");
    }
    Pending again = submit(scheduler, longPrompt);
    require(!tokensOf(again, "again").empty(), "a retry with the memory back gave nothing");
    std::printf("the generation beside it ended as alone, and a retry worked\n");
}

} // namespace

int main()
{
    const auto problem = whyNotCuda(defaultModuleFolders());
    if (problem) {
        std::puts(problem->c_str());
        return 77;
    }
    const char *const source = std::getenv("PALIMPSEST_SOURCE");
    const test::DemoModel model = test::DemoModel::open(source != nullptr ? source : PALIMPSEST_SOURCE_DIR);
    try {
        memoryTakenAtLoad(model, 64, "before the first context");
        memoryTakenAtLoad(model, 16, "with a context");
        sameAloneAndTogether(model);
        fullQueueAndCancel(model);
        memoryTakenInTheMiddle(model);
    } catch (const std::exception &error) {
        require(false, error.what());
    }
    std::printf("%s gpu_scheduler (%d failures)\n", failures == 0 ? "PASS" : "FAIL", failures);
    return failures == 0 ? 0 : 1;
}
