// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/marks_item.h"
#include "app/studio/studio_window.h"
#include "tests/app/server/openai/endpoint_bench.h"

#include <QAccessible>
#include <QClipboard>
#include <QGuiApplication>
#include <QQuickItem>
#include <QQuickStyle>
#include <QQuickWindow>
#include <QTemporaryDir>
#include <QTest>
#include <QtQml/qqmlextensionplugin.h>

#include <functional>
#include <memory>

Q_IMPORT_QML_PLUGIN(Palimpsest_StudioPlugin)
Q_IMPORT_QML_PLUGIN(PalimpsestPlugin)

using namespace palimpsest;
using namespace palimpsest::studio;

namespace {

constexpr auto kLetter = "Dear board,\nI have payed teh fee.\nYours";

/// Answers every request about a text with what it is told to.
struct Model
{
    QString answer = QStringLiteral("I have paid the fee.");
};

} // namespace

/// The window as a writer uses it: keys and mouse, over the real engine host, scheduler and store, and a scripted
/// model.
class TestStudioWindow : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QQuickStyle::setStyle(QStringLiteral("Basic")); }
    void init();
    void cleanup();

    void typesUndoesAndRedoes();
    void pastesPlainText();
    void proofreadsAndAcceptsAChange();
    void rejectKeepsWhatWasTypedF094();
    void rewritesTheSelection();
    void offersAlternatives();
    void locksAWord();
    void continuesAndFills();
    void pausesStepsAndStops();
    void scrubsAndBranches();
    void keysInsideForeignTextAreTakenBack();
    void everyFocusableItemHasANameF090();
    void findsAndReplaces();
    void savesAndFindsAgain();

private:
    void openDraft(const QString &text);
    void key(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
    void type(const QString &text);
    void select(const QString &words);
    [[nodiscard]] QQuickItem *editor() const;
    [[nodiscard]] QString text() const { return m_window->studio().draft()->session()->draft().text(); }
    [[nodiscard]] DraftView &draft() const { return *m_window->studio().draft(); }
    [[nodiscard]] QQuickItem *button(const QString &name) const;
    void click(QQuickItem *item);

    std::unique_ptr<QTemporaryDir> m_folder;
    std::shared_ptr<Model> m_model;
    std::unique_ptr<StudioWindow> m_window;
};

void TestStudioWindow::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_model = std::make_shared<Model>();
    const test::BenchSettings settings{.canvasLength = 64};
    auto parts = test::scriptedParts(
        test::scriptedModel([model = m_model](const test::ScriptInput &) { return model->answer.toStdString(); },
                            settings.canvasLength),
        settings);
    m_window = std::make_unique<StudioWindow>(
        std::make_unique<EngineHost>(std::move(parts)),
        documents::StoreOptions{.file = m_folder->filePath(QStringLiteral("drafts.sqlite")).toStdString()}, nullptr);
    QVERIFY(m_window->window() != nullptr);
    m_window->window()->resize(1440, 900);
    QVERIFY(QTest::qWaitForWindowActive(m_window->window()));
}

void TestStudioWindow::cleanup()
{
    m_window.reset();
    m_folder.reset();
}

void TestStudioWindow::openDraft(const QString &text)
{
    m_window->studio().library()->create(QStringLiteral("Letter"), text);
    QTRY_VERIFY(draft().isOpen());
    editor()->forceActiveFocus();
    QTRY_VERIFY(editor()->hasActiveFocus());
}

QQuickItem *TestStudioWindow::editor() const
{
    return draft().session() == nullptr ? nullptr : m_window->studio().draft()->page()->textEdit();
}

void TestStudioWindow::key(int key, Qt::KeyboardModifiers modifiers)
{
    QTest::keyClick(m_window->window(), static_cast<Qt::Key>(key), modifiers);
}

void TestStudioWindow::type(const QString &text)
{
    for (const QChar c : text)
        QTest::sendKeyEvent(QTest::Click, m_window->window(), c == u'\n' ? Qt::Key_Return : Qt::Key_unknown,
                            c == u'\n' ? QStringLiteral("\r") : QString(c), Qt::NoModifier);
}

void TestStudioWindow::select(const QString &words)
{
    const qsizetype at = draft().page()->shown().text().indexOf(words);
    QVERIFY(at >= 0);
    editor()->setProperty("cursorPosition", static_cast<int>(at));
    for (qsizetype i = 0; i < words.size(); ++i)
        key(Qt::Key_Right, Qt::ShiftModifier);
    QCOMPARE(draft().page()->plainSelection(), words);
}

QQuickItem *TestStudioWindow::button(const QString &name) const
{
    QList<QQuickItem *> items{m_window->window()->contentItem()};
    while (!items.isEmpty()) {
        QQuickItem *item = items.takeFirst();
        if (!item->isVisible())
            continue;
        if (item->property("text").toString() == name && item->inherits("QQuickAbstractButton"))
            return item;
        items << item->childItems();
    }
    return nullptr;
}

void TestStudioWindow::click(QQuickItem *item)
{
    QVERIFY(item != nullptr);
    QTest::mouseClick(m_window->window(), Qt::LeftButton, Qt::NoModifier,
                      item->mapToScene({item->width() / 2, item->height() / 2}).toPoint());
}

void TestStudioWindow::typesUndoesAndRedoes()
{
    openDraft({});
    type(QStringLiteral("One two\nthree"));
    QTRY_COMPARE(text(), QStringLiteral("One two\nthree"));
    while (!draft().undoLabel().isEmpty())
        key(Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(text(), QString());
    QTRY_VERIFY(draft().page()->empty());
    while (!draft().redoLabel().isEmpty())
        key(Qt::Key_Y, Qt::ControlModifier);
    QTRY_COMPARE(text(), QStringLiteral("One two\nthree"));
    QTRY_COMPARE(draft().page()->shown().text(), text());
}

void TestStudioWindow::pastesPlainText()
{
    openDraft(QStringLiteral("a\r\nb"));
    QGuiApplication::clipboard()->setText(QStringLiteral("x\ty\nz"));
    key(Qt::Key_End, Qt::ControlModifier);
    key(Qt::Key_V, Qt::ControlModifier);
    QTRY_COMPARE(text(), QStringLiteral("a\r\nbx\ty\r\nz")); // F097, F101: exact letters, the draft's own line ends
    key(Qt::Key_A, Qt::ControlModifier);
    key(Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("a\nbx\ty\nz"));
}

void TestStudioWindow::proofreadsAndAcceptsAChange()
{
    openDraft(QStringLiteral("I have payed teh fee."));
    click(button(QStringLiteral("Run")));
    QTRY_COMPARE(draft().openChanges(), 2);
    QCOMPARE(text(), QStringLiteral("I have payed teh fee.")); // nothing changes before it is accepted
    key(Qt::Key_Return, Qt::ControlModifier);
    QTRY_COMPARE(text(), QStringLiteral("I have paid teh fee."));
    key(Qt::Key_F7);
    key(Qt::Key_Return, Qt::ControlModifier);
    QTRY_COMPARE(text(), QStringLiteral("I have paid the fee."));
    QCOMPARE(draft().openChanges(), 0);
    key(Qt::Key_Z, Qt::ControlModifier); // each acceptance is a step of its own (F093)
    QTRY_COMPARE(text(), QStringLiteral("I have paid teh fee."));
    QTRY_COMPARE(draft().openChanges(), 1);
}

void TestStudioWindow::rejectKeepsWhatWasTypedF094()
{
    openDraft(QStringLiteral("I have payed teh fee."));
    click(button(QStringLiteral("Run")));
    QTRY_COMPARE(draft().openChanges(), 2);
    editor()->forceActiveFocus();
    key(Qt::Key_End, Qt::ControlModifier);
    type(QStringLiteral(" Yours"));
    QTRY_COMPARE(text(), QStringLiteral("I have payed teh fee. Yours"));
    click(button(QStringLiteral("Reject all")));
    QTRY_COMPARE(draft().openChanges(), 0);
    QCOMPARE(text(), QStringLiteral("I have payed teh fee. Yours"));
}

void TestStudioWindow::rewritesTheSelection()
{
    openDraft(QString::fromUtf8(kLetter));
    select(QStringLiteral("I have payed teh fee."));
    key(Qt::Key_K, Qt::ControlModifier);
    type(QStringLiteral("Correct it."));
    key(Qt::Key_Return);
    QTRY_VERIFY(draft().openChanges() > 0);
    QCOMPARE(draft().session()->draft().proposals().back().origin.instruction, QStringLiteral("Correct it."));
    key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(text(), QStringLiteral("Dear board,\nI have paid the fee.\nYours"));
}

void TestStudioWindow::offersAlternatives()
{
    openDraft(QString::fromUtf8(kLetter));
    select(QStringLiteral("I have payed teh fee."));
    key(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(draft().alternatives().size(), 3);
    key(Qt::Key_2, Qt::AltModifier);
    QTRY_COMPARE(draft().session()->draft().proposals().back().chosen, 1U);
    key(Qt::Key_Return, Qt::ControlModifier);
    QTRY_COMPARE(draft().alternatives().size(), 0);
    QCOMPARE(text().left(12), QStringLiteral("Dear board,\n"));
    QCOMPARE(text().right(6), QStringLiteral("\nYours"));
}

void TestStudioWindow::locksAWord()
{
    openDraft(QString::fromUtf8(kLetter));
    select(QStringLiteral("payed"));
    key(Qt::Key_L, Qt::ControlModifier);
    QTRY_COMPARE(draft().session()->draft().locks().size(), 1U);
    QTRY_VERIFY(std::any_of(draft().page()->marks().begin(), draft().page()->marks().end(),
                            [](const PageMark &mark) { return mark.kind == PageMark::Kind::Locked; }));
    editor()->setProperty("cursorPosition", 0);
    click(button(QStringLiteral("Run")));
    QTRY_VERIFY(!draft().running());
    for (const editing::Proposal &proposal : draft().session()->draft().proposals()) {
        for (const editing::ProposalChange &change : proposal.changes)
            QVERIFY(!change.original.contains(QStringLiteral("payed"))); // F017
    }
    editor()->forceActiveFocus();
    key(Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(draft().session()->draft().locks().size(), 0U);
}

void TestStudioWindow::continuesAndFills()
{
    openDraft(QStringLiteral("Dear board,\n"));
    m_model->answer = QStringLiteral("I am writing to you.");
    key(Qt::Key_End, Qt::ControlModifier);
    key(Qt::Key_J, Qt::ControlModifier);
    QTRY_VERIFY(draft().openChanges() > 0);
    key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(text().startsWith(QStringLiteral("Dear board,\n")) && text().size() > 12);
    const QString before = text();
    editor()->setProperty("cursorPosition", 4);
    key(Qt::Key_K, Qt::ControlModifier);
    key(Qt::Key_Return);
    QTRY_VERIFY(!draft().running() && !draft().session()->runs().empty());
    QCOMPARE(text(), before); // offered, not written
}

void TestStudioWindow::pausesStepsAndStops()
{
    openDraft(QString::fromUtf8(kLetter));
    select(QStringLiteral("I have payed teh fee."));
    draft().session()->mergeSettings({{QStringLiteral("sampler"), QJsonObject{{QStringLiteral("confidence"), 0.0}}}});
    key(Qt::Key_K, Qt::ControlModifier);
    type(QStringLiteral("Correct it."));
    key(Qt::Key_Return);
    QTRY_VERIFY(draft().running());
    key(Qt::Key_P, Qt::ControlModifier);
    QTRY_VERIFY(draft().paused() || !draft().running());
    if (draft().running()) {
        key(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
        key(Qt::Key_Escape); // stop restores (F099)
    }
    QTRY_VERIFY(!draft().running());
    QCOMPARE(text(), QString::fromUtf8(kLetter));
}

void TestStudioWindow::scrubsAndBranches()
{
    openDraft(QString::fromUtf8(kLetter));
    select(QStringLiteral("I have payed teh fee."));
    key(Qt::Key_K, Qt::ControlModifier);
    type(QStringLiteral("Correct it."));
    key(Qt::Key_Return);
    QTRY_VERIFY(draft().openChanges() > 0);
    InspectorView &inspector = *m_window->studio().inspector();
    QTRY_VERIFY(inspector.steps() > 0);
    key(Qt::Key_Left, Qt::ControlModifier | Qt::AltModifier);
    QTRY_VERIFY(!inspector.following());
    QTRY_VERIFY(inspector.frame().has_value());
    const QString shown = inspector.frameText();
    key(Qt::Key_B, Qt::ControlModifier | Qt::AltModifier);
    QTRY_VERIFY(text() != QString::fromUtf8(kLetter));
    QVERIFY(text().contains(shown.trimmed()));
    key(Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(text(), QString::fromUtf8(kLetter));
}

void TestStudioWindow::keysInsideForeignTextAreTakenBack()
{
    openDraft(QStringLiteral("I have payed teh fee."));
    click(button(QStringLiteral("Run")));
    QTRY_COMPARE(draft().openChanges(), 2);
    QString reason;
    connect(draft().page(), &PageText::refused, this, [&](const QString &why) { reason = why; });
    editor()->forceActiveFocus();
    const qsizetype at = draft().page()->shown().text().indexOf(QStringLiteral("paid"));
    QVERIFY(at >= 0);
    editor()->setProperty("cursorPosition", static_cast<int>(at + 1));
    key(Qt::Key_Delete);
    QTRY_VERIFY(!reason.isEmpty());
    QTRY_COMPARE(editor()->property("text").toString(), draft().page()->shown().text());
    QCOMPARE(text(), QStringLiteral("I have payed teh fee."));
}

void TestStudioWindow::everyFocusableItemHasANameF090()
{
    openDraft(QString::fromUtf8(kLetter));
    QStringList nameless;
    int named = 0;
    const std::function<void(QAccessibleInterface *)> walk = [&](QAccessibleInterface *item) {
        if (item == nullptr || !item->isValid() || item->state().invisible)
            return;
        if (item->state().focusable) {
            if (item->text(QAccessible::Name).isEmpty())
                nameless << QString::fromLatin1(item->object()->metaObject()->className());
            else
                ++named;
        }
        for (int i = 0; i < item->childCount(); ++i)
            walk(item->child(i));
    };
    walk(QAccessible::queryAccessibleInterface(m_window->window()));
    QCOMPARE(nameless, QStringList());
    QVERIFY2(named > 20, qPrintable(QString::number(named)));
}

void TestStudioWindow::findsAndReplaces()
{
    openDraft(QStringLiteral("one two one"));
    key(Qt::Key_F, Qt::ControlModifier);
    type(QStringLiteral("one"));
    QTRY_COMPARE(draft().page()->matchCount(), 2);
    QCOMPARE(draft().page()->replaceAll(QStringLiteral("1")), 2);
    QTRY_COMPARE(text(), QStringLiteral("1 two 1"));
    draft().undo();
    QTRY_COMPARE(text(), QStringLiteral("one two one")); // one step
}

void TestStudioWindow::savesAndFindsAgain()
{
    openDraft({});
    type(QStringLiteral("Kept"));
    QTRY_COMPARE(text(), QStringLiteral("Kept"));
    QTRY_VERIFY(draft().session()->saveState().saved);
    m_window->studio().library()->setQuery(QStringLiteral("kept"));
    QTRY_COMPARE(m_window->studio().library()->count(), 1);
    const QString id = draft().document();
    m_window->studio().closeDocument();
    QVERIFY(!draft().isOpen());
    m_window->studio().openDocument(id);
    QTRY_VERIFY(draft().isOpen());
    QCOMPARE(text(), QStringLiteral("Kept"));
}

QTEST_MAIN(TestStudioWindow)
#include "tst_studio_window.moc"
