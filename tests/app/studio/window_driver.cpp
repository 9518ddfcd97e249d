// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/window_driver.h"

#include <QAccessible>
#include <QDragEnterEvent>
#include <QGuiApplication>
#include <QMimeData>
#include <QQuickItem>
#include <QQuickStyle>
#include <QQuickWindow>
#include <QTest>
#include <QtQml/qqmlextensionplugin.h>

#include <algorithm>
#include <utility>

Q_IMPORT_QML_PLUGIN(Palimpsest_StudioPlugin)
Q_IMPORT_QML_PLUGIN(PalimpsestPlugin)

namespace palimpsest::test {

namespace {

QString nameOf(QQuickItem *item)
{
    const QAccessibleInterface *accessible = QAccessible::queryAccessibleInterface(item);
    return accessible == nullptr ? QString() : accessible->text(QAccessible::Name);
}

/// Calls `visit` for every visible item, what lies on top first; until it returns true.
bool visitItems(QQuickItem *root, const std::function<bool(QQuickItem *)> &visit)
{
    if (!root->isVisible())
        return false;
    QList<QQuickItem *> children = root->childItems();
    std::reverse(children.begin(), children.end()); // of equals the last one lies on top
    std::stable_sort(children.begin(), children.end(), [](QQuickItem *a, QQuickItem *b) { return a->z() > b->z(); });
    for (QQuickItem *child : std::as_const(children)) {
        if (visitItems(child, visit))
            return true;
    }
    return visit(root);
}

} // namespace

WindowDriver::WindowDriver(WindowSetup setup)
{
    QQuickStyle::setStyle(QStringLiteral("Basic"));
    if (setup.store.file.empty())
        setup.store.file = m_folder.filePath(QStringLiteral("drafts.sqlite")).toStdString();
    auto parts = scriptedParts(scriptedModel(std::move(setup.script), setup.bench.canvasLength), setup.bench);
    m_window = std::make_unique<studio::StudioWindow>(std::make_unique<EngineHost>(std::move(parts)),
                                                      std::move(setup.store), setup.settings, std::move(setup.extras));
    if (qEnvironmentVariableIsSet("PALIMPSEST_PICTURES_DARK"))
        m_window->theme().setScheme(studio::Theme::Scheme::Dark);
    if (QQuickWindow *shown = m_window->window()) {
        const QStringList size =
            qEnvironmentVariable("PALIMPSEST_PICTURES_SIZE", QStringLiteral("1440x900")).split(u'x');
        shown->resize(size.value(0).toInt(), size.value(1).toInt());
        shown->requestActivate(); // where no window manager does it
        (void)QTest::qWaitForWindowActive(shown);
    }
}

bool WindowDriver::ready() const
{
    return m_window->window() != nullptr && m_window->window()->isActive();
}

void WindowDriver::key(int key, Qt::KeyboardModifiers modifiers)
{
    QTest::keyClick(m_window->window(), static_cast<Qt::Key>(key), modifiers);
}

void WindowDriver::type(const QString &text)
{
    for (const QChar c : text)
        QTest::sendKeyEvent(QTest::Click, m_window->window(), c == u'\n' ? Qt::Key_Return : Qt::Key_unknown,
                            c == u'\n' ? QStringLiteral("\r") : QString(c), Qt::NoModifier);
}

QQuickItem *WindowDriver::item(const QString &name) const
{
    QQuickItem *found = nullptr;
    visitItems(m_window->window()->contentItem(), [&](QQuickItem *candidate) {
        const bool usable = candidate->property("text").toString() == name || nameOf(candidate) == name;
        if (usable && candidate->width() > 1.0)
            found = candidate;
        return found != nullptr;
    });
    return found;
}

bool WindowDriver::shows(const QString &text) const
{
    return visitItems(m_window->window()->contentItem(),
                      [&](QQuickItem *candidate) { return candidate->property("text").toString().contains(text); });
}

bool WindowDriver::click(const QString &name, Qt::MouseButton button)
{
    QQuickItem *found = nullptr; // what the state shows now is on the window a frame later
    (void)QTest::qWaitFor([&] {
        found = item(name);
        return found != nullptr && found->isEnabled();
    });
    return press(found, button);
}

bool WindowDriver::press(QQuickItem *item, Qt::MouseButton button)
{
    if (item == nullptr || !item->isEnabled())
        return false;
    (void)m_window->window()->grabWindow(); // so that everything stands at its place
    const QPoint middle = item->mapToScene({item->width() / 2, item->height() / 2}).toPoint();
    if (!QRect({}, m_window->window()->size()).contains(middle))
        return false;
    QTest::mouseClick(m_window->window(), button, Qt::NoModifier, middle);
    return true;
}

bool WindowDriver::openDraft(const QString &title, const QString &text)
{
    studio().library()->create(title, text);
    if (!QTest::qWaitFor([this] { return studio().draft()->isOpen(); }))
        return false;
    const QQuickItem *editor = studio().draft()->page()->textEdit(); // a new draft has the caret
    return QTest::qWaitFor([editor] { return editor->hasActiveFocus(); });
}

QString WindowDriver::text()
{
    const editing::DraftSession *session = studio().draft()->session();
    return session == nullptr ? QString() : session->draft().text();
}

void WindowDriver::drop(const QList<QUrl> &files)
{
    QMimeData data;
    data.setUrls(files);
    const QPoint middle(m_window->window()->width() / 2, m_window->window()->height() / 2);
    QDragEnterEvent enter(middle, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(m_window->window(), &enter);
    QDropEvent dropped(middle, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(m_window->window(), &dropped);
}

void WindowDriver::picture(const QString &name)
{
    const QString pictures = qEnvironmentVariable("PALIMPSEST_PICTURES");
    if (pictures.isEmpty())
        return;
    QTest::qWait(300); // for what moves; pictures are for people, and no test waits here
    m_window->window()->grabWindow().save(pictures + u'/' + name + QStringLiteral(".png"));
}

} // namespace palimpsest::test
