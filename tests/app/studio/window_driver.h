// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/studio/studio_window.h"
#include "tests/app/server/openai/endpoint_bench.h"

#include <QList>
#include <QSettings>
#include <QString>
#include <QTemporaryDir>
#include <QUrl>

#include <functional>
#include <memory>

class QQuickItem;

namespace palimpsest::test {

/// Settings in a folder of their own, of a writer who has been welcomed before.
struct WelcomedSettings
{
    WelcomedSettings() { settings.setValue(QStringLiteral("tour/offered"), true); }

    QTemporaryDir folder;
    QSettings settings{folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat};
};

/// How a test's window is made.
struct WindowSetup
{
    Script script = [](const ScriptInput &) {
        return std::string("I have paid the fee.");
    };
    BenchSettings bench = {.canvasLength = 64};
    QSettings *settings = nullptr;
    studio::StudioExtras extras = {};
    documents::StoreOptions store = {}; ///< without a file: one in a folder of the driver's own
};

/// A studio window over the real engine host, scheduler and store and a scripted model, used as a writer does: by keys
/// and mouse. Names are those of the accessibility tree, which is also what a person sees.
class WindowDriver
{
public:
    explicit WindowDriver(WindowSetup setup = {});

    [[nodiscard]] studio::StudioWindow &window() { return *m_window; }
    [[nodiscard]] studio::Studio &studio() { return m_window->studio(); }
    [[nodiscard]] QString folder() const { return m_folder.path(); }
    [[nodiscard]] bool ready() const; ///< shown and active

    void key(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
    void type(const QString &text);
    /// The visible item of that accessible name (or that text), nearest to the top of what lies over the window.
    [[nodiscard]] QQuickItem *item(const QString &name) const;
    [[nodiscard]] bool shows(const QString &text) const; ///< some visible text contains this
    /// False: there is no such item, or it cannot be used.
    [[nodiscard]] bool click(const QString &name, Qt::MouseButton button = Qt::LeftButton);
    [[nodiscard]] bool press(QQuickItem *item, Qt::MouseButton button = Qt::LeftButton);
    /// Opens a new draft with this text and puts the caret into it.
    [[nodiscard]] bool openDraft(const QString &title, const QString &text);
    [[nodiscard]] QString text();        ///< of the open draft
    void drop(const QList<QUrl> &files); ///< drags them from elsewhere onto the window
    /// Where PALIMPSEST_PICTURES names a folder, the window's picture goes there, for people to look at (with
    /// PALIMPSEST_PICTURES_DARK set: in the dark scheme; PALIMPSEST_PICTURES_SIZE: "1024x700").
    void picture(const QString &name);

private:
    QTemporaryDir m_folder;
    std::unique_ptr<studio::StudioWindow> m_window;
};

} // namespace palimpsest::test
