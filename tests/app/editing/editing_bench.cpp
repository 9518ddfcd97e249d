// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/editing/editing_bench.h"

#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace palimpsest::test {

using namespace palimpsest::editing;

namespace {

constexpr std::int64_t kVocabulary = 8192;

TokenId idOf(const char *piece)
{
    return demoTokenizer()->idOf(piece).value();
}

bool isBanned(const FakeInput &input, TokenId id)
{
    return std::any_of(input.logitBias.begin(), input.logitBias.end(), [id](const LogitBias &bias) {
        return bias.id == id && bias.bias == -std::numeric_limits<float>::infinity();
    });
}

/// Answers by conversation, so that a position need not read the prompt again.
struct Answers
{
    std::mutex mutex;
    std::map<std::uint64_t, std::vector<TokenId>> byPrompt;
};

PositionResult sure(TokenId id, TokenId second)
{
    PositionResult result;
    result.argmax = id;
    result.sampled = id;
    result.entropyNats = 1e-4F;
    result.alternatives[0] = {id, 0.9F};
    result.alternatives[1] = {second, 0.1F};
    return result;
}

} // namespace

FakeModel ScriptedModel::model() const
{
    const auto answers = std::make_shared<Answers>();
    std::vector<TokenId> gapIds;
    for (const std::string &word : gapWords)
        gapIds.push_back(demoTokenizer()->encode(word, SpecialTokens::PlainText).front());
    return [script = *this, answers, gapIds](const FakeInput &input) {
        const TokenId noise = demoTokenizer()->encode(" the", SpecialTokens::PlainText).front();
        TokenId wanted = gapIds[input.position % gapIds.size()];
        if (input.logitBias.empty()) {
            const std::lock_guard lock(answers->mutex);
            const auto [place, isNew] = answers->byPrompt.try_emplace(input.prefixHash);
            if (isNew) {
                const std::string prompt = demoTokenizer()->decode(input.prefix, DecodeSpecial::Skip);
                place->second = demoTokenizer()->encode(script.answer(prompt), SpecialTokens::PlainText);
            }
            const std::size_t at = input.position;
            const std::vector<TokenId> &ids = place->second;
            wanted = at < ids.size() ? ids[at] : idOf(at == ids.size() ? "<turn|>" : "<pad>");
        }
        const bool settles = input.pass >= 1 + static_cast<int>(input.position) % std::max(1, script.steps);
        if (settles && script.steps < 1000)
            return sure(wanted, noise);
        PositionResult result = sure(isBanned(input, noise) ? wanted : noise, wanted);
        result.argmax = static_cast<TokenId>(noise + (input.pass + static_cast<int>(input.position)) % 7);
        result.sampled = result.argmax;
        result.entropyNats = 1.0F;
        return result;
    };
}

SessionRegistry::Settings EditingBench::quick()
{
    using namespace std::chrono_literals;
    return {.saveDelay = 0ms, .linger = 0ms, .retryDelay = 20ms, .revisionEvery = 60min};
}

EditingBench::EditingBench(const ScriptedModel &model, SessionRegistry::Settings settings, DeskSettings desk)
    : m_settings(settings)
{
    EngineParts parts;
    parts.id = "scripted";
    parts.backend = std::make_unique<FakeBackend>(
        FakeSettings{.vocabSize = kVocabulary, .canvasLength = model.canvasLength, .maxPositions = 4096}, model.model(),
        log);
    parts.tokenizer = demoTokenizer();
    parts.chat = ChatFormat(ChatDialect::PlainTurns);
    parts.defaults.eosTokenIds = {idOf("<turn|>")};
    parts.defaults.padTokenId = idOf("<pad>");
    parts.desk = std::move(desk);
    host = std::make_unique<EngineHost>(std::move(parts));
    startStore((folder.path() + QStringLiteral("/documents.sqlite")).toStdString());
}

EditingBench::~EditingBench()
{
    registry.reset();
    worker.reset();
    host.reset();
}

void EditingBench::startStore(const std::filesystem::path &file)
{
    m_file = file;
    documents::StoreOptions options;
    options.file = file;
    options.busyTimeout = std::chrono::milliseconds(20);
    worker = std::make_unique<documents::DocumentWorker>(std::move(options));
    registry = std::make_unique<SessionRegistry>(*host, *worker, m_settings);
}

DraftSession &EditingBench::open(const QString &text)
{
    const std::string id =
        worker
            ->run([text = text.toStdString()](documents::DocumentStore &store) { return store.create("Draft", text); })
            .get()
            .summary.id;
    return *openAgain(QString::fromStdString(id));
}

DraftSession *EditingBench::openAgain(const QString &document, WindowId window)
{
    DraftSession *session = nullptr;
    bool answered = false;
    registry->open(document, window, [&](std::variant<DraftSession *, Error> outcome) {
        answered = true;
        if (auto *error = std::get_if<Error>(&outcome))
            qWarning("%s", error->what());
        else
            session = std::get<DraftSession *>(outcome);
    });
    waitFor([&answered] { return answered; });
    return session;
}

void EditingBench::restart()
{
    registry.reset();
    worker.reset();
    startStore(m_file);
}

void EditingBench::crash()
{
    // What is on the disk at this moment, log and all, is what a new process would find.
    const std::filesystem::path copies = (folder.path() + QStringLiteral("/after-crash")).toStdString();
    std::filesystem::create_directories(copies);
    worker->flush().get();
    for (const char *suffix : {"", "-wal", "-shm"}) {
        const std::filesystem::path from = m_file.string() + suffix;
        if (std::filesystem::exists(from))
            std::filesystem::copy_file(from, copies / from.filename(),
                                       std::filesystem::copy_options::overwrite_existing);
    }
    registry.reset();
    worker.reset();
    startStore(copies / m_file.filename());
}

documents::Document EditingBench::stored(const QString &document)
{
    return worker->run([id = document.toStdString()](documents::DocumentStore &store) { return store.document(id); })
        .get();
}

TextSpan spanOf(const DraftSession &session, const QString &words)
{
    const qsizetype start = session.draft().text().indexOf(words);
    return {start, start + words.size()};
}

RunWish rewrite(TextSpan span)
{
    RunWish wish;
    wish.action = RunAction::Rewrite;
    wish.span = span;
    wish.instruction = QStringLiteral("Make this more formal");
    wish.seed = 7;
    return wish;
}

QString start(DraftSession &session, const RunWish &wish)
{
    return session.startRun(1, session.draft().version(), wish);
}

QString startPaused(DraftSession &session, RunWish wish)
{
    wish.paused = true;
    return start(session, wish);
}

bool stepOnce(DraftSession &session, const QString &run)
{
    const auto step = [&] {
        const std::optional<Frame> frame = session.newestFrame(run, 0);
        return frame ? frame->step : 0;
    };
    const int before = step();
    session.stepRun(run);
    return waitFor([&] { return step() > before; });
}

std::string corrected(const std::string &prompt)
{
    const std::size_t blank = prompt.find("\n\n");
    QString text = QString::fromStdString(blank == std::string::npos ? prompt : prompt.substr(blank + 2));
    const qsizetype turn = text.indexOf(QStringLiteral("\n"));
    text = text.left(turn < 0 ? text.size() : turn);
    text.replace(QStringLiteral("teh"), QStringLiteral("the"));
    text.replace(QStringLiteral("recieved"), QStringLiteral("received"));
    text.replace(QStringLiteral("cobalt"), QStringLiteral("blue"));
    return text.trimmed().toStdString();
}

RunInfo waitForEnd(DraftSession &session, const QString &run)
{
    waitFor([&] { return hasEnded(session.run(run).state); });
    return session.run(run);
}

bool waitFor(const std::function<bool()> &holds)
{
    constexpr int kMostMs = 20'000;
    return QTest::qWaitFor(holds, kMostMs);
}

} // namespace palimpsest::test
