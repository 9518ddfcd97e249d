// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/nearest_word.h"
#include "app/cli/options.h"
#include "app/cli/run_progress.h"
#include "app/cli/run_report.h"
#include "app/cli/terminal.h"
#include "app/error_mapping.h"
#include "app/model_lookup.h"
#include "app/settings.h"
#include "engine/error.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using namespace palimpsest;
using namespace palimpsest::cli;

namespace {

template <typename Call>
ErrorKind kindOf(const Call &call)
{
    try {
        call();
    } catch (const Error &error) {
        return error.kind();
    }
    throw std::logic_error("no error was thrown");
}

} // namespace

class TestOptions : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyErrorHasADocumentedExitCode();
    void byteRanges_data();
    void byteRanges();
    void nearestWords_data();
    void nearestWords();
    void samplerTakesTheModelsDefaults();
    void freshSeedsDiffer();
    void firstNamedModelWins();
    void namedModelThatIsMissingIsAnError();
    void settingsFile_data();
    void settingsFile();
    void terminals_data();
    void terminals();
    void displayModes();
    void ratesNeedALongEnoughRun();
};

void TestOptions::everyErrorHasADocumentedExitCode()
{
    const std::string help = exitCodeHelp();
    for (const ErrorKind kind :
         {ErrorKind::InvalidArgument, ErrorKind::InvalidInput, ErrorKind::InvalidCheckpoint, ErrorKind::Unsupported,
          ErrorKind::NotFound, ErrorKind::PermissionDenied, ErrorKind::Io, ErrorKind::ContextLength,
          ErrorKind::QueueFull, ErrorKind::OutOfMemory, ErrorKind::Backend}) {
        const int code = static_cast<int>(exitCodeOf(kind));
        QVERIFY(code >= 2 && code <= 7);
        QVERIFY(help.find("\n  " + std::to_string(code) + " ") != std::string::npos);
    }
}

void TestOptions::byteRanges_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("valid");
    QTest::addColumn<int>("begin");
    QTest::addColumn<int>("end");
    QTest::newRow("range") << "120:184" << true << 120 << 184;
    QTest::newRow("caret") << "5:5" << true << 5 << 5;
    QTest::newRow("no colon") << "120" << false << 0 << 0;
    QTest::newRow("empty") << "" << false << 0 << 0;
    QTest::newRow("half") << "3:" << false << 0 << 0;
    QTest::newRow("words") << "a:b" << false << 0 << 0;
    QTest::newRow("more") << "1:2:3" << false << 0 << 0;
    QTest::newRow("huge") << "1:99999999999999999999" << false << 0 << 0;
}

void TestOptions::byteRanges()
{
    QFETCH(QString, text);
    QFETCH(bool, valid);
    if (!valid) {
        QCOMPARE(kindOf([&] { (void)parseByteRange(text.toStdString(), "--select"); }), ErrorKind::InvalidArgument);
        return;
    }
    const ByteRange range = parseByteRange(text.toStdString(), "--select");
    QTEST(int(range.begin), "begin");
    QTEST(int(range.end), "end");
}

void TestOptions::nearestWords_data()
{
    QTest::addColumn<QString>("unknown");
    QTest::addColumn<QString>("nearest");
    QTest::newRow("swapped letters") << "--sede"
                                     << "--seed";
    QTest::newRow("missing letter") << "--stps"
                                    << "--steps";
    QTest::newRow("command") << "proofraed"
                             << "proofread";
    QTest::newRow("nothing near") << "--zebra"
                                  << "";
    QTest::newRow("empty") << ""
                           << "";
}

void TestOptions::nearestWords()
{
    QFETCH(QString, unknown);
    const std::vector<std::string> known{"--seed", "--steps", "--t-min", "proofread", "generate"};
    QTEST(QString::fromStdString(nearestWord(unknown.toStdString(), known).value_or("")), "nearest");
}

void TestOptions::samplerTakesTheModelsDefaults()
{
    GenerationDefaults defaults;
    defaults.maxDenoisingSteps = 12;
    defaults.tMin = 0.3;
    SamplerOptions options;
    options.entropyBound = 0.5;
    const SamplerSettings settings = samplerSettings(options, defaults);
    QCOMPARE(settings.maxDenoisingSteps, 12);
    QCOMPARE(settings.tMin, 0.3);
    QCOMPARE(settings.entropyBoundNats, 0.5);
    options.steps = 0;
    QCOMPARE(kindOf([&] { (void)samplerSettings(options, defaults); }), ErrorKind::InvalidArgument);
}

void TestOptions::freshSeedsDiffer()
{
    const std::uint64_t first = seedOrRandom({});
    QVERIFY(first != seedOrRandom({}));
    QVERIFY(first < (std::uint64_t{1} << 53U));
    SamplerOptions options;
    options.seed = 42;
    QCOMPARE(seedOrRandom(options), std::uint64_t{42});
}

void TestOptions::firstNamedModelWins()
{
    const QTemporaryDir folder;
    const auto make = [&](const char *name) {
        QVERIFY2(QDir(folder.path()).mkdir(QString::fromUtf8(name)), name);
    };
    for (const char *name : {"option é", "environment", "settings", "bundled"})
        make(name);
    const std::filesystem::path base = folder.path().toStdString();
    ModelSources sources{.option = (base / "option é").string(),
                         .environment = (base / "environment").string(),
                         .settings = (base / "settings").string(),
                         .settingsFile = base / "settings.ini",
                         .bundled = base / "bundled"};
    QCOMPARE(findModel(sources).directory.filename().string(), std::string("option é"));
    sources.option.reset();
    QCOMPARE(findModel(sources).directory.filename().string(), std::string("environment"));
    QCOMPARE(findModel(sources).origin, std::string("PALIMPSEST_MODEL"));
    sources.environment = ""; // as good as not set
    QCOMPARE(findModel(sources).directory.filename().string(), std::string("settings"));
    sources.settings.reset();
    QCOMPARE(findModel(sources).directory.filename().string(), std::string("bundled"));
}

void TestOptions::namedModelThatIsMissingIsAnError()
{
    const QTemporaryDir folder;
    const std::filesystem::path base = folder.path().toStdString();
    ModelSources sources{.option = (base / "typo").string(),
                         .environment = std::nullopt,
                         .settings = std::nullopt,
                         .settingsFile = {},
                         .bundled = base};
    QCOMPARE(kindOf([&] { (void)findModel(sources); }), ErrorKind::NotFound); // no silent fall-back to the bundled one
    QFile file(folder.filePath(QStringLiteral("file")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    sources.option = (base / "file").string();
    QCOMPARE(kindOf([&] { (void)findModel(sources); }), ErrorKind::NotFound);
    sources.option = (base / "file" / "deeper").string();
    QCOMPARE(kindOf([&] { (void)findModel(sources); }), ErrorKind::NotFound);
}

void TestOptions::settingsFile_data()
{
    QTest::addColumn<QByteArray>("contents");
    QTest::addColumn<QString>("model"); // relative to the folder; "!" = refused
    QTest::addColumn<int>("threads");   // -1 = not set
    QTest::newRow("empty") << QByteArray() << "" << -1;
    QTest::newRow("both") << QByteArray("model=models/é\nthreads=2\n") << "models/é" << 2;
    QTest::newRow("a blank in the path") << QByteArray("model=my models/a\n") << "my models/a" << -1;
    QTest::newRow("quoted comma") << QByteArray("model=\"a,b\"\n") << "a,b" << -1;
    QTest::newRow("absolute") << QByteArray("model=/models/a\n") << "/models/a" << -1;
    QTest::newRow("bare comma") << QByteArray("model=a,b\n") << "!" << -1;
    QTest::newRow("empty model") << QByteArray("model=\n") << "!" << -1;
    QTest::newRow("threads are words") << QByteArray("threads=many\n") << "!" << -1;
    QTest::newRow("threads negative") << QByteArray("threads=-1\n") << "!" << -1;
}

void TestOptions::settingsFile()
{
    QFETCH(QByteArray, contents);
    QFETCH(QString, model);
    const QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath(QStringLiteral("settings.ini")).toStdString();
    QVERIFY(!readSettings(path).model); // a file that is not there says nothing
    QFile file(QString::fromStdString(path.string()));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(contents);
    file.close();
    if (model == QStringLiteral("!")) {
        QCOMPARE(kindOf([&] { (void)readSettings(path); }), ErrorKind::InvalidArgument);
        return;
    }
    const Settings settings = readSettings(path);
    const std::string expected = model.isEmpty() ? "" : (path.parent_path() / model.toStdString()).string();
    QCOMPARE(settings.model.value_or(""), expected);
    QTEST(settings.threads.value_or(-1), "threads");
}

void TestOptions::terminals_data()
{
    QTest::addColumn<bool>("isTerminal");
    QTest::addColumn<QString>("term");
    QTest::addColumn<QString>("colorTerm");
    QTest::addColumn<QString>("noColor");
    QTest::addColumn<bool>("canRedraw");
    QTest::addColumn<int>("depth");
    QTest::newRow("truecolor") << true << "xterm-256color"
                               << "truecolor"
                               << "" << true << int(ColourDepth::TrueColour);
    QTest::newRow("24bit") << true << "xterm"
                           << "24bit"
                           << "" << true << int(ColourDepth::TrueColour);
    QTest::newRow("256") << true << "screen-256color"
                         << ""
                         << "" << true << int(ColourDepth::Ansi256);
    QTest::newRow("16") << true << "linux"
                        << ""
                        << "" << true << int(ColourDepth::Ansi16);
    QTest::newRow("monochrome") << true << "vt100"
                                << ""
                                << "" << true << int(ColourDepth::None);
    QTest::newRow("NO_COLOR") << true << "xterm-256color"
                              << "truecolor"
                              << "1" << true << int(ColourDepth::None);
    QTest::newRow("dumb") << true << "dumb"
                          << ""
                          << "" << false << int(ColourDepth::None);
    QTest::newRow("no TERM") << true << ""
                             << "truecolor"
                             << "" << false << int(ColourDepth::None);
    QTest::newRow("a pipe") << false << "xterm-256color"
                            << "truecolor"
                            << "" << false << int(ColourDepth::None);
}

void TestOptions::terminals()
{
    QFETCH(bool, isTerminal);
    QFETCH(QString, term);
    QFETCH(QString, colorTerm);
    QFETCH(QString, noColor);
    TerminalEnvironment environment{.term = term.toStdString(),
                                    .colorTerm = colorTerm.toStdString(),
                                    .noColor = noColor.toStdString(),
                                    .colorFgBg = std::nullopt};
    const TerminalCapabilities capabilities = terminalCapabilities(isTerminal, environment);
    QTEST(capabilities.canRedraw, "canRedraw");
    QTEST(int(capabilities.depth), "depth");
    QCOMPARE(capabilities.background, Background::Dark);
    environment.colorFgBg = "0;default;15";
    QCOMPARE(terminalCapabilities(isTerminal, environment).background, Background::Light);
}

void TestOptions::displayModes()
{
    TerminalCapabilities terminal{.isTerminal = true, .canRedraw = true, .wantsColour = true};
    QCOMPARE(displayMode(ProgressChoice::Auto, terminal), DisplayMode::Live);
    QCOMPARE(displayMode(ProgressChoice::Lines, terminal), DisplayMode::Lines);
    QCOMPARE(displayMode(ProgressChoice::Silent, terminal), DisplayMode::Silent);
    terminal.wantsColour = false;
    QCOMPARE(displayMode(ProgressChoice::Auto, terminal), DisplayMode::Lines);
    QCOMPARE(displayMode(ProgressChoice::Live, terminal), DisplayMode::Live);
    terminal.canRedraw = false;
    QCOMPARE(displayMode(ProgressChoice::Live, terminal), DisplayMode::Lines);
}

// F020
void TestOptions::ratesNeedALongEnoughRun()
{
    RunFigures figures;
    figures.answerTokens = 3;
    figures.runMs = 0.001;
    QVERIFY(!tokensPerSecond(figures));
    QVERIFY(toJson(figures)["tokens_per_second"].is_null());
    QVERIFY(toJson(figures)["ms_per_step"].is_null());
    figures.answerTokens = 500;
    figures.runMs = 2000.0;
    QCOMPARE(tokensPerSecond(figures).value_or(0.0), 250.0);
}

QTEST_GUILESS_MAIN(TestOptions)
#include "tst_options.moc"
