// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/studio_window.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QGuiApplication>
#include <QQuickWindow>
#include <QScreen>
#include <QUrl>

#include <algorithm>
#include <array>

namespace palimpsest::studio {

namespace {

/// Properties of the window that are kept: whether its panes are shown, and which tab.
constexpr std::array kShownParts{"libraryShown", "inspectorChoice", "inspectorTab"};

/// Brings a window back onto its screen that reaches beyond it with its frame.
void fitOntoScreen(QWindow &window)
{
    if (window.visibility() != QWindow::Windowed)
        return;
    const QRect room = window.screen()->availableGeometry();
    const QMargins frame = window.frameMargins();
    const QSize around(frame.left() + frame.right(), frame.top() + frame.bottom());
    const QSize size = window.size().boundedTo(room.size() - around).expandedTo(window.minimumSize());
    if (size != window.size())
        window.resize(size);
    const QSize outer = size + around;
    const QPoint corner = window.framePosition();
    const QPoint inside(std::clamp(corner.x(), room.left(), std::max(room.left(), room.right() + 1 - outer.width())),
                        std::clamp(corner.y(), room.top(), std::max(room.top(), room.bottom() + 1 - outer.height())));
    if (inside != corner)
        window.setFramePosition(inside);
}

} // namespace

StudioWindow::StudioWindow(std::unique_ptr<EngineHost> engine, documents::StoreOptions store, QSettings *settings,
                           StudioExtras extras)
    : m_settings(settings)
{
    QCoreApplication::installTranslator(&m_plurals); // first: the library reads its rows at once, on another thread
    Theme::provide(&m_theme);
    m_studio = std::make_unique<Studio>(std::move(engine), std::move(store), settings, std::move(extras));
    m_engine = std::make_unique<QQmlApplicationEngine>();
    restore();
    m_engine->addImportPath(QStringLiteral("qrc:/qt/qml"));
    m_engine->setInitialProperties({{QStringLiteral("studio"), QVariant::fromValue(m_studio.get())}});
    m_engine->load(QUrl(QStringLiteral("qrc:/qt/qml/Palimpsest/Main.qml")));
    restoreWindow();
}

StudioWindow::~StudioWindow()
{
    remember();
    m_engine.reset();
    m_studio.reset();
    QCoreApplication::removeTranslator(&m_plurals);
}

QQuickWindow *StudioWindow::window() const
{
    const auto roots = m_engine->rootObjects();
    return roots.isEmpty() ? nullptr : qobject_cast<QQuickWindow *>(roots.constFirst());
}

void StudioWindow::restore()
{
    if (m_settings == nullptr)
        return;
    const int scheme = m_settings->value(QStringLiteral("look/scheme")).toInt();
    if (scheme >= 0 && scheme <= static_cast<int>(Theme::Scheme::Dark))
        m_theme.setScheme(static_cast<Theme::Scheme>(scheme));
    m_theme.setReducedMotion(m_settings->value(QStringLiteral("look/reducedMotion")).toBool());
    m_theme.setPageZoom(m_settings->value(QStringLiteral("look/pageZoom"), 1.0).toDouble());
    m_studio->draft()->page()->setEntropyShown(m_settings->value(QStringLiteral("look/entropyShown")).toBool());
}

void StudioWindow::restoreWindow()
{
    QQuickWindow *shown = window();
    if (shown == nullptr)
        return;
    const QSize room = shown->screen()->availableSize(); // with large letters it is smaller than it looks
    shown->resize(shown->size().boundedTo(room).expandedTo(shown->minimumSize()));
    QObject::connect(shown, &QWindow::visibilityChanged, shown, [this](QWindow::Visibility visibility) {
        if (visibility != QWindow::Hidden) // as it is when the program ends
            m_visibility = visibility;
    });
    if (m_settings == nullptr)
        return;
    const QRect geometry = m_settings->value(QStringLiteral("window/geometry")).toRect();
    const auto screens = QGuiApplication::screens();
    const bool isOnAScreen = std::any_of(screens.begin(), screens.end(), [&geometry](const QScreen *screen) {
        return screen->availableGeometry().intersects(geometry);
    });
    if (geometry.isValid() && isOnAScreen) // a second screen may be gone
        shown->setGeometry(geometry);
    if (m_settings->value(QStringLiteral("window/maximized")).toBool())
        shown->showMaximized();
    QObject::connect(
        shown, &QQuickWindow::frameSwapped, shown, [shown] { fitOntoScreen(*shown); }, // its frame is known by now
        static_cast<Qt::ConnectionType>(Qt::AutoConnection | Qt::SingleShotConnection));
    for (const char *name : kShownParts) {
        const QVariant value = m_settings->value(QStringLiteral("window/") + QLatin1String(name));
        if (value.isValid())
            shown->setProperty(name, value.toInt()); // the file has texts; a bool takes a number as well
    }
}

void StudioWindow::remember() const
{
    if (m_settings == nullptr)
        return;
    m_settings->setValue(QStringLiteral("look/scheme"), static_cast<int>(m_theme.scheme()));
    m_settings->setValue(QStringLiteral("look/reducedMotion"), m_theme.reducedMotion());
    m_settings->setValue(QStringLiteral("look/pageZoom"), m_theme.pageZoom());
    m_settings->setValue(QStringLiteral("look/entropyShown"), m_studio->draft()->page()->entropyShown());
    if (const QQuickWindow *shown = window()) {
        if (m_visibility == QWindow::Windowed)
            m_settings->setValue(QStringLiteral("window/geometry"), shown->geometry());
        m_settings->setValue(QStringLiteral("window/maximized"), m_visibility == QWindow::Maximized);
        for (const char *name : kShownParts)
            m_settings->setValue(QStringLiteral("window/") + QLatin1String(name), shown->property(name).toInt());
    }
    m_settings->setValue(QStringLiteral("window/document"), m_studio->draft()->document());
}

void StudioWindow::open(const QStringList &files)
{
    for (const QString &file : files)
        m_studio->library()->importFile(QUrl::fromLocalFile(QFileInfo(file).absoluteFilePath()));
    if (files.isEmpty() && m_settings != nullptr)
        m_studio->openDocument(m_settings->value(QStringLiteral("window/document")).toString());
    if (window() != nullptr) {
        window()->raise();
        window()->requestActivate();
    }
}

} // namespace palimpsest::studio
