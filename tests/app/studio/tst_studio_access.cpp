// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/studio_bench.h"

#include <QAccessible>
#include <QQuickItem>
#include <QQuickWindow>
#include <QTest>

#include <fstream>
#include <functional>
#include <memory>
#include <set>

using namespace palimpsest;
using namespace palimpsest::studio;
using test::kLetter;

namespace {

/// Resident memory of this process in KiB.
std::int64_t residentKiB()
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word != "VmRSS:")
            continue;
        std::int64_t kiB = 0;
        status >> kiB;
        return kiB;
    }
    return 0;
}

} // namespace

/// The window for people who do not see it, do not use a mouse, or do not want it to move; and for long days.
class TestStudioAccess : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_bench = std::make_unique<test::StudioBench>(); }
    void cleanup() { m_bench.reset(); }

    void everyFocusableItemHasANameF090_data();
    void everyFocusableItemHasANameF090();
    void tabGoesThroughTheWindowF090();
    void theReaderHearsThePage();
    void reducedMotionMovesNothing();
    void everyActionIsInTheMenu();
    void memoryStaysFlat();

private:
    [[nodiscard]] test::StudioBench &bench() { return *m_bench; }

    std::unique_ptr<test::StudioBench> m_bench;
};

void TestStudioAccess::everyFocusableItemHasANameF090_data()
{
    QTest::addColumn<int>("state");
    QTest::newRow("a draft") << 0;
    QTest::newRow("a run") << 1;
    QTest::newRow("changes") << 2;
    QTest::newRow("alternatives") << 3;
    QTest::newRow("find") << 4;
    QTest::newRow("history") << 5;
    QTest::newRow("model") << 6;
}

void TestStudioAccess::everyFocusableItemHasANameF090()
{
    QFETCH(int, state);
    bench().openDraft(kLetter);
    if (state == 1) {
        bench().script->settleWithin(test::StudioScript::kNever);
        bench().gate.close();
        bench().click(QStringLiteral("Run"));
        bench().gate.let(2);
        QTRY_VERIFY(bench().pageText() != kLetter);
    } else if (state == 2) {
        bench().click(QStringLiteral("Run"));
        QTRY_VERIFY(bench().draft().openChanges() > 0);
    } else if (state == 3) {
        bench().script->answer([](std::uint64_t seed) { return QStringLiteral("Fee %1.").arg(seed % 1000); });
        bench().key(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_COMPARE(bench().draft().alternatives().size(), 3);
    } else if (state == 4) {
        bench().key(Qt::Key_F, Qt::ControlModifier);
    } else if (state >= 5) {
        bench().click(state == 5 ? QStringLiteral("History") : QStringLiteral("Model"));
    }
    QStringList nameless;
    int named = 0;
    const std::function<void(QAccessibleInterface *)> walk = [&](QAccessibleInterface *item) {
        if (item == nullptr || !item->isValid() || item->state().invisible)
            return;
        if (item->state().focusable) {
            if (item->text(QAccessible::Name).trimmed().isEmpty())
                nameless << QString::fromLatin1(item->object()->metaObject()->className());
            else
                ++named;
        }
        for (int i = 0; i < item->childCount(); ++i)
            walk(item->child(i));
    };
    walk(QAccessible::queryAccessibleInterface(&bench().view()));
    QCOMPARE(nameless, QStringList());
    QVERIFY2(named > 20, qPrintable(QString::number(named)));
}

void TestStudioAccess::tabGoesThroughTheWindowF090()
{
    bench().openDraft(kLetter);
    bench().click(QStringLiteral("New draft"));
    QTRY_VERIFY(bench().draft().isOpen());
    QQuickItem *first = bench().named(QStringLiteral("Search drafts"));
    QVERIFY(first != nullptr);
    first->forceActiveFocus();
    std::set<QQuickItem *> seen;
    QStringList nameless;
    for (int i = 0; i < 200; ++i) {
        QQuickItem *focus = bench().view().activeFocusItem();
        QVERIFY(focus != nullptr);
        if (!seen.insert(focus).second && focus == first)
            break;
        const QAccessibleInterface *known = QAccessible::queryAccessibleInterface(focus);
        if (known == nullptr || known->text(QAccessible::Name).isEmpty())
            nameless << QString::fromLatin1(focus->metaObject()->className());
        if (focus == bench().editor()) // where Tab is a letter: F6 leads out
            bench().key(Qt::Key_F6);
        else
            bench().key(Qt::Key_Tab);
    }
    QCOMPARE(nameless, QStringList());
    QVERIFY2(seen.size() > 15, qPrintable(QString::number(seen.size())));
}

void TestStudioAccess::theReaderHearsThePage()
{
    bench().openDraft(kLetter);
    QAccessibleInterface *page = QAccessible::queryAccessibleInterface(bench().editor());
    QVERIFY(page != nullptr);
    QCOMPARE(page->role(), QAccessible::EditableText);
    QCOMPARE(page->text(QAccessible::Name), QStringLiteral("Page: Letter"));
    QVERIFY(page->textInterface() != nullptr);
    QCOMPARE(page->textInterface()->characterCount(), kLetter.size());
    bench().key(Qt::Key_Right);
    QCOMPARE(page->textInterface()->cursorPosition(), 1);
    bench().click(QStringLiteral("Run"));
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    bench().key(Qt::Key_F7); // says what would change
    QVERIFY2(bench().draft().announcement().contains(QStringLiteral("becomes")),
             qPrintable(bench().draft().announcement()));
}

void TestStudioAccess::reducedMotionMovesNothing()
{
    Theme &theme = bench().window->theme();
    QVERIFY(theme.panelMs() > 0);
    theme.setReducedMotion(true);
    QCOMPARE(theme.panelMs(), 0);
    QCOMPARE(theme.tokenSettleMs(), 0);
    // A canvas does not shimmer: the page has its words once they have settled.
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().openDraft(kLetter);
    bench().gate.close();
    bench().click(QStringLiteral("Run"));
    bench().gate.let(5);
    QTRY_VERIFY(bench().draft().progressText().contains(QStringLiteral("step 5")));
    QTest::qWait(2 * PageText::kFrameMs);
    QCOMPARE(bench().pageText(), kLetter);
    bench().gate.open();
    QTRY_VERIFY(!bench().draft().running());
}

void TestStudioAccess::everyActionIsInTheMenu()
{
    // No key without a command that can be seen.
    bench().openDraft(kLetter);
    QStringList texts;
    for (const QObject *entry : bench().view().findChildren<QObject *>()) {
        if (entry->inherits("QQuickMenuItem"))
            texts << entry->property("text").toString();
    }
    QStringList missing;
    const KeyMap &keys = *bench().window->studio().keys();
    // Three entries; "Stop and restore", which is what its key does first.
    const QStringList buttons{QStringLiteral("scheme"), QStringLiteral("stop")};
    for (const QVariant &entry : keys.entries()) {
        const QString id = entry.toMap()[QStringLiteral("id")].toString();
        if (!texts.contains(keys.textOf(id)) && !buttons.contains(id))
            missing << id;
    }
    QCOMPARE(missing, QStringList());
}

void TestStudioAccess::memoryStaysFlat()
{
    bench().script->settleWithin(3);
    bench().openDraft(kLetter);
    const auto run = [this] {
        const auto before = bench().draft().session()->runs();
        bench().draft().startPreset(QStringLiteral("proofread"), {});
        QTRY_VERIFY(!bench().draft().running());
        bench().draft().rejectAll();
        while (bench().draft().openChanges() > 0)
            bench().draft().rejectAll();
    };
    for (int i = 0; i < 60; ++i) // as many as are kept, and what is made at first use
        run();
    const std::int64_t before = residentKiB();
    for (int i = 0; i < 200; ++i)
        run();
    const std::int64_t grown = residentKiB() - before;
#ifdef __SANITIZE_ADDRESS__ // every small block of the undo list takes several times as much (measured: 3.5 MiB)
    constexpr std::int64_t kMostKiB = 8 * 1024;
#else
    constexpr std::int64_t kMostKiB = 4 * 1024;
#endif
    QVERIFY2(grown < kMostKiB, qPrintable(QStringLiteral("%1 KiB").arg(grown)));
}

#ifdef __SANITIZE_ADDRESS__
// It keeps freed memory else, which would count as grown: 20 MiB with the smallest quarantine.
extern "C" const char *__asan_default_options() // NOLINT(bugprone-reserved-identifier): the sanitizer's name for it
{
    return "quarantine_size_mb=0:thread_local_quarantine_size_kb=0";
}
#endif

QTEST_MAIN(TestStudioAccess)
#include "tst_studio_access.moc"
