// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/window_driver.h"

#include <QAccessible>
#include <QClipboard>
#include <QGuiApplication>
#include <QQuickWindow>
#include <QSettings>
#include <QTest>

#include <spdlog/spdlog.h>

#include <array>

using namespace palimpsest;
using namespace palimpsest::studio;
using palimpsest::test::WindowDriver;

namespace {

/// A panel by the keys that open it and something that only it shows.
struct Panel
{
    int key = 0;
    Qt::KeyboardModifiers modifiers;
    QString shows;
};

} // namespace

/// What a writer sets once and finds again at the next start: look, keys, whether they were welcomed; and the panels
/// around the page.
class TestStudioSettings : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void welcomesOnceAndTours();
    void settingsAreKept();
    void keysCanBeChanged();
    void logIsShown();
    void everyPanelHasNamesF090();
};

void TestStudioSettings::welcomesOnceAndTours()
{
    QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat);
    {
        test::WindowSetup setup;
        setup.settings = &settings;
        WindowDriver driver(std::move(setup));
        QTRY_VERIFY(driver.shows(QStringLiteral("Welcome to Palimpsest")));
        driver.picture(QStringLiteral("welcome"));
        QTRY_VERIFY(driver.item(QStringLiteral("Two-minute tour")) != nullptr);
        QVERIFY(driver.click(QStringLiteral("Two-minute tour")));
        Tour &tour = *driver.studio().tour();
        QTRY_VERIFY(tour.running());
        QTRY_COMPARE(driver.text(), Tour::sampleText());
        driver.picture(QStringLiteral("tour"));
        for (int step = 1; step < Tour::steps(); ++step) {
            QTRY_VERIFY(driver.shows(tour.text()));
            QTRY_VERIFY(driver.item(QStringLiteral("Next")) != nullptr);
            QVERIFY(driver.click(QStringLiteral("Next")));
            QTRY_COMPARE(tour.step(), step + 1);
        }
        QTRY_VERIFY(driver.item(QStringLiteral("Done")) != nullptr);
        QVERIFY(driver.click(QStringLiteral("Done")));
        QTRY_VERIFY(!tour.running());
    }
    test::WindowSetup setup;
    setup.settings = &settings;
    WindowDriver driver(std::move(setup)); // not again
    QVERIFY(!driver.studio().tour()->welcoming());
    QVERIFY(!driver.shows(QStringLiteral("Welcome to Palimpsest")));
    QVERIFY(driver.click(QStringLiteral("Menu"))); // but by the menu
    for (const QString &entry : {QStringLiteral("Help"), QStringLiteral("Two-minute tour")}) {
        QTRY_VERIFY(driver.item(entry) != nullptr);
        QVERIFY(driver.click(entry));
    }
    QTRY_VERIFY(driver.studio().tour()->running());
    QTRY_VERIFY(driver.item(QStringLiteral("End the tour")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("End the tour")));
    QTRY_VERIFY(!driver.studio().tour()->running());
}

void TestStudioSettings::settingsAreKept()
{
    test::WelcomedSettings kept;
    QRect geometry;
    {
        test::WindowSetup setup;
        setup.settings = &kept.settings;
        WindowDriver driver(std::move(setup));
        driver.key(Qt::Key_Comma, Qt::ControlModifier);
        QTRY_VERIFY(driver.shows(QStringLiteral("Size of the page's letters")));
        QVERIFY(driver.click(QStringLiteral("Dark")));
        QVERIFY(driver.click(QStringLiteral("Reduced motion")));
        QVERIFY(driver.click(QStringLiteral("+")));
        driver.picture(QStringLiteral("settings-dark"));
        QVERIFY(driver.window().theme().dark());
        driver.key(Qt::Key_Escape);
        QTRY_VERIFY(!driver.shows(QStringLiteral("Size of the page's letters"))); // else the keys are the panel's
        driver.key(Qt::Key_B, Qt::ControlModifier);
        driver.window().window()->setGeometry(30, 40, 780, 560);
        QTRY_COMPARE(driver.window().window()->width(), 780);
        geometry = driver.window().window()->geometry();
    }
    test::WindowSetup setup;
    setup.settings = &kept.settings;
    const StudioWindow again(std::make_unique<EngineHost>(test::scriptedParts(
                                 test::scriptedModel(setup.script, setup.bench.canvasLength), setup.bench)),
                             {.file = kept.folder.filePath(QStringLiteral("d.sqlite")).toStdString()}, &kept.settings);
    QCOMPARE(again.window()->geometry(), geometry);
    QCOMPARE(kept.settings.value(QStringLiteral("look/scheme")).toInt(), static_cast<int>(Theme::Scheme::Dark));
    QVERIFY(kept.settings.value(QStringLiteral("look/reducedMotion")).toBool());
    QVERIFY(kept.settings.value(QStringLiteral("look/pageZoom")).toDouble() > 1.05);
    QCOMPARE(again.window()->property("libraryShown").toBool(), false);
}

void TestStudioSettings::keysCanBeChanged()
{
    test::WelcomedSettings kept;
    test::WindowSetup setup;
    setup.settings = &kept.settings;
    WindowDriver driver(std::move(setup));
    driver.key(Qt::Key_F1);
    QTRY_VERIFY(driver.item(QStringLiteral("New draft: Ctrl+N")) != nullptr);
    driver.picture(QStringLiteral("keys"));
    QVERIFY(driver.click(QStringLiteral("New draft: Ctrl+N")));
    QTRY_VERIFY(driver.shows(QStringLiteral("Press the new keys")));
    driver.key(Qt::Key_O, Qt::ControlModifier); // Import has this one
    QTRY_COMPARE(driver.studio().keys()->keysOf(QStringLiteral("new")), QStringList{QStringLiteral("Ctrl+O")});
    QVERIFY(driver.studio().keys()->keysOf(QStringLiteral("import")).isEmpty());
    QTRY_VERIFY(driver.shows(QStringLiteral("has lost its key")));
    QCOMPARE(kept.settings.value(QStringLiteral("keys/new")).toString(), QStringLiteral("Ctrl+O"));
    driver.key(Qt::Key_Escape);
    QTRY_VERIFY(driver.item(QStringLiteral("New draft: Ctrl+O")) == nullptr); // else the keys are the panel's
    driver.key(Qt::Key_N, Qt::ControlModifier);                               // means nothing any more
    driver.key(Qt::Key_O, Qt::ControlModifier);
    QTRY_COMPARE(driver.studio().library()->count(), 1);
    QTRY_VERIFY(driver.studio().draft()->isOpen());
}

void TestStudioSettings::logIsShown()
{
    test::WindowSetup setup;
    setup.extras.log = std::make_shared<LogSink>();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", setup.extras.log));
    spdlog::info("said before the window stood");
    WindowDriver driver(std::move(setup));
    spdlog::warn("said later");
    spdlog::debug("said in a whisper");
    driver.key(Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(driver.shows(QStringLiteral("said before the window stood")));
    QTRY_VERIFY(driver.shows(QStringLiteral("warning: said later")));
    QVERIFY(!driver.shows(QStringLiteral("whisper")));
    driver.picture(QStringLiteral("log"));
    QVERIFY(driver.click(QStringLiteral("Copy all")));
    QVERIFY(QGuiApplication::clipboard()->text().contains(QStringLiteral("said later")));
}

void TestStudioSettings::everyPanelHasNamesF090()
{
    WindowDriver driver;
    QVERIFY(driver.openDraft(QStringLiteral("Alpha"), QStringLiteral("one")));
    const auto nameless = [&driver] {
        QStringList list;
        const std::function<void(QAccessibleInterface *)> walk = [&](QAccessibleInterface *item) {
            if (item == nullptr || !item->isValid() || item->state().invisible)
                return;
            if (item->state().focusable && item->text(QAccessible::Name).isEmpty())
                list << QString::fromLatin1(item->object()->metaObject()->className());
            for (int i = 0; i < item->childCount(); ++i)
                walk(item->child(i));
        };
        walk(QAccessible::queryAccessibleInterface(driver.window().window()));
        return list;
    };
    const std::array<Panel, 6> panels{
        {{Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier, QStringLiteral("Your question")},
         {Qt::Key_M, Qt::ControlModifier, QStringLiteral("Endpoint and browser studio")},
         {Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier, QStringLiteral("Use this model")},
         {Qt::Key_Comma, Qt::ControlModifier, QStringLiteral("Reduced motion")},
         {Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier, QStringLiteral("Copy all")},
         {Qt::Key_F1, Qt::NoModifier, QStringLiteral("New draft: Ctrl+N")}}};
    for (const Panel &panel : panels) {
        driver.key(panel.key, panel.modifiers);
        QTRY_VERIFY2(driver.item(panel.shows) != nullptr, qPrintable(panel.shows));
        QCOMPARE(nameless(), QStringList());
        driver.key(Qt::Key_Escape);
    }
}

QTEST_MAIN(TestStudioSettings)
#include "tst_studio_settings.moc"
