// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Whole generations of the tiny models, decision by decision, against the recorded ones of the reference.

#include "engine/checkpoint.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/scheduler.h"
#include "tests/support/golden.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>

using namespace palimpsest;
using palimpsest::test::goldenFolder;
using palimpsest::test::goldenJson;
using palimpsest::test::GoldenTensors;

namespace {

constexpr float kEntropyTolerance = 1e-3F;

/// One recorded generation.
struct Golden
{
    std::string name; ///< folder, relative to the golden folder
    std::string model;
    GoldenTensors tensors;
    GenerationRequest request;
    std::vector<int> stepsPerCanvas;
};

Golden loadGolden(const std::string &name)
{
    const nlohmann::json info = goldenJson(name + "/case.json");
    const nlohmann::json &settings = info.at("generation");
    Golden golden{name,
                  info.at("model").get<std::string>() + "/" + info.at("format").get<std::string>(),
                  GoldenTensors::load(name + "/trajectory.safetensors"),
                  {},
                  info.at("steps_per_canvas")};
    GenerationRequest &request = golden.request;
    request.prompt = golden.tensors.ids("prompt");
    request.seed = info.at("seed");
    request.maxNewTokens = settings.at("max_new_tokens");
    request.sampler.maxDenoisingSteps = settings.at("max_denoising_steps");
    request.sampler.tMin = settings.at("t_min");
    request.sampler.tMax = settings.at("t_max");
    request.sampler.entropyBoundNats = settings.at("entropy_bound");
    request.sampler.stabilityThreshold = settings.at("stability_threshold");
    request.sampler.confidenceThresholdNats = settings.at("confidence_threshold");
    if (const nlohmann::json &pad = settings.at("pad_token_id"); pad.is_number()) {
        request.padTokenId = pad.get<TokenId>();
    }
    if (const nlohmann::json &end = settings.at("eos_token_id"); end.is_array()) {
        request.eosTokenIds = end.get<std::vector<TokenId>>();
    } else if (end.is_number()) {
        request.eosTokenIds = {end.get<TokenId>()};
    }
    if (golden.tensors.contains("frozen_mask")) {
        request.firstCanvas = CanvasStart{golden.tensors.ids("frozen_ids"), golden.tensors.bytes("frozen_mask"), {}};
    }
    return golden;
}

std::vector<std::string> goldenNames()
{
    std::vector<std::string> names;
    for (const char *const kind : {"trajectories", "frozen"}) {
        for (const auto &entry : std::filesystem::directory_iterator(goldenFolder() / kind)) {
            names.push_back(std::string(kind) + "/" + entry.path().filename().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::unique_ptr<Backend> openBackend(const std::string &model)
{
    return cpu::makeCpuBackend(Checkpoint::open(goldenFolder() / "models" / model), {});
}

using Steps = std::vector<std::shared_ptr<const StepEvent>>;

class StepCollector : public GenerationObserver
{
public:
    void onStep(const std::shared_ptr<const StepEvent> &event) override
    {
        const std::lock_guard lock(m_mutex);
        m_steps.push_back(event);
    }
    Steps steps() const
    {
        const std::lock_guard lock(m_mutex);
        return m_steps;
    }

private:
    mutable std::mutex m_mutex;
    Steps m_steps;
};

template <typename Element>
std::vector<Element> row(const std::vector<Element> &all, std::size_t index, std::size_t length)
{
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(index * length);
    return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

/// The first difference between a run and the recording, in words; "" if there is none.
std::string differenceOfStep(const StepEvent &event, const Golden &golden, std::size_t index)
{
    const std::size_t length = event.input.size();
    const GoldenTensors &tensors = golden.tensors;
    if (event.canvas != tensors.integers("canvas_index")[index]) {
        return "canvas";
    }
    if (event.maxSteps - event.step + 1 != tensors.integers("cur_step")[index]) {
        return "step";
    }
    if (event.input != row(tensors.ids("current"), index, length)) {
        return "current";
    }
    if (event.argmax != row(tensors.ids("argmax"), index, length)) {
        return "argmax";
    }
    if (event.accepted != row(tensors.bytes("accepted"), index, length)) {
        return "accepted";
    }
    const std::vector<TokenId> sampled = row(tensors.ids("sampled"), index, length);
    const std::vector<float> entropy = row(tensors.floats("entropy"), index, length);
    for (std::size_t position = 0; position < length; ++position) {
        if (event.positions[position].sampled != sampled[position]) {
            return "sampled at " + std::to_string(position);
        }
        if (std::abs(event.positions[position].entropyNats - entropy[position]) > kEntropyTolerance) {
            return "entropy at " + std::to_string(position);
        }
    }
    if (std::abs(event.meanEntropyNats - tensors.floats("mean_entropy")[index]) > kEntropyTolerance) {
        return "mean entropy";
    }
    return {};
}

std::string difference(const Steps &steps, const GenerationResult &result, const Golden &golden)
{
    const std::vector<std::int64_t> stops = golden.tensors.integers("stop");
    if (steps.size() != stops.size()) {
        return golden.name + ": " + std::to_string(steps.size()) + " steps, not " + std::to_string(stops.size());
    }
    for (std::size_t index = 0; index < steps.size(); ++index) {
        const std::string what = differenceOfStep(*steps[index], golden, index);
        if (!what.empty()) {
            return golden.name + ", step " + std::to_string(index) + ": " + what;
        }
    }
    std::vector<TokenId> tokens;
    std::size_t stepsBefore = 0;
    for (std::size_t canvas = 0; canvas < result.canvases.size(); ++canvas) {
        const CanvasRecord &record = result.canvases[canvas];
        tokens.insert(tokens.end(), record.committed.begin(), record.committed.end());
        stepsBefore += static_cast<std::size_t>(record.steps);
        if (canvas >= golden.stepsPerCanvas.size() || record.steps != golden.stepsPerCanvas[canvas] ||
            (record.stop == CanvasStop::Converged) != (stops[stepsBefore - 1] != 0)) {
            return golden.name + ": how canvas " + std::to_string(canvas) + " ended";
        }
    }
    if (tokens != golden.tensors.ids("tokens")) {
        return golden.name + ": tokens";
    }
    return {};
}

} // namespace

class TestTrajectories : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void schedulerFollowsTheRecording_data() { addRows(); }
    void schedulerFollowsTheRecording();
    void generationFollowsTheRecording_data() { addRows(); }
    void generationFollowsTheRecording();
    void aBatchOfAllFollowsTheRecordings();
    void theAnswerNeverExceedsTheBudget();

private:
    void addRows();
    Scheduler &schedulerFor(const std::string &model);

    std::map<std::string, std::unique_ptr<Scheduler>> m_schedulers; ///< by model; loading is most of a short test
};

void TestTrajectories::addRows()
{
    QTest::addColumn<QString>("name");
    for (const std::string &name : goldenNames()) {
        QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
}

Scheduler &TestTrajectories::schedulerFor(const std::string &model)
{
    std::unique_ptr<Scheduler> &scheduler = m_schedulers[model];
    if (scheduler == nullptr) {
        scheduler = std::make_unique<Scheduler>(openBackend(model), nullptr);
    }
    return *scheduler;
}

void TestTrajectories::schedulerFollowsTheRecording()
{
    QFETCH(QString, name);
    const Golden golden = loadGolden(name.toStdString());
    const auto collector = std::make_shared<StepCollector>();
    const GenerationResult result = schedulerFor(golden.model).run(golden.request, collector);
    const std::string found = difference(collector->steps(), result, golden);
    QVERIFY2(found.empty(), found.c_str());
}

// F016: canvases behind the first, too
void TestTrajectories::generationFollowsTheRecording()
{
    QFETCH(QString, name);
    const Golden golden = loadGolden(name.toStdString());
    const std::unique_ptr<Backend> backend = openBackend(golden.model);
    Generation generation(1, golden.request, backend->config(), nullptr);
    const std::unique_ptr<Sequence> sequence = backend->newSequence();
    const std::unique_ptr<SelfConditioning> conditioning = backend->newSelfConditioning();
    Steps steps;
    while (generation.phase() != Generation::Phase::Done) {
        if (generation.phase() == Generation::Phase::Encode) {
            QVERIFY(backend->encode(*sequence, generation.tokensToEncode(), {}));
            generation.encoded();
            continue;
        }
        if (generation.startsCanvas()) {
            conditioning->reset();
        }
        DenoiseJob job = generation.nextJob();
        job.prefix = sequence.get();
        job.conditioning = conditioning.get();
        backend->denoise(std::span(&job, 1));
        steps.push_back(generation.denoised(0.0, 0.0).step);
    }
    const std::string found = difference(steps, generation.takeResult(), golden);
    QVERIFY2(found.empty(), found.c_str());
}

void TestTrajectories::aBatchOfAllFollowsTheRecordings()
{
    struct Run
    {
        Golden golden;
        std::shared_ptr<StepCollector> collector = std::make_shared<StepCollector>();
        std::promise<std::variant<GenerationResult, Error>> outcome = {};
    };
    std::vector<std::unique_ptr<Run>> runs;
    for (const std::string &name : goldenNames()) {
        runs.push_back(std::make_unique<Run>(Run{loadGolden(name)}));
        Run &run = *runs.back();
        schedulerFor(run.golden.model).submit(run.golden.request, run.collector, [&run](auto outcome) {
            run.outcome.set_value(std::move(outcome));
        });
    }
    std::string found;
    for (const auto &run : runs) { // all are waited for, whatever the first one says: they refer to `runs`
        const auto outcome = run->outcome.get_future().get();
        if (const auto *error = std::get_if<Error>(&outcome)) {
            found += run->golden.name + ": " + error->what() + "\n";
        } else {
            found += difference(run->collector->steps(), std::get<GenerationResult>(outcome), run->golden);
        }
    }
    QVERIFY2(found.empty(), found.c_str());
}

void TestTrajectories::theAnswerNeverExceedsTheBudget()
{
    const Golden golden = loadGolden("trajectories/tiny-a-multi-canvas");
    const std::vector<TokenId> recorded = golden.tensors.ids("tokens");
    for (const std::int64_t budget : {1, 31, 32, 33, 71}) {
        GenerationRequest request = golden.request;
        request.maxNewTokens = budget;
        const GenerationResult result = schedulerFor(golden.model).run(request);
        QCOMPARE(result.finish, FinishReason::Budget);
        QCOMPARE(result.tokens, std::vector<TokenId>(recorded.begin(), recorded.begin() + budget));
    }
}

QTEST_GUILESS_MAIN(TestTrajectories)
#include "tst_trajectories.moc"
