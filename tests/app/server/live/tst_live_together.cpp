// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_client.h"
#include "tests/app/server/live/live_fixture.h"
#include "tests/app/server/live/text_mirror.h"

#include <QCoreApplication>
#include <QTest>

#include <array>
#include <memory>
#include <random>
#include <stdexcept>

// Several windows on one document stay in step, whatever they do at the same time.

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

/// A window whose writer types at random, and undoes now and then.
class RandomWriter
{
public:
    RandomWriter(const QUrl &url, const QString &document, unsigned seed)
        : m_client(url), m_document(document), m_random(seed)
    {
        m_client.onMessage = [this](const QJsonObject &message) {
            hear(message);
        };
        m_client.demand("open", {{"document", document}});
        m_client.waitFor("document");
    }

    void act()
    {
        if (pick(12) == 0)
            m_client.send(pick(2) == 0 ? "undo" : "redo", {{"document", m_document}});
        else
            m_mirror.type(randomEdit());
        send();
    }

    [[nodiscard]] bool isQuiet() const { return m_mirror.isQuiet(); }
    [[nodiscard]] const TextMirror &mirror() const noexcept { return m_mirror; }
    [[nodiscard]] LiveClient &client() noexcept { return m_client; }

private:
    int pick(int choices) { return std::uniform_int_distribution<int>(0, choices - 1)(m_random); }

    /// A place that does not cut a character.
    qsizetype place()
    {
        const QString &text = m_mirror.text();
        const qsizetype at = pick(static_cast<int>(text.size()) + 1);
        return at < text.size() && text.at(at).isLowSurrogate() ? at - 1 : at;
    }

    editing::TextEdit randomEdit()
    {
        static const std::array<QString, 6> pieces{
            QStringLiteral("a"),          QStringLiteral("word "),         QStringLiteral("\n"),
            QStringLiteral("\U0001F600"), QStringLiteral("e\u0301\u05D0"), QString()};
        const qsizetype one = place();
        const qsizetype two = pick(2) == 0 ? one : place();
        const qsizetype start = std::min(one, two);
        const bool isLarge = pick(10) == 0; // most edits are small
        qsizetype end = isLarge ? std::max(one, two) : std::min(std::max(one, two), start + 3);
        if (end < m_mirror.text().size() && m_mirror.text().at(end).isLowSurrogate())
            ++end;
        return {.span = {.start = start, .end = end}, .text = pieces.at(static_cast<std::size_t>(pick(6)))};
    }

    void send()
    {
        const std::int64_t version = m_mirror.version();
        if (const std::optional<editing::TextEdit> edit = m_mirror.next())
            m_sent = m_client.send("edit", {{"document", m_document},
                                            {"version", static_cast<qint64>(version)},
                                            {"start", edit->span.start},
                                            {"end", edit->span.end},
                                            {"text", edit->text},
                                            {"typing", true}});
    }

    void hear(const QJsonObject &message)
    {
        const QString type = message.value(u"type").toString();
        if (type == u"document") {
            m_mirror = TextMirror(message.value(u"text").toString(), message.value(u"version").toInteger());
        } else if (type == u"edited") {
            m_mirror.edited(message);
        } else if (type == u"error") {
            throw std::runtime_error(message.value(u"message").toString().toStdString());
        } else if (type == u"reply" && message.value(u"ref").toInteger() == m_sent) {
            if (!m_mirror.confirmed(message))
                throw std::runtime_error("the server moved an edit in another way");
            send();
        }
    }

    LiveClient m_client;
    QString m_document;
    TextMirror m_mirror;
    std::mt19937 m_random;
    std::int64_t m_sent = -1;
};

} // namespace

class TestLiveTogether : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void randomEditsConverge_data();
    void randomEditsConverge();
};

void TestLiveTogether::randomEditsConverge_data()
{
    QTest::addColumn<unsigned>("seed");
    QTest::addColumn<int>("windows");
    for (unsigned seed = 1; seed <= 6; ++seed)
        QTest::addRow("seed %u", seed) << seed << (seed % 3 == 0 ? 4 : 2);
}

void TestLiveTogether::randomEditsConverge()
{
    QFETCH(const unsigned, seed);
    QFETCH(const int, windows);
    LiveFixture fixture;
    LiveClient maker(fixture.url());
    const QString document = maker.openNew(QStringLiteral("Some words to begin with."));
    std::vector<std::unique_ptr<RandomWriter>> writers;
    writers.reserve(static_cast<std::size_t>(windows));
    for (int i = 0; i < windows; ++i)
        writers.push_back(
            std::make_unique<RandomWriter>(fixture.url(), document, 100 * seed + static_cast<unsigned>(i)));
    std::mt19937 random(seed);
    for (int i = 0; i < 150; ++i) {
        writers[random() % writers.size()]->act();
        if (random() % 3 == 0) // bursts of messages cross each other
            QCoreApplication::processEvents();
    }
    for (const auto &writer : writers)
        QVERIFY(QTest::qWaitFor([&] { return writer->isQuiet(); }, 30'000));
    for (const auto &writer : writers)
        writer->client().demand("library.watch"); // whatever was sent to it before has been heard by now
    const QJsonObject truth = maker.reopen(document);
    QVERIFY(truth.value(u"version").toInt() > 50);
    for (const auto &writer : writers) {
        QCOMPARE(writer->mirror().text(), truth.value(u"text").toString());
        QCOMPARE(writer->mirror().version(), truth.value(u"version").toInteger());
    }
}

QTEST_GUILESS_MAIN(TestLiveTogether)
#include "tst_live_together.moc"
