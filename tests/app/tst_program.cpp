// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/program_runner.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using namespace palimpsest::test;

namespace {

constexpr const char *kNoisy = "Their going too the libary tommorow becuase they has to many book's to return.";

void write(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(bytes), bytes.size());
}

QByteArray read(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("<cannot be read>");
}

nlohmann::json json(const ProgramRun &run)
{
    return nlohmann::json::parse(run.output.toStdString());
}

const QString kDemo = QStringLiteral(PALIMPSEST_SOURCE_DIR "/resources/demo_model");

/// A copy of the demo model that may be damaged: links to all files but those that are left out.
void linkDemo(const QString &folder, const QStringList &without)
{
    const QStringList names = QDir(kDemo).entryList(QDir::Files);
    for (const QString &name : names) {
        if (!without.contains(name))
            QVERIFY(QFile::link(QDir(kDemo).filePath(name), QDir(folder).filePath(name)));
    }
}

} // namespace

class TestProgram : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void helpTeaches_data();
    void helpTeaches();
    void wrongUsageIsExplained_data();
    void wrongUsageIsExplained();
    void badInputIsRefusedAndKept_data();
    void badInputIsRefusedAndKept();
    void modelProblems_data();
    void modelProblems();
    void modelComesFromEnvironmentAndSettings();
    void tokensAndInspectAsJson();
    void benchAsJson();
    void generateIsReproducible();
    void proofreadWritesTheTextAlone();
    void proofreadInPlaceKeepsTheRest();
    void proofreadWithNothingToDo();
    void editStaysInsideTheSelection();
    void fillKeepsBothSides();
    void fullDiskIsAnError();
};

void TestProgram::helpTeaches_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("program") << QStringList{};
    for (const char *command :
         {"proofread", "generate", "edit", "fill", "tokens", "inspect", "bench", "serve", "synth"})
        QTest::newRow(command) << QStringList{QString::fromLatin1(command)};
}

void TestProgram::helpTeaches()
{
    QFETCH(QStringList, arguments);
    const ProgramRun run = runProgram(arguments + QStringList{"--help"});
    QCOMPARE(run.exitCode, 0);
    QVERIFY(run.error.isEmpty());
    for (const char *part : {"Usage:", "Examples:\n  palimpsest ", "Exit codes:"})
        QVERIFY2(run.output.contains(part), part);
}

void TestProgram::wrongUsageIsExplained_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("part");
    QTest::newRow("a file without a display")
        << QStringList{QStringLiteral(PALIMPSEST_SOURCE_DIR "/README.md")} << QByteArray("README.md cannot be opened");
    QTest::newRow("unknown command") << QStringList{"proofraed", "x"} << QByteArray("did you mean proofread?");
    QTest::newRow("unknown option") << QStringList{"proofread", "x", "--sede", "1"}
                                    << QByteArray("did you mean --seed?");
    QTest::newRow("nothing near") << QStringList{"tokens", "--zebra"} << QByteArray("\"--zebra\" is no option");
    QTest::newRow("missing file") << QStringList{"proofread"} << QByteArray("file");
    QTest::newRow("value is no number") << QStringList{"generate", "--steps", "many", "x"} << QByteArray("--steps");
    QTest::newRow("step cap of zero") << QStringList{"generate", "--steps", "0", "x"} << QByteArray("palimpsest: ");
    QTest::newRow("temperature is not a number")
        << QStringList{"generate", "--t-min", "nan", "x"} << QByteArray("palimpsest: ");
    QTest::newRow("negative seed") << QStringList{"generate", "--seed", "-1", "x"} << QByteArray("--seed");
    QTest::newRow("unknown device") << QStringList{"generate", "--device", "tpu", "x"} << QByteArray("--device");
    QTest::newRow("live and not") << QStringList{"generate", "--live", "--no-live", "x"} << QByteArray("--no-live");
    QTest::newRow("thinking on a model that cannot")
        << QStringList{"generate", "--think", "x"} << QByteArray("thinking");
    QTest::newRow("in place on standard input")
        << QStringList{"proofread", "--in-place", "-"} << QByteArray("--in-place");
    QTest::newRow("empty stop string") << QStringList{"generate", "--stop", "", "x"} << QByteArray("palimpsest: ");
}

void TestProgram::wrongUsageIsExplained()
{
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, part);
    const ProgramRun run = runProgram(arguments);
    QCOMPARE(run.exitCode, 2);
    QVERIFY(run.output.isEmpty());
    QVERIFY2(run.error.contains(part), run.error.constData());
}

void TestProgram::badInputIsRefusedAndKept_data()
{
    QTest::addColumn<QByteArray>("contents");
    QTest::addColumn<QStringList>("arguments"); // FILE stands for the file
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QByteArray>("part");
    const QStringList proofread{"proofread", "--in-place", "FILE"};
    QTest::newRow("empty") << QByteArray() << proofread << 3 << QByteArray("empty");
    QTest::newRow("binary") << QByteArray("a\0b", 3) << proofread << 3 << QByteArray("zero byte at byte 1");
    QTest::newRow("not UTF-8") << QByteArray("na\xEFve") << proofread << 3 << QByteArray("0xef at byte 2");
    QTest::newRow("10 MB") << QByteArray(10'000'000, 'a') << proofread << 3 << QByteArray("8388608");
    const auto edit = [](const char *selection) {
        return QStringList{
            "edit", "--in-place", "FILE", "--instruction", "Fix", "--select", QString::fromLatin1(selection)};
    };
    QTest::newRow("selection behind the end") << QByteArray("text") << edit("2:9") << 2 << QByteArray("4 bytes");
    QTest::newRow("selection reversed") << QByteArray("text") << edit("3:1") << 2 << QByteArray("3:1");
    QTest::newRow("selection is no range") << QByteArray("text") << edit("first") << 2 << QByteArray("BEGIN:END");
    QTest::newRow("words that are not there")
        << QByteArray("text") << QStringList{"edit", "-i", "FILE", "--find", "word"} << 2 << QByteArray("word");
    QTest::newRow("words that are there twice")
        << QByteArray("a b a") << QStringList{"edit", "-i", "FILE", "--find", "a"} << 2 << QByteArray("more than once");
    QTest::newRow("missing file") << QByteArray("x") << QStringList{"proofread", "FILE.txt"} << 5
                                  << QByteArray("FILE.txt");
    QTest::newRow("under a file") << QByteArray("x") << QStringList{"proofread", "FILE/x"} << 5
                                  << QByteArray("Not a directory");
    QTest::newRow("folder") << QByteArray("x") << QStringList{"proofread", "."} << 3 << QByteArray("found a folder");
    QTest::newRow("prompt longer than the context")
        << QByteArray(100'000, 'x') << QStringList{"generate", "--file", "FILE"} << 6 << QByteArray("8192");
}

void TestProgram::badInputIsRefusedAndKept()
{
    QFETCH(QByteArray, contents);
    QFETCH(QStringList, arguments);
    QFETCH(int, exitCode);
    QFETCH(QByteArray, part);
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("the naïve 田 file"));
    write(path, contents);
    arguments.replaceInStrings(QStringLiteral("FILE"), path);
    part.replace("FILE", path.toUtf8());
    const ProgramRun run = runProgram(arguments);
    QVERIFY2(run.exitCode == exitCode, run.error.constData());
    QVERIFY2(run.error.contains(part), run.error.constData());
    QVERIFY(run.output.isEmpty());
    QCOMPARE(read(path), contents);
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).size(), 1);
}

void TestProgram::modelProblems_data()
{
    QTest::addColumn<QStringList>("without");
    QTest::addColumn<QByteArray>("tokenizer"); // replaces it if not empty
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QByteArray>("part");
    const QStringList generate{"generate", "-q", "x"};
    const QByteArray small = R"({"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}})";
    QTest::newRow("no tokenizer") << QStringList{"tokenizer.json"} << QByteArray() << generate << 4
                                  << QByteArray("tokenizer.json");
    QTest::newRow("no chat template") << QStringList{"chat_template.jinja"} << QByteArray() << generate << 4
                                      << QByteArray("--raw");
    QTest::newRow("raw needs no chat template")
        << QStringList{"chat_template.jinja"} << QByteArray()
        << QStringList{"generate", "-q", "--raw", "--max-tokens", "4", "--steps", "2", "x"} << 0 << QByteArray();
    QTest::newRow("another model's tokenizer")
        << QStringList{"tokenizer.json"} << small << generate << 4 << QByteArray("tokenizer");
    QTest::newRow("no config") << QStringList{"config.json"} << QByteArray() << generate << 5
                               << QByteArray("config.json");
    QTest::newRow("no experts") << QStringList{"experts_00001.safetensors"} << QByteArray() << generate << 4
                                << QByteArray("experts");
}

void TestProgram::modelProblems()
{
    QFETCH(QStringList, without);
    QFETCH(QByteArray, tokenizer);
    QFETCH(QStringList, arguments);
    QFETCH(int, exitCode);
    QFETCH(QByteArray, part);
    const QTemporaryDir folder;
    linkDemo(folder.path(), without);
    if (!tokenizer.isEmpty())
        write(folder.filePath(QStringLiteral("tokenizer.json")), tokenizer);
    const ProgramRun run = runProgram(arguments + QStringList{"--model", folder.path()});
    QVERIFY2(run.exitCode == exitCode, run.error.constData());
    QVERIFY2(run.error.contains(part), run.error.constData());
}

void TestProgram::modelComesFromEnvironmentAndSettings()
{
    const QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkpath(QStringLiteral("palimpsest")));
    write(folder.filePath(QStringLiteral("palimpsest/settings.ini")), "model=from-settings\n");
    const std::map<QString, QString> settings{{"XDG_CONFIG_HOME", folder.path()}};
    ProgramRun run = runProgram({"tokens", "x"}, {}, settings);
    QCOMPARE(run.exitCode, 5);
    QVERIFY2(run.error.contains("palimpsest/from-settings") && run.error.contains("settings.ini"),
             run.error.constData());
    run =
        runProgram({"tokens", "x"}, {}, {{"XDG_CONFIG_HOME", folder.path()}, {"PALIMPSEST_MODEL", "from-environment"}});
    QVERIFY2(run.error.contains("from-environment") && run.error.contains("PALIMPSEST_MODEL"), run.error.constData());
    run = runProgram({"tokens", "x", "--model", kDemo}, {}, settings);
    QCOMPARE(run.exitCode, 0);
}

void TestProgram::tokensAndInspectAsJson()
{
    const nlohmann::json tokens = json(runProgram({"tokens", "--json"}, "déjà <|turn>"));
    std::int64_t end = 0;
    for (const nlohmann::json &token : tokens["tokens"]) {
        QVERIFY(token["begin"] <= end); // contiguous
        end = token["end"];
        QVERIFY(!token["special"]);
    }
    QCOMPARE(end, std::int64_t{14});
    QVERIFY(json(runProgram({"tokens", "--json", "--special", "<|turn>"}))["tokens"][0]["special"] == true);
    const nlohmann::json report = json(runProgram({"inspect", "--json"}));
    QVERIFY(report["format"] == nlohmann::json("dg-w4a16-v1"));
    QCOMPARE(report["warnings"].size(), std::size_t{0});
    QVERIFY(report["files"].size() == 4 && !report.contains("tensors"));
}

void TestProgram::benchAsJson()
{
    const nlohmann::json report =
        json(runProgram({"bench", "--json", "--device", "cpu", "--context", "0", "--batch", "1,2", "--steps", "1"}));
    QCOMPARE(report["steps"].size(), std::size_t{2});
    QVERIFY(report["measured_steps"] == 1);
    for (const nlohmann::json &row : report["steps"]) {
        QVERIFY(row["least_ms"] <= row["median_ms"] && row["median_ms"] <= row["most_ms"]);
        for (const char *key : {"median_ms", "half_settled_median_ms", "settled_median_ms", "floor_ms"})
            QVERIFY2(row[key].get<double>() > 0.0, key);
    }
    // One canvas is settled or not.
    QVERIFY(report["steps"][0]["half_settled_median_ms"] == report["steps"][0]["settled_median_ms"]);
}

void TestProgram::generateIsReproducible()
{
    const QStringList arguments{"generate", "--json", "-q", "Make a list: apples, pears and bread", "--steps", "12"};
    const nlohmann::json first = json(runProgram(arguments + QStringList{"--seed", "7", "--threads", "1"}));
    const nlohmann::json second = json(runProgram(arguments + QStringList{"--seed", "7", "--threads", "2"}));
    QVERIFY(first["text"] == second["text"]);
    QVERIFY(first["result"]["seed"] == nlohmann::json(7));
    QVERIFY(first["result"]["canvases"] == second["result"]["canvases"]);
    QVERIFY(first["result"]["canvases"][0]["steps"].get<int>() >= 1);
    QVERIFY(first["timings"]["ms_per_step"].get<double>() > 0.0);
    // Without a seed, a fresh one is drawn and told.
    const nlohmann::json third = json(runProgram(arguments));
    QVERIFY(third["result"]["seed"] != json(runProgram(arguments))["result"]["seed"]);
    // The budget holds.
    const nlohmann::json cut = json(runProgram(arguments + QStringList{"--max-tokens", "3"}));
    QVERIFY(cut["result"]["completion_tokens"].get<int>() <= 3);
    QVERIFY(cut["result"]["finish_reason"] == nlohmann::json("budget"));
}

void TestProgram::proofreadWritesTheTextAlone()
{
    const QByteArray input = QByteArray(kNoisy) + "\n\n" + kNoisy;
    const ProgramRun run = runProgram({"proofread", "-"}, input);
    QVERIFY2(run.exitCode == 0, run.error.constData());
    QVERIFY2(run.output.contains("library tomorrow because"), run.output.constData());
    QVERIFY(!run.output.contains('\x1b') && !run.error.contains('\x1b'));
    QVERIFY(run.error.contains("passages")); // progress goes elsewhere
    QCOMPARE(run.output.count('\n'), 2);
    const ProgramRun quiet = runProgram({"proofread", "-q", "-"}, input);
    QCOMPARE(quiet.output, run.output);
    QVERIFY(quiet.error.isEmpty());
    const nlohmann::json report = json(runProgram({"proofread", "-q", "--json", "-"}, input));
    QCOMPARE(report["text"].get<std::string>(), run.output.toStdString());
    QVERIFY(report["changes"].size() > 4 && report["segments"].size() == 2);
}

void TestProgram::proofreadInPlaceKeepsTheRest()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("brief é.txt"));
    const QByteArray contents = QByteArray("\xEF\xBB\xBF  ") + kNoisy + "\r\n\r\n\tcode();\r\n";
    write(path, contents);
    QVERIFY(QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner));
    const ProgramRun run = runProgram({"proofread", "-q", "--in-place", path});
    QVERIFY2(run.exitCode == 0, run.error.constData());
    QVERIFY(run.output.isEmpty());
    const QByteArray corrected = read(path);
    QVERIFY2(corrected.startsWith("\xEF\xBB\xBF  They") && corrected.contains("tomorrow because"),
             corrected.constData());
    QVERIFY2(corrected.endsWith("\r\n\r\n\tcode();\r\n"), corrected.constData());
    QCOMPARE(QFile::permissions(path) & (QFile::ReadGroup | QFile::ReadOther), QFile::Permissions());
    const ProgramRun diff = runProgram({"proofread", "-q", "--diff", "-"}, contents);
    QVERIFY2(diff.output.startsWith("1: ") && diff.output.contains("[-tommorow-]{+tomorrow+}"),
             diff.output.constData());
}

void TestProgram::proofreadWithNothingToDo()
{
    const QByteArray blank = "\n\n   \n";
    const ProgramRun run = runProgram({"proofread", "-q", "-"}, blank);
    QVERIFY2(run.exitCode == 0, run.error.constData());
    QCOMPARE(run.output, blank);
    QVERIFY(runProgram({"proofread", "-q", "--diff", "-"}, blank).output.isEmpty());
}

void TestProgram::editStaysInsideTheSelection()
{
    const QByteArray text = "\xEF\xBB\xBFLine one.\r\nThe wether is realy good.\r\nLine 👨\u200D👩\u200D👧 three.\r\n";
    const ProgramRun run = runProgram({"edit", "-q", "-", "--find", "The wether is realy good", "--instruction",
                                       "Fix the spelling", "--seed", "1", "--steps", "12"},
                                      text);
    if (run.exitCode == 8) { // an unusable answer is a result too: nothing is written then
        QVERIFY(run.output.isEmpty());
    } else {
        QVERIFY2(run.exitCode == 0, run.error.constData());
        QVERIFY2(run.output.startsWith("\xEF\xBB\xBFLine one.\r\n"), run.output.constData());
        QVERIFY2(run.output.endsWith(".\r\nLine 👨\u200D👩\u200D👧 three.\r\n"), run.output.constData());
    }
    // A selection inside a character is widened to it, and said so.
    const QByteArray family = QByteArray("👨\u200D👩\u200D👧");
    const qsizetype at = text.indexOf(family);
    const QString inside = QStringLiteral("%1:%2").arg(at + 2).arg(at + 5);
    const ProgramRun snapped =
        runProgram({"edit", "-", "--select", inside, "--seed", "1", "--steps", "2", "--length", "2"}, text);
    const QString whole = QStringLiteral("%1:%2").arg(at).arg(at + family.size());
    QVERIFY2(snapped.error.contains("widened to " + whole.toUtf8()), snapped.error.constData());
}

void TestProgram::fillKeepsBothSides()
{
    const nlohmann::json fill =
        json(runProgram({"fill", "-q", "--json", "--prefix", "The ship left ", "--suffix", " before dawn.", "--length",
                         "2", "--length", "3", "--seed", "4", "--steps", "16"}));
    const std::string text = fill["text"];
    QVERIFY2(text.rfind("The ship left ", 0) == 0, text.c_str());
    QVERIFY2(text.ends_with(" before dawn."), text.c_str());
    QCOMPARE(fill["candidates"].size(), std::size_t{2});
    QVERIFY(fill["seed"] == nlohmann::json(4));
}

void TestProgram::fullDiskIsAnError()
{
    QProcess program;
    program.setStandardOutputFile(QStringLiteral("/dev/full"));
    program.start(programPath(), {"inspect"});
    QVERIFY(program.waitForFinished(-1));
    QCOMPARE(program.exitCode(), 5);
    QVERIFY(program.readAllStandardError().contains("standard output"));
}

QTEST_GUILESS_MAIN(TestProgram)
#include "tst_program.moc"
