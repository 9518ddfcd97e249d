// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/model_chooser.h"
#include "engine/error.h"
#include "engine/synthetic_checkpoint.h"
#include "tests/support/fake_backend.h"
#include "tests/support/test_tokenizers.h"
#include "tests/support/tiny_checkpoint.h"
#include "tests/support/tiny_tokenizer.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::studio;

namespace {

constexpr int kPatienceMs = 30'000; // for sanitizers on a busy machine

/// What runs while a folder is checked.
EngineParts runningParts()
{
    EngineParts parts;
    parts.id = "fake";
    parts.backend =
        std::make_unique<test::FakeBackend>(test::FakeSettings{.vocabSize = 8192}, test::settlingModel(8192));
    parts.tokenizer = test::demoTokenizer();
    return parts;
}

} // namespace

/// The check of a model folder: how far it is, and how it is given up. The model has many layers, each in a file.
class TestModelCheck : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void tellsHowFarItIs();
    void isGivenUpAtOnce();
    void cudaThatIsAskedForAndNotThereIsRefused();
    void theChooserShowsPerCent();
    void theChooserLetsGoOfTheFolder();

private:
    [[nodiscard]] ModelOptions options() const
    {
        return {.model = folder().toStdString(), .threads = 1, .device = "cpu"};
    }
    [[nodiscard]] QString folder() const { return m_temporary.filePath(QStringLiteral("model")); }
    [[nodiscard]] bool holdsTheFolder() const
    {
        return test::readFile("/proc/self/maps").find(folder().toStdString()) != std::string::npos;
    }

    QTemporaryDir m_temporary;
};

void TestModelCheck::initTestCase()
{
    SyntheticShape shape = syntheticShape("tiny").value();
    shape.layers = 24;
    const std::filesystem::path path = folder().toStdString();
    writeSyntheticCheckpoint(shape, path, 1);
    test::writeFile(path / "tokenizer.json", test::tinyTokenizerJson().dump());
}

void TestModelCheck::tellsHowFarItIs()
{
    std::vector<double> files;
    std::vector<CheckStage> stages;
    const ModelCheck check = checkModel(options(), [&](CheckStage stage, std::optional<double> part) {
        stages.push_back(stage);
        if (stage == CheckStage::Files)
            files.push_back(part.value());
        return true;
    });
    QVERIFY(check.onCpu);
    QVERIFY(check.neededBytes > check.weightBytes);
    QVERIFY(!check.cardFreeBytes.has_value());
    QVERIFY(std::is_sorted(files.begin(), files.end()));
    QVERIFY2(files.size() > 100, "24 files, and the scales of their experts");
    QVERIFY(files.front() == 0.0 && files.back() > 0.8);
    QVERIFY(std::is_sorted(stages.begin(), stages.end()));
    QVERIFY(stages.back() == CheckStage::Device);
}

void TestModelCheck::isGivenUpAtOnce()
{
    for (const double limit : {0.0, 0.05, 0.5}) {
        int after = 0;
        try {
            (void)checkModel(options(), [&](CheckStage, std::optional<double> part) {
                if (part.value_or(1.0) < limit)
                    return true;
                ++after;
                return false;
            });
            QFAIL("checked although it was given up");
        } catch (const Error &error) {
            QVERIFY2(error.kind() == ErrorKind::Backend && error.subject() == "cancelled", error.what());
        }
        QCOMPARE(after, 1);
        QVERIFY(!holdsTheFolder());
    }
}

void TestModelCheck::cudaThatIsAskedForAndNotThereIsRefused()
{
    ModelOptions asked = options();
    asked.device = "cuda";
    try {
        const ModelCheck check = checkModel(asked, [](CheckStage, std::optional<double>) { return true; });
        QVERIFY(!check.onCpu); // on a machine that has a card
        QVERIFY(check.cardFreeBytes.has_value());
    } catch (const Error &error) {
        QVERIFY2(std::string(error.what()).starts_with("CUDA cannot be used: "), error.what());
    }
}

void TestModelCheck::theChooserShowsPerCent()
{
    EngineHost host(runningParts());
    ModelChooser chooser(host, options(), {}, nullptr);
    std::vector<double> shown;
    connect(&chooser, &ModelChooser::progressChanged, &chooser, [&] { shown.push_back(chooser.progress()); });
    chooser.check(folder());
    QCOMPARE(chooser.state(), ModelChooser::State::Checking);
    QTRY_COMPARE_WITH_TIMEOUT(chooser.state(), ModelChooser::State::Usable, kPatienceMs);
    QVERIFY2(shown.size() > 20, qPrintable(QString::number(shown.size())));
    QVERIFY2(shown.size() < 110, "each per cent once");
    QVERIFY(std::is_sorted(shown.begin(), shown.end() - 1));
    QCOMPARE(shown.back(), -1.0); // looking for a device
}

void TestModelCheck::theChooserLetsGoOfTheFolder()
{
    EngineHost host(runningParts());
    ModelChooser chooser(host, options(), {}, nullptr);
    connect(&chooser, &ModelChooser::progressChanged, &chooser, [&chooser] {
        if (chooser.state() == ModelChooser::State::Checking && chooser.progress() > 0.0)
            chooser.cancel();
    });
    chooser.check(folder());
    QTRY_COMPARE_WITH_TIMEOUT(chooser.state(), ModelChooser::State::Idle, kPatienceMs);
    const QSignalSpy changes(&chooser, &ModelChooser::changed);
    QTRY_VERIFY_WITH_TIMEOUT(!holdsTheFolder(), kPatienceMs);
    QVERIFY(chooser.problemText().isEmpty() && chooser.facts().isEmpty());
    QCOMPARE(changes.count(), 0);
    chooser.disconnect();
    chooser.check(folder()); // and again, as if nothing had been
    QTRY_COMPARE_WITH_TIMEOUT(chooser.state(), ModelChooser::State::Usable, kPatienceMs);
}

QTEST_GUILESS_MAIN(TestModelCheck)
#include "tst_model_check.moc"
