// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/safetensors.h"
#include "tests/support/golden.h"
#include "tests/support/tiny_checkpoint.h"

#include <QTest>

#include <cstring>
#include <filesystem>

using namespace palimpsest;

namespace {

std::vector<SafetensorsEntry> parse(const std::string &file)
{
    return parseSafetensors(std::as_bytes(std::span(file)), "some.safetensors");
}

std::string lengthPrefix(std::uint64_t length)
{
    std::string bytes;
    for (unsigned shift = 0; shift < 64; shift += 8)
        bytes.push_back(static_cast<char>(length >> shift));
    return bytes;
}

QByteArray file(const std::string &header, std::size_t dataBytes)
{
    return QByteArray::fromStdString(lengthPrefix(header.size()) + header + std::string(dataBytes, 'x'));
}

QByteArray file(const std::string &header, std::size_t dataBytes, std::uint64_t claimedLength)
{
    return QByteArray::fromStdString(lengthPrefix(claimedLength) + header + std::string(dataBytes, 'x'));
}

} // namespace

class TestSafetensors : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsTensorsInFileOrder();
    void oddButValidFilesAreRead_data();
    void oddButValidFilesAreRead();
    void badFilesAreRefused_data();
    void badFilesAreRefused();
    void everyTruncationIsRefused();
    void everyFixtureIsRead();
};

void TestSafetensors::readsTensorsInFileOrder()
{
    const auto entries = parse(file(R"({"__metadata__": {"format": "pt"},
        "a": {"dtype": "F16", "shape": [2, 3], "data_offsets": [4, 16]},
        "z": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}})",
                                    16)
                                   .toStdString());
    QCOMPARE(entries.size(), std::size_t{2});
    QCOMPARE(entries[0].name, "z");
    QCOMPARE(entries[0].dtype, Dtype::F32);
    QVERIFY(entries[0].shape.empty());
    QCOMPARE(entries[1].name, "a");
    QCOMPARE(entries[1].shape, (std::vector<std::int64_t>{2, 3}));
    QCOMPARE(entries[1].bytes.size(), std::size_t{12});
    QCOMPARE(entries[1].bytes.data() - entries[0].bytes.data(), std::ptrdiff_t{4});
}

void TestSafetensors::oddButValidFilesAreRead_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<int>("count");
    QTest::newRow("no tensors") << file("{}", 0) << 0;
    QTest::newRow("header padded with spaces") << file("{}      ", 0) << 0;
    QTest::newRow("empty tensor") << file(R"({"a": {"dtype": "U8", "shape": [3, 0], "data_offsets": [0, 0]}})", 0) << 1;
    QTest::newRow("empty tensor between two") << file(R"({
        "a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
        "b": {"dtype": "I64", "shape": [0], "data_offsets": [2, 2]},
        "c": {"dtype": "BOOL", "shape": [1], "data_offsets": [2, 3]}})",
                                                      3)
                                              << 3;
    QTest::newRow("not ASCII") << file(R"({"é田": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})", 1) << 1;
}

void TestSafetensors::oddButValidFilesAreRead()
{
    QFETCH(QByteArray, content);
    QTEST(static_cast<int>(parse(content.toStdString()).size()), "count");
}

void TestSafetensors::badFilesAreRefused_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QByteArray>("mention");
    const auto row = [](const char *name, const QByteArray &content, const char *mention) {
        QTest::newRow(name) << content << QByteArray(mention);
    };
    const auto tensor = [](const char *fields) {
        return "{\"a\": {" + std::string(fields) + "}}";
    };
    row("empty", "", "is empty (0 bytes)");
    row("seven bytes", "1234567", "7 bytes");
    row("LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n", "Git LFS pointer");
    row("web page", "<!DOCTYPE html><html></html>", "web page");
    row("zip", QByteArray("PK\x03\x04") + QByteArray(100, 'x'), "PyTorch");
    row("header longer than the file", file("{}", 0, 3), "should have 3 bytes, but the file ends after 2");
    row("header of 2^63 bytes", file("{}", 0, 1ULL << 63U), "header length of 9223372036854775808");
    row("header of 2^64 - 1 bytes", file("{}", 0, ~0ULL), "header length");
    row("header of 2^64 - 8 bytes", file("{}", 0, ~7ULL), "header length");
    row("header not JSON", file("hello", 0), "syntax error");
    row("header empty", file("", 0), "syntax error");
    row("header a list", file("[]", 0), "wanted a JSON object");
    row("tensor a number", file(R"({"a": 5})", 0), "wanted a JSON object");
    row("no dtype", file(tensor(R"("shape": [1], "data_offsets": [0, 1])"), 1), "dtype: found nothing");
    row("dtype unknown", file(tensor(R"("dtype": "F4", "shape": [1], "data_offsets": [0, 1])"), 1), "dtype \"F4\"");
    row("dtype a number", file(tensor(R"("dtype": 4, "shape": [1], "data_offsets": [0, 1])"), 1), "found 4");
    row("no shape", file(tensor(R"("dtype": "U8", "data_offsets": [0, 1])"), 1), "shape: found nothing");
    row("shape a number", file(tensor(R"("dtype": "U8", "shape": 1, "data_offsets": [0, 1])"), 1), "shape: found 1");
    row("shape negative", file(tensor(R"("dtype": "U8", "shape": [-1], "data_offsets": [0, 1])"), 1), "found -1");
    row("shape fractional", file(tensor(R"("dtype": "U8", "shape": [1.0], "data_offsets": [0, 1])"), 1), "found 1.0");
    row("shape past 64 bits",
        file(tensor(R"("dtype": "U8", "shape": [18446744073709551615], "data_offsets": [0, 1])"), 1), "found 1844");
    row("product past 64 bits",
        file(tensor(R"("dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 0])"), 0),
        "more than 64 bits can count");
    row("product wraps to the right size",
        file(tensor(R"("dtype": "U8", "shape": [4294967297, 4294967297, 1], "data_offsets": [0, 1])"), 1),
        "more than 64 bits can count");
    row("17 dimensions",
        file(tensor(R"("dtype": "U8", "shape": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], "data_offsets": [0, 1])"), 1),
        "at most 16");
    row("no offsets", file(tensor(R"("dtype": "U8", "shape": [1])"), 1), "data_offsets: found nothing");
    row("one offset", file(tensor(R"("dtype": "U8", "shape": [1], "data_offsets": [0])"), 1), "data_offsets");
    row("three offsets", file(tensor(R"("dtype": "U8", "shape": [1], "data_offsets": [0, 1, 2])"), 1), "data_offsets");
    row("offsets reversed", file(tensor(R"("dtype": "U8", "shape": [1], "data_offsets": [1, 0])"), 1), "[1,0]");
    row("offset negative", file(tensor(R"("dtype": "U8", "shape": [1], "data_offsets": [-1, 0])"), 1), "found -1");
    row("size and shape disagree", file(tensor(R"("dtype": "F16", "shape": [2], "data_offsets": [0, 2])"), 2),
        "found 2 bytes, wanted 4 for F16 [2]");
    row("past the end", file(tensor(R"("dtype": "U8", "shape": [5], "data_offsets": [0, 5])"), 4), "incomplete");
    row("far past the end",
        file(tensor(R"("dtype": "U8", "shape": [9223372036854775807], "data_offsets": [0, 9223372036854775807])"), 4),
        "incomplete");
    row("gap in front", file(tensor(R"("dtype": "U8", "shape": [1], "data_offsets": [1, 2])"), 2), "a gap before it");
    row("bytes behind", file(tensor(R"("dtype": "U8", "shape": [1], "data_offsets": [0, 1])"), 2), "header wants");
    row("overlap",
        file(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
                            "b": {"dtype": "U8", "shape": [4], "data_offsets": [3, 7]}})",
             7),
        "overlaps another tensor");
    row("two at the same place",
        file(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
                                          "b": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}})",
             4),
        "overlaps another tensor");
    row("same name twice",
        file(R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                                    "a": {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}})",
             2),
        "appears twice");
    row("name without a letter", file(R"({"": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})", 1),
        "tensor name");
    row("name that moves the cursor",
        file(R"({"\u001b[2J": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})", 1), "tensor name");
}

void TestSafetensors::badFilesAreRefused()
{
    QFETCH(QByteArray, content);
    QFETCH(QByteArray, mention);
    try {
        const auto entries = parse(content.toStdString());
        QFAIL("read");
    } catch (const Error &error) {
        QVERIFY(error.kind() == ErrorKind::InvalidCheckpoint || error.kind() == ErrorKind::Unsupported);
        QVERIFY2(std::strstr(error.what(), "some.safetensors") == error.what(), error.what());
        QVERIFY2(std::strstr(error.what(), mention) != nullptr, error.what());
        QVERIFY(!error.subject().empty());
    }
}

void TestSafetensors::everyTruncationIsRefused()
{
    const std::string whole = test::safetensorsText(
        {{"a", test::TinyTensor::ofBytes({3, 5}, 7)}, {"b", test::TinyTensor::ofHalves("F16", {4}, 0x3C00)}});
    QCOMPARE(parse(whole).size(), std::size_t{2});
    for (std::size_t length = 0; length < whole.size(); ++length)
        QVERIFY_EXCEPTION_THROWN((void)parse(whole.substr(0, length)), Error);
    QVERIFY_EXCEPTION_THROWN((void)parse(whole + "x"), Error);
}

void TestSafetensors::everyFixtureIsRead()
{
    int count = 0;
    for (const auto &found : std::filesystem::recursive_directory_iterator(test::goldenFolder())) {
        if (found.path().extension() != ".safetensors")
            continue;
        const std::string content = test::readFile(found.path());
        const auto golden = test::GoldenTensors::load(found.path());
        const auto entries = parse(content);
        QVERIFY2(!entries.empty(), found.path().c_str());
        for (const SafetensorsEntry &entry : entries) {
            QCOMPARE(entry.shape, golden.shape(entry.name));
            QVERIFY(std::equal(entry.bytes.begin(), entry.bytes.end(), golden.tensor(entry.name).bytes.begin(),
                               golden.tensor(entry.name).bytes.end()));
        }
        ++count;
    }
    QVERIFY(count > 0);
}

QTEST_APPLESS_MAIN(TestSafetensors)
#include "tst_safetensors.moc"
