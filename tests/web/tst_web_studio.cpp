// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "resources/web/web_studio.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

using namespace palimpsest;

namespace {

QString contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

} // namespace

/// The browser studio as it lies in the program's resources.
class TestWebStudio : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everythingThatThePageNamesIsThere();
    void nothingIsInline();
    void nothingIsLoadedFromElsewhere();
    void namesNoRegistry();
};

void TestWebStudio::everythingThatThePageNamesIsThere()
{
    const QString folder = webStudioFolder();
    QCOMPARE(folder, QStringLiteral(":/web"));
    const QRegularExpression named(QStringLiteral(R"re((?:href|src)="([^"]+)"|url\("?([^")]+)"?\))re"));
    int files = 0;
    for (const char *source : {"index.html", "studio-style.css"}) {
        QRegularExpressionMatchIterator names = named.globalMatch(contentOf(folder + QLatin1Char('/') + source));
        while (names.hasNext()) {
            const QRegularExpressionMatch match = names.next();
            const QString name = match.captured(1) + match.captured(2);
            QVERIFY2(QFile::exists(folder + QLatin1Char('/') + name), qPrintable(name));
            ++files;
        }
    }
    QVERIFY(files >= 8);
}

void TestWebStudio::nothingIsInline()
{
    const QString page = contentOf(webStudioFolder() + QStringLiteral("/index.html"));
    QVERIFY(!page.contains(QRegularExpression(QStringLiteral("<style|style=|<script(?![^>]*src=)| on[a-z]+="))));
}

void TestWebStudio::nothingIsLoadedFromElsewhere()
{
    const QString style = contentOf(webStudioFolder() + QStringLiteral("/studio-style.css"));
    QVERIFY(!style.isEmpty());
    QVERIFY(!style.contains(QStringLiteral("//")));
    QVERIFY(!contentOf(webStudioFolder() + QStringLiteral("/index.html")).contains(QStringLiteral("//")));
}

void TestWebStudio::namesNoRegistry()
{
    const QString lock = contentOf(QStringLiteral(PALIMPSEST_SOURCE_DIR "/resources/web/package-lock.json"));
    QVERIFY(!lock.isEmpty());
    QVERIFY(!lock.contains(QStringLiteral("\"resolved\""))); // the versions and checksums say all that npm needs
}

QTEST_GUILESS_MAIN(TestWebStudio)
#include "tst_web_studio.moc"
