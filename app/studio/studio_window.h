// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/studio/english_plurals.h"
#include "app/studio/studio.h"
#include "app/studio/theme.h"

#include <QQmlApplicationEngine>
#include <QSettings>
#include <QStringList>
#include <QWindow>

#include <memory>

class QQuickWindow;

namespace palimpsest::studio {

/// The window with its view models, as the program and the tests make it. One for each process: QML's Theme is that of
/// the last one made.
class StudioWindow
{
public:
    /// `settings` is not owned; null: nothing is remembered. Kept there: `look/scheme` (0 system, 1 light, 2 dark),
    /// `look/reducedMotion`, `look/pageZoom` (0.5 to 3), `look/entropyShown`, `window/geometry`, `window/maximized`,
    /// `window/libraryShown`, `window/inspectorChoice`, `window/inspectorTab`, `window/document` (the one that was
    /// open); besides what KeyMap, ModelChooser, ServerView and Tour keep.
    StudioWindow(std::unique_ptr<EngineHost> engine, documents::StoreOptions store, QSettings *settings,
                 StudioExtras extras = {});
    ~StudioWindow();
    StudioWindow(const StudioWindow &) = delete;
    StudioWindow &operator=(const StudioWindow &) = delete;

    [[nodiscard]] Studio &studio() { return *m_studio; }
    [[nodiscard]] Theme &theme() { return m_theme; }
    /// Null if the QML could not be loaded (its messages say why).
    [[nodiscard]] QQuickWindow *window() const;

    /// Imports texts and opens the last of them; none: opens what was open last.
    void open(const QStringList &files);

private:
    void restore();
    void restoreWindow();
    void remember() const;

    QSettings *m_settings;
    QWindow::Visibility m_visibility = QWindow::Windowed; ///< the last one in which it was seen
    EnglishPlurals m_plurals;
    Theme m_theme{nullptr};
    std::unique_ptr<Studio> m_studio;
    std::unique_ptr<QQmlApplicationEngine> m_engine; // goes before what its QML shows
};

/// The program `palimpsest-studio`. Returns its exit code.
int runStudio(int argc, char **argv);

} // namespace palimpsest::studio
