// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/checkpoint.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/error.h"
#include "engine/synthetic_checkpoint.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>
#include <iterator>

using namespace palimpsest;

namespace {

std::filesystem::path in(const QTemporaryDir &folder, const char *name)
{
    return std::filesystem::path(folder.path().toStdString()) / name;
}

std::string contents(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

} // namespace

class TestSyntheticCheckpoint : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void shapesHaveTheSizesOfTheirModels();
    void aShapeLoadsAndComputes();
    void theSeedDecidesTheBytes();
    void refusesAFolderThatIsNotEmpty();
    void canBeCancelled();
};

void TestSyntheticCheckpoint::shapesHaveTheSizesOfTheirModels()
{
    // 12.37 GB of experts, 3.29 GB of other matrices and 1.48 GB of embedding, by the sizes of the published model.
    QVERIFY(std::abs(static_cast<double>(syntheticBytes(syntheticShape("26b").value())) - 17.2e9) < 0.1e9);
    QVERIFY(!syntheticShape("27b").has_value());
}

void TestSyntheticCheckpoint::aShapeLoadsAndComputes()
{
    const QTemporaryDir folder;
    const SyntheticShape shape = syntheticShape("tiny").value();
    writeSyntheticCheckpoint(shape, in(folder, "model"), 3);
    const auto checkpoint = Checkpoint::open(in(folder, "model"));
    QVERIFY(checkpoint->format() == CheckpointFormat::DgW4a16);
    QCOMPARE(checkpoint->config().hiddenSize, shape.hiddenSize);
    QCOMPARE(std::ssize(checkpoint->config().layers), shape.layers);
    QVERIFY(checkpoint->config().layers.back().kind == LayerKind::Full);

    const auto backend = cpu::makeCpuBackend(checkpoint, {.threads = 1});
    const auto prefix = backend->newSequence();
    std::vector<TokenId> canvas;
    while (std::ssize(canvas) < shape.canvasLength)
        canvas.push_back(static_cast<TokenId>(canvas.size() * 37 % static_cast<std::size_t>(shape.vocabSize)));
    QVERIFY(backend->encode(*prefix, canvas, {}));
    std::vector<PositionResult> results(canvas.size());
    const DenoiseJob job{.prefix = prefix.get(),
                         .canvas = canvas,
                         .conditioning = nullptr,
                         .temperature = 0.5F,
                         .noise = {},
                         .logitBias = {},
                         .results = results};
    backend->denoise({&job, 1});
    // Nothing overflowed, and some positions are undecided (a position's own embedding stands out: it is in its
    // stream).
    float mean = 0.0F;
    for (const PositionResult &result : results)
        mean += result.entropyNats / static_cast<float>(results.size());
    QVERIFY2(mean > 0.001F && mean < std::log(static_cast<float>(shape.vocabSize)), qPrintable(QString::number(mean)));
}

void TestSyntheticCheckpoint::theSeedDecidesTheBytes()
{
    const QTemporaryDir folder;
    const SyntheticShape shape = syntheticShape("tiny").value();
    writeSyntheticCheckpoint(shape, in(folder, "one"), 1);
    writeSyntheticCheckpoint(shape, in(folder, "again"), 1);
    writeSyntheticCheckpoint(shape, in(folder, "two"), 2);
    for (const char *file : {"model.safetensors", "experts_00003.safetensors"}) {
        QVERIFY(contents(in(folder, "one") / file) == contents(in(folder, "again") / file));
        QVERIFY(contents(in(folder, "one") / file) != contents(in(folder, "two") / file));
    }
}

void TestSyntheticCheckpoint::refusesAFolderThatIsNotEmpty()
{
    const QTemporaryDir folder;
    std::ofstream(in(folder, "letter.txt")) << "kept";
    try {
        writeSyntheticCheckpoint(syntheticShape("tiny").value(), folder.path().toStdString(), 1);
        QFAIL("wrote into a folder with files in it");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidArgument);
    }
    QCOMPARE(contents(in(folder, "letter.txt")), std::string("kept"));
}

void TestSyntheticCheckpoint::canBeCancelled()
{
    const QTemporaryDir folder;
    QVERIFY_EXCEPTION_THROWN(
        writeSyntheticCheckpoint(syntheticShape("tiny").value(), in(folder, "model"), 1, [](double) { return false; }),
        Error);
}

QTEST_GUILESS_MAIN(TestSyntheticCheckpoint)
#include "tst_synthetic_checkpoint.moc"
