// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/rectangle_nodes.h"
#include "tests/app/studio/node_item.h"

#include <QImage>
#include <QPainter>
#include <QPixmap>
#include <QQuickWindow>
#include <QRandomGenerator>
#include <QScreen>
#include <QSignalSpy>
#include <QTest>

#include <vector>

using namespace palimpsest::studio;

namespace {

constexpr QColor kInk(0, 0, 0);

class RectsItem : public palimpsest::test::NodeItem<std::vector<ColoredRect>>
{
public:
    using NodeItem::NodeItem;

protected:
    QSGNode *updatePaintNode(QSGNode *old, UpdatePaintNodeData *) override
    {
        return rectangleNodes(old, *window(), content());
    }
};

using Frames = std::vector<std::vector<ColoredRect>>;

} // namespace

Q_DECLARE_METATYPE(Frames)

/// The software renderer paints what it takes for changed: what is on the screen after some frames is what the last one
/// is, drawn anew.
class TestRectangleNodes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void nothingOfAnEarlierFrameIsLeft_data();
    void nothingOfAnEarlierFrameIsLeft();

private:
    void waitForFrame();
    void compareWithPainted(const std::vector<ColoredRect> &rects);

    QQuickWindow m_window;
    RectsItem *m_item = nullptr;
};

void TestRectangleNodes::initTestCase()
{
    m_window.setColor(Qt::white);
    m_window.resize(120, 80);
    m_item = new RectsItem(m_window.contentItem());
    m_item->setPosition({3, 2});
    m_window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&m_window));
}

void TestRectangleNodes::waitForFrame()
{
    QSignalSpy swapped(&m_window, &QQuickWindow::frameSwapped);
    m_window.update();
    QVERIFY(swapped.wait());
}

void TestRectangleNodes::compareWithPainted(const std::vector<ColoredRect> &rects)
{
    QImage wanted(m_window.size(), QImage::Format_RGB32);
    wanted.fill(Qt::white);
    QPainter painter(&wanted);
    for (const ColoredRect &colored : rects)
        painter.fillRect(colored.rect.translated(m_item->position()), colored.color);
    painter.end();
    const QImage shown =
        m_window.screen()->grabWindow(m_window.winId()).toImage().convertToFormat(QImage::Format_RGB32);
    QCOMPARE(shown, wanted);
}

void TestRectangleNodes::nothingOfAnEarlierFrameIsLeft_data()
{
    QTest::addColumn<Frames>("frames");
    const ColoredRect dot{{10, 10, 8, 8}, kInk};
    // What was the dot is the next piece of the line now, which the new dot covers.
    QTest::newRow("a line that grows, with a dot at its end") << Frames{
        {dot}, {{{10, 13, 6, 2}, kInk}, {{16, 10, 8, 8}, kInk}}, {{{12, 13, 4, 2}, kInk}, {{12, 10, 8, 8}, kInk}}};
    QTest::newRow("covered as a whole") << Frames{{dot}, {{{40, 12, 2, 2}, kInk}, {{38, 10, 8, 8}, Qt::red}}};
    QTest::newRow("fewer") << Frames{{dot, {{30, 30, 9, 9}, Qt::red}}, {}, {{{30, 30, 2, 2}, kInk}}};
    QRandomGenerator random(7);
    const auto below = [&random](int limit) {
        return random.bounded(limit);
    };
    for (int row = 0; row < 20; ++row) {
        Frames frames(5);
        for (std::vector<ColoredRect> &frame : frames) {
            for (int i = below(12); i > 0; --i)
                frame.push_back({QRectF(below(90), below(60), 1 + below(24), 1 + below(16)),
                                 QColor::fromHsv(below(360), 200, 200)});
        }
        QTest::addRow("random %d", row) << frames;
    }
}

void TestRectangleNodes::nothingOfAnEarlierFrameIsLeft()
{
    QFETCH(Frames, frames);
    for (const std::vector<ColoredRect> &frame : frames) {
        m_item->show(frame);
        waitForFrame();
        compareWithPainted(frame);
    }
}

QTEST_MAIN(TestRectangleNodes)
#include "tst_rectangle_nodes.moc"
