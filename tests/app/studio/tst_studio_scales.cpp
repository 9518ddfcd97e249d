// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/cell_map_item.h"
#include "app/studio/marks_item.h"
#include "app/studio/theme.h"
#include "tests/app/studio/changed_box.h"
#include "tests/app/studio/studio_bench.h"

#include <QGuiApplication>
#include <QImage>
#include <QInputMethod>
#include <QInputMethodEvent>
#include <QInputMethodQueryEvent>
#include <QPainter>
#include <QQuickItem>
#include <QQuickWindow>
#include <QStyleHints>
#include <QTest>

#include <cmath>
#include <memory>
#include <set>

using namespace palimpsest;
using namespace palimpsest::studio;

namespace {

const QString kWord = QStringLiteral("HHHH");
const QString kBefore = QStringLiteral("The second of them is ");
const QString kLine = QStringLiteral("I have payed teh fee.");

bool isNear(QRgb a, QRgb b)
{
    constexpr int kRounding = 2;
    return std::abs(qRed(a) - qRed(b)) <= kRounding && std::abs(qGreen(a) - qGreen(b)) <= kRounding &&
           std::abs(qBlue(a) - qBlue(b)) <= kRounding;
}

/// Of the pixels that are not paper, the share of those that are neither ink: the edges of letters. Blurred letters
/// have wide edges.
double edgeShare(const QImage &picture, const QColor &paper, const QColor &ink)
{
    const auto isAlike = [](const QColor &a, const QColor &b) {
        return std::abs(a.lightness() - b.lightness()) < 24;
    };
    int edges = 0;
    int others = 0;
    for (int y = 0; y < picture.height(); ++y) {
        for (int x = 0; x < picture.width(); ++x) {
            const QColor pixel = picture.pixelColor(x, y);
            if (isAlike(pixel, paper))
                continue;
            ++(isAlike(pixel, ink) ? others : edges);
        }
    }
    return static_cast<double>(edges) / std::max(1, edges + others);
}

} // namespace

/// The page on a screen whose pixels are smaller than the window's units: run once for each QT_SCALE_FACTOR. Pictures
/// of the window are compared, in pixels of the screen.
class TestStudioScales : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup() { m_bench.reset(); }

    void picturesHaveTheScreensPixels();
    void aLineStandsBelowItsWordF089();
    void theCaretIsDrawnWhereInputMethodsAreToldF088();
    void aCompositionStandsAtTheCaretF088();
    void shadesOfNeighboursMeetF089();
    void cellsStandOnWholePixelsF089();
    void dotsStandBelowTheirWords();
    void lettersAreSharpF089();

private:
    [[nodiscard]] test::StudioBench &bench() { return *m_bench; }
    [[nodiscard]] double scale() { return m_bench->view().effectiveDevicePixelRatio(); }
    [[nodiscard]] QImage picture();
    /// A rectangle of the page's text field, in pixels of the screen.
    [[nodiscard]] QRectF onScreen(const QRectF &ofEditor);
    [[nodiscard]] QRectF caretForInputMethods();
    /// Where the letters of kWord are on the screen, by their pixels. It stands at the end of the draft that is open
    /// then, behind kBefore.
    [[nodiscard]] QRect lettersOfWord();
    /// test::changedBox() without what the window says beside the page.
    [[nodiscard]] QRect changedOnPage(const QImage &before, const QImage &after);
    void compose(const QString &preedit, int caret);
    /// A run whose words are all unsettled stands on the page; the caret is elsewhere.
    void startRun();
    /// Of the run's line, and of the first letter's row of it alone.
    [[nodiscard]] QRectF lineOfRun();

    std::unique_ptr<test::StudioBench> m_bench;
};

void TestStudioScales::init()
{
    QGuiApplication::styleHints()->setCursorFlashTime(0);
    m_bench = std::make_unique<test::StudioBench>();
}

QImage TestStudioScales::picture()
{
    bench().waitForFrame();
    return bench().view().grabWindow().convertToFormat(QImage::Format_RGB32);
}

QRectF TestStudioScales::onScreen(const QRectF &ofEditor)
{
    const QRectF scene = bench().editor()->mapRectToScene(ofEditor);
    return {scene.topLeft() * scale(), scene.size() * scale()};
}

QRectF TestStudioScales::caretForInputMethods()
{
    QInputMethodQueryEvent query(Qt::ImCursorRectangle);
    QCoreApplication::sendEvent(bench().editor(), &query);
    return query.value(Qt::ImCursorRectangle).toRectF();
}

QRect TestStudioScales::lettersOfWord()
{
    bench().openDraft(kBefore);
    bench().editor()->setProperty("cursorVisible", false);
    const QImage without = picture();
    bench().placeCaret(kBefore.size());
    bench().page().insertPlain(kWord);
    bench().editor()->setProperty("cursorVisible", false);
    return changedOnPage(without, picture());
}

QRect TestStudioScales::changedOnPage(const QImage &before, const QImage &after)
{
    const QRect page = onScreen({0, 0, bench().editor()->width(), bench().editor()->height()}).toAlignedRect();
    return test::changedBox(before.copy(page), after.copy(page)).translated(page.topLeft());
}

void TestStudioScales::compose(const QString &preedit, int caret)
{
    QInputMethodEvent event(preedit, {{QInputMethodEvent::Cursor, caret, 1, {}}});
    QCoreApplication::sendEvent(bench().editor(), &event);
}

void TestStudioScales::startRun()
{
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().openDraft(QStringLiteral("Dear board,\n%1\nYours").arg(kLine));
    bench().gate.close();
    bench().select(kLine);
    bench().draft().rewrite(QStringLiteral("Correct it."));
    bench().gate.let(1);
    QTRY_VERIFY(!bench().pageText().contains(kLine));
    bench().placeCaret(0);
    bench().editor()->setProperty("cursorVisible", false);
}

QRectF TestStudioScales::lineOfRun()
{
    const qsizetype start = bench().pageText().indexOf(u'\n') + 1;
    return lineRects(*bench().page().document(), {start, bench().pageText().indexOf(u'\n', start)}).front();
}

void TestStudioScales::picturesHaveTheScreensPixels()
{
    QCOMPARE(scale(), qEnvironmentVariable("QT_SCALE_FACTOR", QStringLiteral("1")).toDouble());
    QCOMPARE(picture().size(), (QSizeF(bench().view().size()) * scale()).toSize());
}

void TestStudioScales::aLineStandsBelowItsWordF089()
{
    const QRect letters = lettersOfWord();
    QVERIFY(letters.width() > 20.0 * scale() && letters.height() > 5.0 * scale());
    const QImage without = picture();
    bench().draft().session()->setLocked(bench().stored().version(), {kBefore.size(), kBefore.size() + kWord.size()},
                                         true);
    QTRY_COMPARE(bench().marks(PageMark::Kind::Locked), 1);
    const QRect line = changedOnPage(without, picture());
    QVERIFY2(std::abs(line.left() - letters.left()) <= 2.0 * scale(), "their side bearing, and the snapping to pixels");
    QVERIFY(std::abs(line.right() - letters.right()) <= 2.0 * scale());
    QVERIFY(line.top() > letters.bottom());
    QVERIFY(line.bottom() < letters.bottom() + letters.height());
    QVERIFY2(std::abs(line.height() - 2.0 * scale()) <= std::ceil(scale()), "two units high");
}

void TestStudioScales::theCaretIsDrawnWhereInputMethodsAreToldF088()
{
    bench().openDraft(QStringLiteral("One line.\nAnother line, which is longer.\n\nThe last."));
    for (const int place : {0, 4, 10, 27, 41, 42, 51}) {
        bench().placeCaret(place);
        bench().editor()->setProperty("cursorVisible", false);
        const QImage without = picture();
        bench().editor()->setProperty("cursorVisible", true);
        const QRect drawn = changedOnPage(without, picture());
        QVERIFY(drawn.width() > 0 && drawn.width() <= 2.0 * scale() + 1.0);
        const QRectF told = onScreen(caretForInputMethods());
        QVERIFY(std::abs(drawn.center().x() - told.center().x()) <= 1.0 + scale());
        QVERIFY(std::abs(drawn.top() - told.top()) <= 1.0 + scale());
        QVERIFY(std::abs(drawn.bottom() + 1 - told.bottom()) <= 1.0 + scale());
        // What a platform's input method takes, in the window's units: it multiplies by the scale, once.
        const QRectF ofWindow = QGuiApplication::inputMethod()->cursorRectangle();
        QCOMPARE(ofWindow, bench().editor()->mapRectToScene(caretForInputMethods()));
    }
}

void TestStudioScales::aCompositionStandsAtTheCaretF088()
{
    bench().openDraft(QStringLiteral("One line.\nAnother\n").repeated(60));
    bench().placeCaret(bench().pageText().size() / 2 / 18 * 18 + 9); // the end of a line "One line."
    bench().editor()->setProperty("cursorVisible", false);
    const QImage without = picture();
    const QRectF caret = caretForInputMethods();
    // Of the page's own font: letters of another one may be taller, and would move the lines.
    compose(QStringLiteral("ni"), 1);
    bench().editor()->setProperty("cursorVisible", false);
    const QRect letters = changedOnPage(without, picture());
    const QRectF caretThen = onScreen(caretForInputMethods());
    QVERIFY(std::abs(letters.left() - onScreen(caret).left()) <= 3.0 * scale());
    QVERIFY2(letters.height() < 2.0 * onScreen(caret).height(), "in its line");
    QVERIFY(caretThen.left() > letters.left() && caretThen.left() < letters.right());
    QVERIFY(std::abs(caretThen.top() - onScreen(caret).top()) <= scale());
    // The window is scrolled meanwhile: input methods hear of it.
    QQuickItem *flickable = bench().editor()->parentItem()->parentItem();
    const double before = flickable->property("contentY").toDouble();
    flickable->setProperty("contentY", before + 30.0);
    (void)picture();
    QCOMPARE(flickable->property("contentY").toDouble(), before + 30.0);
    QCOMPARE(QGuiApplication::inputMethod()->cursorRectangle().top(), caretThen.top() / scale() - 30.0);
    compose({}, 0);
}

void TestStudioScales::shadesOfNeighboursMeetF089()
{
    startRun();
    const QImage without = picture();
    bench().page().setEntropyShown(true);
    QTRY_VERIFY(bench().marks(PageMark::Kind::Entropy) > 10); // all at one level
    const QImage with = picture();
    // Above the dots; the outermost pixels may be shared with what lies beside the line.
    const QRectF line = onScreen(lineOfRun().adjusted(1.0, 1.0, -1.0, -3.0));
    const QRect inside =
        QRect(QPoint(static_cast<int>(std::ceil(line.left())), static_cast<int>(std::ceil(line.top()))),
              QPoint(static_cast<int>(line.right()) - 1, static_cast<int>(line.bottom()) - 1));
    QVERIFY(inside.width() > 300.0 * scale() && inside.height() > 10.0 * scale());
    const QRgb paper = without.pixel(inside.topLeft());
    std::set<QRgb> shades;
    for (int y = inside.top(); y <= inside.bottom(); ++y) {
        for (int x = inside.left(); x <= inside.right(); ++x) {
            if (without.pixel(x, y) == paper) // no letter
                shades.insert(with.pixel(x, y));
        }
    }
    for (const QRgb shade : shades) { // neither gaps nor darker lines; where two share a pixel, it is rounded
        QVERIFY2(isNear(shade, *shades.begin()), qPrintable(QColor(shade).name()));
        QVERIFY(!isNear(shade, paper));
    }
}

void TestStudioScales::cellsStandOnWholePixelsF089()
{
    QQuickItem *map = bench().item([](QQuickItem &item) { return qobject_cast<CellMapItem *>(&item) != nullptr; });
    QVERIFY(map != nullptr);
    const QRectF scene = map->mapRectToScene({0.0, 0.0, map->width(), map->height()});
    const QImage shown = picture();
    const QRect there =
        QRectF(scene.topLeft() * scale(), scene.size() * scale()).toAlignedRect().adjusted(2, 2, -2, -2);
    std::set<QRgb> colors;
    for (int y = there.top(); y <= there.bottom(); ++y) {
        for (int x = there.left(); x <= there.right(); ++x)
            colors.insert(shown.pixel(x, y));
    }
    QCOMPARE(colors.size(), std::size_t{2}); // cells, and what is between them
}

void TestStudioScales::dotsStandBelowTheirWords()
{
    startRun();
    bench().page().setEntropyShown(true);
    QTRY_VERIFY(bench().marks(PageMark::Kind::Entropy) > 10);
    const QImage with = picture();
    const QRectF line = lineOfRun();
    const QRect below = onScreen({line.left(), std::floor(line.bottom() - 2.0), line.width(), 2.0}).toRect();
    const QRgb ink = Theme::create(nullptr, nullptr)->ink().rgb();
    int dots = 0;
    for (int x = below.left(); x < below.right(); ++x)
        dots += with.pixel(x, below.center().y()) != ink && with.pixel(x + 1, below.center().y()) == ink ? 1 : 0;
    int wanted = 0;
    DottedLines expected;
    for (const PageMark &mark : bench().page().marks()) {
        if (mark.kind != PageMark::Kind::Entropy)
            continue;
        const QRectF word = lineRects(*bench().page().document(), mark.shown).front();
        if (word.top() == line.top())
            expected.add(word.left(), word.right(), 0.0, 12.0 - 1.6 * mark.level, Qt::black);
    }
    for (const DottedLine &row : expected.take())
        wanted += static_cast<int>(row.dots.size());
    QVERIFY(wanted > 20);
    QVERIFY2(std::abs(dots - wanted) <= 1, qPrintable(QStringLiteral("%1 dots, wanted %2").arg(dots).arg(wanted)));
    // Nothing of them above or below: the rows beside the band have no ink where it has dots.
    for (const int y : {below.top() - static_cast<int>(std::ceil(scale())), below.bottom() + 2}) {
        for (int x = below.left(); x <= below.right(); ++x)
            QVERIFY(with.pixel(x, y) != ink || with.pixel(x, below.center().y()) != ink);
    }
}

void TestStudioScales::lettersAreSharpF089()
{
    const QRect letters = lettersOfWord();
    const Theme &theme = *Theme::create(nullptr, nullptr);
    const QImage there = picture().copy(letters.adjusted(-4, -4, 4, 4));
    const QColor paper = there.pixelColor(0, 0);
    QFont font(bench().editor()->property("font").value<QFont>());
    const auto drawn = [&](double ratio) {
        QImage image((QSizeF(there.size()) / scale() * ratio).toSize(), QImage::Format_RGB32);
        image.setDevicePixelRatio(ratio);
        image.fill(paper);
        QPainter painter(&image);
        painter.setFont(font);
        painter.setPen(theme.ink());
        painter.drawText(QPointF(2.0, image.height() / ratio - 4.0), kWord);
        painter.end();
        image.setDevicePixelRatio(1.0);
        return image;
    };
    const double edges = edgeShare(there, paper, theme.ink());
    const double sharp = edgeShare(drawn(scale()), paper, theme.ink());
    const double blurred =
        edgeShare(drawn(1.0).scaled(there.size(), Qt::IgnoreAspectRatio, Qt::SmoothTransformation), paper, theme.ink());
    QVERIFY2(scale() == 1.0 || std::abs(edges - sharp) < std::abs(edges - blurred),
             qPrintable(QStringLiteral("%1; sharp: %2, blurred: %3").arg(edges).arg(sharp).arg(blurred)));
}

QTEST_MAIN(TestStudioScales)
#include "tst_studio_scales.moc"
