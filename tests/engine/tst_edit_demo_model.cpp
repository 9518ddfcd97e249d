// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/canvas.h"
#include "engine/checkpoint.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/proofreading.h"
#include "engine/scheduler.h"

#include <QTest>

#include <filesystem>

using namespace palimpsest;

namespace {

const std::filesystem::path &demoModel()
{
    static const std::filesystem::path path = std::filesystem::path(PALIMPSEST_SOURCE_DIR) / "resources/demo_model";
    return path;
}

/// Sees whether frozen positions ever hold anything but their ids.
class FrozenWatch : public GenerationObserver
{
public:
    explicit FrozenWatch(CanvasStart start) : m_start(std::move(start)) {}

    void onStep(const std::shared_ptr<const StepEvent> &event) override
    {
        ++m_steps;
        for (std::size_t i = 0; i < m_start.ids.size(); ++i) {
            if (m_start.frozen[i] != 0 &&
                (event->input[i] != m_start.ids[i] || event->argmax[i] != m_start.ids[i] || event->frozen[i] == 0)) {
                ++m_drifted;
            }
        }
    }

    [[nodiscard]] int steps() const { return m_steps; }
    [[nodiscard]] int drifted() const { return m_drifted; }

private:
    CanvasStart m_start;
    int m_steps = 0;
    int m_drifted = 0;
};

} // namespace

/// Edits from end to end with the shipped model; nothing is asserted on how good its words are.
class TestEditDemoModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void editsLeaveTheRestAlone_data();
    void editsLeaveTheRestAlone();
    void frozenPositionsNeverDrift();
    void proofreadsAPage();

private:
    std::shared_ptr<const Checkpoint> m_checkpoint;
    std::shared_ptr<const Tokenizer> m_tokenizer;
    std::unique_ptr<Scheduler> m_scheduler;
    std::unique_ptr<CanvasEditor> m_editor;
    SamplerSettings m_fewSteps; ///< enough to run every part, and quick under sanitizers
};

void TestEditDemoModel::initTestCase()
{
    m_checkpoint = Checkpoint::open(demoModel());
    m_tokenizer = Tokenizer::load(demoModel() / "tokenizer.json");
    m_scheduler = std::make_unique<Scheduler>(cpu::makeCpuBackend(m_checkpoint, {}), m_tokenizer);
    m_editor = std::make_unique<CanvasEditor>(m_tokenizer, ChatFormat(ChatDialect::PlainTurns), m_checkpoint->config(),
                                              m_checkpoint->generationDefaults());
    m_fewSteps.maxDenoisingSteps = 4;
}

void TestEditDemoModel::editsLeaveTheRestAlone_data()
{
    QTest::addColumn<QByteArray>("selected"); // empty: a caret in front of "The weather"
    QTest::addColumn<QByteArray>("instruction");
    QTest::addColumn<bool>("fresh");
    const QByteArray sentence = "Their was a old lighthouse on teh rocks.";
    QTest::newRow("rewrite") << sentence << QByteArray("Fix the spelling and grammar mistakes") << false;
    QTest::newRow("rewrite afresh") << sentence << QByteArray("Fix the spelling and grammar mistakes") << true;
    QTest::newRow("fill") << QByteArray() << QByteArray() << false;
    QTest::newRow("fill afresh") << QByteArray() << QByteArray() << true;
    QTest::newRow("a word") << QByteArray("teh") << QByteArray() << false;
}

void TestEditDemoModel::editsLeaveTheRestAlone()
{
    QFETCH(QByteArray, selected);
    QFETCH(QByteArray, instruction);
    QFETCH(bool, fresh);
    EditRequest request;
    request.document = "\xEF\xBB\xBFWe went to the sea \xF0\x9F\x8C\x8A.\r\n\r\n"
                       "Their was a old lighthouse on teh rocks. The weather was fine.\r\n";
    const std::string target = selected.isEmpty() ? "The weather" : selected.toStdString();
    request.selection.begin = static_cast<std::int64_t>(request.document.find(target));
    request.selection.end = request.selection.begin + selected.size();
    request.instruction = instruction.toStdString();
    request.strategy = fresh ? EditStrategy::FreshAnswer : EditStrategy::FrozenCanvas;
    request.sampler = m_fewSteps;

    const EditPlan plan = m_editor->plan(request);
    std::vector<GenerationResult> results;
    for (const EditCandidate &candidate : plan.candidates) {
        results.push_back(m_scheduler->run(candidate.request));
    }
    const EditOutcome outcome = m_editor->apply(plan, results);
    const std::string before = request.document.substr(0, static_cast<std::size_t>(request.selection.begin));
    const std::string after = request.document.substr(static_cast<std::size_t>(request.selection.end));
    QVERIFY(outcome.document.starts_with(before));
    QVERIFY(outcome.document.ends_with(after));
    QCOMPARE(outcome.document.size(),
             before.size() + static_cast<std::size_t>(outcome.replaced.length()) + after.size());
    QVERIFY(fresh || outcome.problem.empty());
}

void TestEditDemoModel::frozenPositionsNeverDrift()
{
    EditRequest request;
    request.document = "The sea was cobalt and calm \xF0\x9F\x98\x80 all day long, and the sailors slept.";
    request.selection = {0, static_cast<std::int64_t>(request.document.size())};
    const auto lock = [&request](const std::string &word) {
        const auto begin = static_cast<std::int64_t>(request.document.find(word));
        request.locks.push_back({begin, begin + static_cast<std::int64_t>(word.size())});
    };
    lock("The");
    lock("cobalt");
    lock("\xF0\x9F\x98\x80");
    lock("slept.");
    request.sampler = m_fewSteps;
    request.gapLengths = {24};
    const EditPlan plan = m_editor->plan(request);
    const EditCandidate &candidate = plan.candidates.front();
    const auto watch = std::make_shared<FrozenWatch>(*candidate.request.firstCanvas);
    const GenerationResult result = m_scheduler->run(candidate.request, watch);
    QVERIFY(watch->steps() > 0);
    QCOMPARE(watch->drifted(), 0);
    const std::string text = m_editor->apply(plan, {&result, 1}).document;
    std::size_t found = 0;
    for (const LockExtent &extent : plan.locks) {
        found = text.find(extent.held.of(request.document), found);
        QVERIFY(found != std::string::npos);
    }
}

void TestEditDemoModel::proofreadsAPage()
{
    const std::string text =
        "# Teh lighthouse\r\n\r\nTheir was a old lighthouse on teh rocks. It was vary high.\r\n\r\n"
        "```\r\nint teh = 1;\r\n```\r\n";
    const Proofreader proofreader(m_tokenizer, ChatFormat(ChatDialect::PlainTurns), m_checkpoint->config(),
                                  m_checkpoint->generationDefaults());
    const std::vector<ProofreadSegment> segments = splitForProofreading(text);
    QCOMPARE(segments.size(), std::size_t{3});
    std::vector<ProofreadReply> replies;
    for (const ProofreadSegment &segment : segments) {
        if (segment.kind == SegmentKind::Prose) {
            const GenerationRequest request = proofreader.request(text, segment, m_fewSteps, 1);
            QCOMPARE(request.maxNewTokens, m_checkpoint->config().canvasLength);
            replies.push_back(proofreadReply(m_scheduler->run(request), ChatFormat(ChatDialect::PlainTurns)));
        } else {
            replies.emplace_back();
        }
    }
    const ProofreadMerge merge = mergeProofread(text, segments, replies);
    QVERIFY(merge.text.starts_with("# "));
    QVERIFY(merge.text.ends_with("\r\n\r\n```\r\nint teh = 1;\r\n```\r\n"));
    QCOMPARE(merge.outcomes.back(), SegmentOutcome::PassedThrough);
}

QTEST_GUILESS_MAIN(TestEditDemoModel)
#include "tst_edit_demo_model.moc"
