// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_export.h"
#include "app/documents/revision_rule.h"
#include "engine/error.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace palimpsest;
using namespace palimpsest::documents;

namespace {

Document documentOf(const QByteArray &title, const QByteArray &text)
{
    Document document;
    document.summary.title = title.toStdString();
    document.text = text.toStdString();
    return document;
}

} // namespace

class TestDocumentExport : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void markdown_data();
    void markdown();
    void provenanceCannotLeaveItsComment();
    void diffsNameTheirSides();
    void fileNames_data();
    void fileNames();
    void imports_data();
    void imports();
    void whatIsNoTextIsNotImported_data();
    void whatIsNoTextIsNotImported();
    void whatWasExportedIsImportedWithItsTitle();
    void stretchesOfWritingBecomeRevisions_data();
    void stretchesOfWritingBecomeRevisions();
};

void TestDocumentExport::markdown_data()
{
    QTest::addColumn<QByteArray>("title");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("file");
    QTest::newRow("heading and text") << QByteArray("A letter") << QByteArray("Dear all\n")
                                      << QByteArray("# A letter\n\nDear all\n");
    QTest::newRow("no title") << QByteArray("") << QByteArray("Dear all") << QByteArray("Dear all");
    QTest::newRow("empty text") << QByteArray("A") << QByteArray("") << QByteArray("# A\n\n");
    QTest::newRow("the text has it") << QByteArray("A") << QByteArray("# A\n\nb") << QByteArray("# A\n\nb");
    QTest::newRow("the text has another") << QByteArray("A") << QByteArray("# B\nb") << QByteArray("# A\n\n# B\nb");
    QTest::newRow("CR LF") << QByteArray("A") << QByteArray("b\r\nc\r\n") << QByteArray("# A\r\n\r\nb\r\nc\r\n");
    QTest::newRow("byte-order mark") << QByteArray("A") << QByteArray("\xEF\xBB\xBF\x62")
                                     << QByteArray("\xEF\xBB\xBF# A\n\nb");
    QTest::newRow("markup in a title") << QByteArray("*a* <b>\n#c") << QByteArray("d")
                                       << QByteArray("# \\*a\\* \\<b\\> \\#c\n\nd");
}

void TestDocumentExport::markdown()
{
    QFETCH(QByteArray, title);
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, file);
    QCOMPARE(exportMarkdown(documentOf(title, text), {}, Provenance::Keep), file.toStdString());
}

void TestDocumentExport::provenanceCannotLeaveItsComment()
{
    RevisionSummary human{.number = 1};
    RevisionSummary model{.number = 2,
                          .origin = Origin::Model,
                          .model = ModelOrigin{.model = "demo",
                                               .seed = 42,
                                               .action = "rewrite",
                                               .instruction = "end it --> <script> ---",
                                               .sampler = "{\"steps\":48}",
                                               .stopReason = "converged"}};
    const std::vector<RevisionSummary> revisions{human, model};
    const std::string file = exportMarkdown(documentOf("", "text"), revisions, Provenance::Keep);
    QCOMPARE(exportMarkdown(documentOf("", "text"), revisions, Provenance::Drop), std::string("text"));
    QVERIFY(file.starts_with("text\n\n<!-- "));
    QVERIFY(file.ends_with("\n-->\n"));
    QCOMPARE(file.find("--", file.find("<!--") + 4), file.size() - 4);
    const std::size_t begin = file.find('{');
    const auto line = nlohmann::json::parse(file.substr(begin, file.find('\n', begin) - begin));
    QCOMPARE(line.at("instruction").get<std::string>(), model.model->instruction);
    QCOMPARE(line.at("seed").get<std::uint64_t>(), model.model->seed);
    QCOMPARE(line.at("sampler").at("steps").get<int>(), 48);
}

void TestDocumentExport::diffsNameTheirSides()
{
    const Revision from{.summary = {.number = 3, .createdMs = 0}, .text = "a\n"};
    const Revision to{.summary = {.number = 12, .createdMs = 1'700'000'000'123}, .text = "b\n"};
    QCOMPARE(exportDiff("My\nletter", from, to),
             std::string("--- My letter (revision 3)\t1970-01-01 00:00:00.000 +0000\n"
                         "+++ My letter (revision 12)\t2023-11-14 22:13:20.123 +0000\n"
                         "@@ -1 +1 @@\n-a\n+b\n"));
    QCOMPARE(exportDiff("t", from, from), std::string());
}

void TestDocumentExport::fileNames_data()
{
    QTest::addColumn<QByteArray>("title");
    QTest::addColumn<QByteArray>("name");
    QTest::newRow("plain") << QByteArray("A letter") << QByteArray("A letter.md");
    QTest::newRow("none") << QByteArray("") << QByteArray("Untitled.md");
    QTest::newRow("path") << QByteArray("../../etc/passwd") << QByteArray("-..-etc-passwd.md");
    QTest::newRow("dots") << QByteArray("...") << QByteArray("Untitled.md");
    QTest::newRow("line ends, quotes") << QByteArray("a\r\nb\"c") << QByteArray("a  b-c.md");
    QTest::newRow("long") << QByteArray("\xE6\xBC\xA2").repeated(60) << QByteArray("\xE6\xBC\xA2").repeated(36) + ".md";
}

void TestDocumentExport::fileNames()
{
    QFETCH(QByteArray, title);
    QFETCH(QByteArray, name);
    QCOMPARE(exportFileName(title.toStdString(), ExportFormat::Markdown), name.toStdString());
}

void TestDocumentExport::imports_data()
{
    QTest::addColumn<QByteArray>("fileName");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("title");
    QTest::newRow("file name") << QByteArray("notes/My letter.txt") << QByteArray("# no heading here")
                               << QByteArray("My letter");
    QTest::newRow("heading") << QByteArray("x.md") << QByteArray("\n\n##  Two  ##\nb") << QByteArray("Two");
    QTest::newRow("heading behind a mark")
        << QByteArray("x.md") << QByteArray("\xEF\xBB\xBF# Three\r\n") << QByteArray("Three");
    QTest::newRow("no heading") << QByteArray("x.md") << QByteArray("#hashtag\n# later") << QByteArray("x");
    QTest::newRow("only number signs") << QByteArray("x.md") << QByteArray("# #") << QByteArray("x");
    QTest::newRow("C# is a title") << QByteArray("x.md") << QByteArray("# About C#") << QByteArray("About C#");
    QTest::newRow("seven number signs") << QByteArray("x.md") << QByteArray("####### a") << QByteArray("x");
    QTest::newRow("empty") << QByteArray("x.md") << QByteArray("") << QByteArray("x");
}

void TestDocumentExport::imports()
{
    QFETCH(QByteArray, fileName);
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, title);
    const ImportedText imported = importText(text.toStdString(), fileName.toStdString());
    QCOMPARE(imported.text, text.toStdString());
    QCOMPARE(imported.title, title.toStdString());
}

void TestDocumentExport::whatIsNoTextIsNotImported_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("Latin-1") << QByteArray("caf\xE9 au lait") << QByteArray("UTF-8");
    QTest::newRow("UTF-16") << QByteArray("\xFF\xFE\x61\0", 4) << QByteArray("UTF-16");
    QTest::newRow("binary") << QByteArray("PK\x03\x04\0\0", 6) << QByteArray("NUL");
}

void TestDocumentExport::whatIsNoTextIsNotImported()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, says);
    try {
        (void)importText(bytes.toStdString(), "file.txt");
        QFAIL("imported");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidInput);
        const std::string message = error.what();
        QVERIFY2(message.starts_with("file.txt") && message.find(says.toStdString()) != std::string::npos,
                 message.c_str());
    }
}

void TestDocumentExport::whatWasExportedIsImportedWithItsTitle()
{
    for (const char *title : {"A letter", "*a* [b] `c` \\d", "C#", "x & y < z", "caf\xC3\xA9"}) {
        const std::string file = exportMarkdown(documentOf(title, "text\n"), {}, Provenance::Drop);
        const ImportedText imported = importText(file, "other.md");
        QCOMPARE(imported.title, std::string(title));
        const Document again = documentOf(title, QByteArray::fromStdString(imported.text));
        QCOMPARE(exportMarkdown(again, {}, Provenance::Drop), file); // no second heading
    }
}

void TestDocumentExport::stretchesOfWritingBecomeRevisions_data()
{
    QTest::addColumn<int>("moment");
    QTest::addColumn<qlonglong>("first");
    QTest::addColumn<qlonglong>("last");
    QTest::addColumn<qlonglong>("now");
    QTest::addColumn<bool>("due");
    const auto timer = static_cast<int>(RevisionMoment::Timer);
    QTest::newRow("still writing") << timer << 1'000'000LL << 1'010'000LL << 1'039'999LL << false;
    QTest::newRow("a pause") << timer << 1'000'000LL << 1'010'000LL << 1'040'000LL << true;
    QTest::newRow("without a pause") << timer << 1'000'000LL << 1'299'000LL << 1'299'999LL << false;
    QTest::newRow("five minutes without a pause") << timer << 1'000'000LL << 1'299'999LL << 1'300'000LL << true;
    QTest::newRow("clock set back") << timer << 1'000'000LL << 1'000'000LL << 10LL << true;
    for (const RevisionMoment moment :
         {RevisionMoment::BeforeModelChange, RevisionMoment::BeforeRestore, RevisionMoment::Closing})
        QTest::addRow("moment %d", static_cast<int>(moment))
            << static_cast<int>(moment) << 1'000'000LL << 1'000'000LL << 1'000'001LL << true;
}

void TestDocumentExport::stretchesOfWritingBecomeRevisions()
{
    QFETCH(int, moment);
    QFETCH(qlonglong, first);
    QFETCH(qlonglong, last);
    QFETCH(qlonglong, now);
    QFETCH(bool, due);
    const WritingStretch stretch{.firstEditMs = first, .lastEditMs = last};
    QCOMPARE(humanRevisionDue(stretch, static_cast<RevisionMoment>(moment), now), due);
    QVERIFY(!humanRevisionDue(std::nullopt, static_cast<RevisionMoment>(moment), now));
    const std::int64_t at = *humanRevisionDueMs(stretch);
    QVERIFY(humanRevisionDue(stretch, RevisionMoment::Timer, at));
    QVERIFY(!humanRevisionDue(stretch, RevisionMoment::Timer, at - 1));
    QVERIFY(!humanRevisionDueMs(std::nullopt));
}

QTEST_GUILESS_MAIN(TestDocumentExport)
#include "tst_document_export.moc"
