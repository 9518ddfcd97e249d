// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/window_driver.h"

#include <QQuickItem>
#include <QSettings>
#include <QTest>

using namespace palimpsest;
using namespace palimpsest::studio;
using palimpsest::test::WindowDriver;

namespace {

constexpr int kPatienceMs = 30'000; // for sanitizers on a busy machine

} // namespace

/// Another model for the window that runs.
class TestStudioModelChooser : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void choosesAModelFolder();
    void aWrongFolderIsRefusedInWordsF027();
};

void TestStudioModelChooser::choosesAModelFolder()
{
    test::WelcomedSettings kept;
    test::WindowSetup setup;
    setup.settings = &kept.settings;
    setup.extras.model.device = "cpu";
    WindowDriver driver(std::move(setup));
    driver.key(Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(driver.shows(QStringLiteral("Choose a model")));
    const QString demo = QStringLiteral(PALIMPSEST_SOURCE_DIR "/resources/demo_model");
    driver.type(demo);
    driver.key(Qt::Key_Return);
    ModelChooser &chooser = *driver.studio().chooser();
    QTRY_COMPARE_WITH_TIMEOUT(chooser.state(), ModelChooser::State::Usable, kPatienceMs);
    QTRY_VERIFY(driver.shows(QStringLiteral("Memory needed")));
    driver.picture(QStringLiteral("model-choose"));
    QVERIFY(driver.click(QStringLiteral("Use this model")));
    QTRY_VERIFY_WITH_TIMEOUT(driver.studio().model()->name() == QStringLiteral("palimpsest-demo") &&
                                 driver.studio().model()->phase() == ModelView::Phase::Ready,
                             kPatienceMs);
    QCOMPARE(chooser.recent(), QStringList{demo});
    QCOMPARE(kept.settings.value(QStringLiteral("model")).toString(), demo);
}

void TestStudioModelChooser::aWrongFolderIsRefusedInWordsF027()
{
    WindowDriver driver;
    QTemporaryDir folder;
    driver.key(Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(driver.shows(QStringLiteral("Choose a model")));
    driver.type(folder.path());
    driver.key(Qt::Key_Return);
    ModelChooser &chooser = *driver.studio().chooser();
    QTRY_COMPARE_WITH_TIMEOUT(chooser.state(), ModelChooser::State::Refused, kPatienceMs);
    QVERIFY2(chooser.problemText().contains(QStringLiteral("config.json")), qPrintable(chooser.problemText()));
    QTRY_VERIFY(driver.shows(chooser.problemText()));
    QVERIFY(!driver.item(QStringLiteral("Use this model"))->isEnabled());
    driver.picture(QStringLiteral("model-refused"));
    QCOMPARE(driver.studio().model()->phase(), ModelView::Phase::Ready); // what runs goes on
}

QTEST_MAIN(TestStudioModelChooser)
#include "tst_studio_model_chooser.moc"
