// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/dotted_lines.h"
#include "tests/app/studio/node_item.h"

#include <QImage>
#include <QPointer>
#include <QQuickWindow>
#include <QSGImageNode>
#include <QSGTexture>
#include <QTest>

#include <vector>

using namespace palimpsest::studio;

namespace {

constexpr QColor kInk(0, 0, 0);

/// Shows dotted lines, and what they are made of.
class LinesItem : public palimpsest::test::NodeItem<std::vector<DottedLine>>
{
public:
    using NodeItem::NodeItem;

    std::vector<QPointer<QSGTexture>> textures; ///< of the lines, in their order, since the last frame

protected:
    QSGNode *updatePaintNode(QSGNode *old, UpdatePaintNodeData *) override
    {
        QSGNode *root = dottedLineNodes(old, *window(), content());
        textures.clear();
        for (QSGNode *node = root->firstChild(); node != nullptr; node = node->nextSibling())
            textures.emplace_back(static_cast<QSGImageNode *>(node)->texture());
        return root;
    }
};

DottedLine lineAt(int left, int top, std::vector<int> dots, QColor color = kInk)
{
    return {QPoint(left, top), color, std::move(dots)};
}

/// The left upper pixels of dots in a picture, row by row.
std::vector<QPoint> dotsOf(const QImage &picture)
{
    const auto isInk = [&](int x, int y) {
        return x >= 0 && y >= 0 && picture.pixelColor(x, y) != Qt::white;
    };
    std::vector<QPoint> dots;
    for (int y = 0; y < picture.height(); ++y) {
        for (int x = 0; x < picture.width(); ++x) {
            if (isInk(x, y) && !isInk(x - 1, y) && !isInk(x, y - 1))
                dots.emplace_back(x, y);
        }
    }
    return dots;
}

} // namespace

/// Lines of dots, as they are gathered and as they come to the screen.
class TestDottedLines : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void gathersDotsByTheirHeight();
    void leavesOutWhatIsNarrowerThanADot();
    void dotsStandInOrderWhereDirectionsMix();
    void dotsAreAtTheirPixels();
    void linesThatAreGoneAreNotShown();
    void onlyLinesThatChangedAreDrawnAnew();

private:
    /// What the window shows then.
    [[nodiscard]] QImage shown(std::vector<DottedLine> lines)
    {
        m_item->show(std::move(lines));
        return m_window.grabWindow();
    }

    QQuickWindow m_window;
    LinesItem *m_item = nullptr;

private Q_SLOTS:
    void initTestCase()
    {
        m_window.setColor(Qt::white);
        m_window.resize(100, 60);
        m_item = new LinesItem(m_window.contentItem());
        m_item->setPosition({3, 2});
        m_window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&m_window));
    }
};

void TestDottedLines::gathersDotsByTheirHeight()
{
    DottedLines lines;
    lines.add(10.0, 20.0, 30.9, 4.0, kInk); // dots at 10, 14 and 18: the last one ends where the row does
    lines.add(5.0, 8.0, 12.0, 4.0, kInk);
    lines.add(40.5, 45.0, 30.0, 4.0, kInk);
    QCOMPARE(lines.take(), (std::vector<DottedLine>{lineAt(5, 12, {0}), lineAt(10, 30, {0, 4, 8, 30})}));
    QVERIFY2(lines.take().empty(), "they were taken");
}

void TestDottedLines::leavesOutWhatIsNarrowerThanADot()
{
    DottedLines lines;
    lines.add(10.0, 11.9, 5.0, 4.0, kInk);
    lines.add(20.0, 20.0, 5.0, 4.0, kInk);
    QVERIFY(lines.take().empty());
    QCOMPARE(lineAt(0, 0, {}).width(), 0);
}

void TestDottedLines::dotsStandInOrderWhereDirectionsMix()
{
    DottedLines lines;
    lines.add(60.0, 66.0, 5.0, 4.0, kInk);
    lines.add(10.0, 16.0, 5.0, 4.0, kInk);
    QCOMPARE(lines.take(), (std::vector<DottedLine>{lineAt(10, 5, {0, 4, 50, 54})}));
}

void TestDottedLines::dotsAreAtTheirPixels()
{
    const QImage picture = shown({lineAt(10, 20, {0, 4, 9}, Qt::red), lineAt(0, 30, {0, 90})});
    QCOMPARE(dotsOf(picture), (std::vector<QPoint>{{13, 22}, {17, 22}, {22, 22}, {3, 32}, {93, 32}}));
    QCOMPARE(picture.pixelColor(14, 23), QColor(Qt::red)); // two pixels wide and high
    QCOMPARE(picture.pixelColor(15, 23), QColor(Qt::white));
    QCOMPARE(picture.pixelColor(14, 24), QColor(Qt::white));
}

void TestDottedLines::linesThatAreGoneAreNotShown()
{
    (void)shown({lineAt(10, 20, {0}), lineAt(10, 30, {0}), lineAt(10, 40, {0})});
    const std::vector<QPointer<QSGTexture>> before = m_item->textures;
    QCOMPARE(before.size(), std::size_t{3});
    QCOMPARE(dotsOf(shown({lineAt(50, 20, {0})})), (std::vector<QPoint>{{53, 22}}));
    QCOMPARE(m_item->textures.size(), std::size_t{1});
    for (const QPointer<QSGTexture> &texture : before)
        QVERIFY(texture.isNull());
    QVERIFY(dotsOf(shown({})).empty());
}

void TestDottedLines::onlyLinesThatChangedAreDrawnAnew()
{
    (void)shown({lineAt(10, 20, {0, 4}), lineAt(10, 30, {0, 4}), lineAt(10, 40, {0, 4})});
    const std::vector<QPointer<QSGTexture>> before = m_item->textures;
    const QImage picture =
        shown({lineAt(10, 20, {0, 4}), lineAt(10, 30, {0, 8}), lineAt(10, 40, {0, 4}), lineAt(10, 50, {0})});
    const std::vector<QPointer<QSGTexture>> &now = m_item->textures;
    QCOMPARE(now.size(), std::size_t{4});
    QVERIFY(!before[0].isNull() && before[0] == now[0]);
    QVERIFY(before[1].isNull()); // the one in whose place another stands is not kept
    QVERIFY(!before[2].isNull() && before[2] == now[2]);
    QCOMPARE(dotsOf(picture),
             (std::vector<QPoint>{{13, 22}, {17, 22}, {13, 32}, {21, 32}, {13, 42}, {17, 42}, {13, 52}}));
}

QTEST_MAIN(TestDottedLines)
#include "tst_dotted_lines.moc"
