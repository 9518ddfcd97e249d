// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/backend_loader.h"
#include "engine/error.h"
#include "tests/support/golden.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace palimpsest;

namespace {

std::shared_ptr<const Checkpoint> tinyModel()
{
    return Checkpoint::open(test::goldenFolder() / "models/tiny-a/dg-w4a16");
}

std::filesystem::path pathOf(const QTemporaryDir &folder)
{
    return folder.path().toStdString();
}

} // namespace

/// On a machine with an NVIDIA device or without one: what must hold in both.
class TestBackendLoader : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void namesOfDevices();
    void computesOnTheCpuWhereAsked();
    void fallsBackToTheCpuAndSaysWhy();
    void refusesCudaThatWasAskedFor();
    void saysWhatIsWrongWithAModule();
    void theModuleOfThisBuildAnswers();
    void theModuleTellsWhatAModelNeeds();
    void cancellingIsNotAReasonToFallBack();
    void foldersOfTheEnvironmentComeFirst();
};

void TestBackendLoader::namesOfDevices()
{
    QVERIFY(deviceChoiceFromName("auto") == DeviceChoice::Auto);
    QVERIFY(deviceChoiceFromName("cpu") == DeviceChoice::Cpu);
    QVERIFY(deviceChoiceFromName("cuda") == DeviceChoice::Cuda);
    QVERIFY(!deviceChoiceFromName("CUDA").has_value());
    QVERIFY(!deviceChoiceFromName("").has_value());
}

void TestBackendLoader::computesOnTheCpuWhereAsked()
{
    const LoadedBackend loaded =
        loadBackend(tinyModel(), {.device = DeviceChoice::Cpu, .threads = 1, .moduleFolders = defaultModuleFolders()});
    QCOMPARE(loaded.backend->info().kind, std::string("cpu"));
    QVERIFY(loaded.whyNotCuda.empty());
}

// F085
void TestBackendLoader::fallsBackToTheCpuAndSaysWhy()
{
    const QTemporaryDir empty;
    const LoadedBackend loaded =
        loadBackend(tinyModel(), {.device = DeviceChoice::Auto, .threads = 1, .moduleFolders = {pathOf(empty)}});
    QCOMPARE(loaded.backend->info().kind, std::string("cpu"));
    QCOMPARE(loaded.whyNotCuda, std::string("the CUDA module (palimpsest_cuda.so) is not installed"));
    QVERIFY(!loaded.hasUnusedDevice);
}

void TestBackendLoader::refusesCudaThatWasAskedFor()
{
    const QTemporaryDir empty;
    try {
        (void)loadBackend(tinyModel(), {.device = DeviceChoice::Cuda, .threads = 1, .moduleFolders = {pathOf(empty)}});
        QFAIL("CUDA without a module");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::Backend);
        QVERIFY(std::string(error.what()).starts_with("CUDA cannot be used: the CUDA module"));
    }
}

void TestBackendLoader::saysWhatIsWrongWithAModule()
{
    const QTemporaryDir folder;
    std::ofstream(pathOf(folder) / "palimpsest_cuda.so") << "not a shared object";
    const auto problem = whyNotCuda({pathOf(folder)});
    QVERIFY(problem.has_value());
    QVERIFY2(problem->starts_with("the CUDA module cannot be loaded: "), problem->c_str());
    QVERIFY(!freeDeviceBytes({pathOf(folder)}).has_value());
    QVERIFY(!neededDeviceBytes(*tinyModel(), {pathOf(folder)}).has_value());
    const LoadedBackend loaded =
        loadBackend(tinyModel(), {.device = DeviceChoice::Auto, .threads = 1, .moduleFolders = {pathOf(folder)}});
    QCOMPARE(loaded.backend->info().kind, std::string("cpu"));
}

void TestBackendLoader::theModuleOfThisBuildAnswers()
{
    const std::filesystem::path folder = std::filesystem::path(PALIMPSEST_BINARY_DIR) / "lib" / "palimpsest";
    const auto problem = whyNotCuda({folder});
    if (!std::filesystem::exists(folder / "palimpsest_cuda.so")) {
        QVERIFY(problem.has_value());
        return;
    }
    // With a device nothing is wrong; without one a person is told what is missing.
    const std::string text = problem.value_or("");
    QVERIFY2(text.empty() || text.find("NVIDIA") != std::string::npos || text.find("capability") != std::string::npos,
             text.c_str());
    const LoadedBackend loaded =
        loadBackend(tinyModel(), {.device = DeviceChoice::Auto, .threads = 1, .moduleFolders = {folder}});
    QCOMPARE(loaded.backend->info().kind, std::string(problem ? "cpu" : "cuda"));
    QCOMPARE(loaded.whyNotCuda, text);
    const std::optional<std::int64_t> freeBytes = freeDeviceBytes({folder});
    QCOMPARE(freeBytes.has_value(), !problem.has_value());
    QVERIFY(freeBytes.value_or(1) > 0);
}

void TestBackendLoader::theModuleTellsWhatAModelNeeds()
{
    const std::filesystem::path folder = std::filesystem::path(PALIMPSEST_BINARY_DIR) / "lib" / "palimpsest";
    const auto model = tinyModel();
    const std::optional<std::int64_t> needed = neededDeviceBytes(*model, {folder});
    QCOMPARE(needed.has_value(), std::filesystem::exists(folder / "palimpsest_cuda.so")); // with a device or without
    QVERIFY(needed.value_or(model->weightBytes() + 1) > model->weightBytes());
}

void TestBackendLoader::cancellingIsNotAReasonToFallBack()
{
    int calls = 0;
    try {
        (void)loadBackend(tinyModel(),
                          {.device = DeviceChoice::Auto, .threads = 1, .moduleFolders = defaultModuleFolders()},
                          [&calls](double) {
                              ++calls;
                              return false;
                          });
        QFAIL("loaded although it was cancelled");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::Backend);
    }
    QCOMPARE(calls, 1);
}

void TestBackendLoader::foldersOfTheEnvironmentComeFirst()
{
    const QByteArray before = qgetenv("PALIMPSEST_MODULES");
    qputenv("PALIMPSEST_MODULES", "/one::/two");
    const auto folders = defaultModuleFolders();
    qputenv("PALIMPSEST_MODULES", before);
    QCOMPARE(folders.size(), std::size_t{4});
    QCOMPARE(folders[0], std::filesystem::path("/one"));
    QCOMPARE(folders[1], std::filesystem::path("/two"));
    QVERIFY(folders[3].string().ends_with("lib/palimpsest"));
}

QTEST_GUILESS_MAIN(TestBackendLoader)
#include "tst_backend_loader.moc"
