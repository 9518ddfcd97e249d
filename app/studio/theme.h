// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QColor>
#include <QFont>
#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

#include <vector>

class QJsonObject;
class QJSEngine;
class QQmlEngine;

namespace palimpsest::studio {

/// The look as QML reads it: colours of the scheme in force, sizes, fonts and times, from the design tokens that the
/// browser studio uses as well (`resources/design/tokens.json`).
///
/// Sizes are logical pixels at 100 %, multiplied by the zoom of the controls; times are milliseconds, 0 with reduced
/// motion.
class Theme : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_SINGLETON

    Q_PROPERTY(Scheme scheme READ scheme WRITE setScheme NOTIFY changed)
    Q_PROPERTY(bool dark READ dark NOTIFY changed)
    Q_PROPERTY(bool reducedMotion READ reducedMotion WRITE setReducedMotion NOTIFY changed)
    Q_PROPERTY(double pageZoom READ pageZoom WRITE setPageZoom NOTIFY changed)

    Q_PROPERTY(QColor paper MEMBER m_paper NOTIFY changed)
    Q_PROPERTY(QColor surface MEMBER m_surface NOTIFY changed)
    Q_PROPERTY(QColor sunken MEMBER m_sunken NOTIFY changed)
    Q_PROPERTY(QColor line MEMBER m_line NOTIFY changed)
    Q_PROPERTY(QColor ink MEMBER m_ink NOTIFY changed)
    Q_PROPERTY(QColor inkSoft MEMBER m_inkSoft NOTIFY changed)
    Q_PROPERTY(QColor inkFaint MEMBER m_inkFaint NOTIFY changed)
    Q_PROPERTY(QColor accent MEMBER m_accent NOTIFY changed)
    Q_PROPERTY(QColor accentSoft MEMBER m_accentSoft NOTIFY changed)
    Q_PROPERTY(QColor amber MEMBER m_amber NOTIFY changed)
    Q_PROPERTY(QColor amberSoft MEMBER m_amberSoft NOTIFY changed)
    Q_PROPERTY(QColor rust MEMBER m_rust NOTIFY changed)
    Q_PROPERTY(QColor rustSoft MEMBER m_rustSoft NOTIFY changed)
    Q_PROPERTY(QColor focus MEMBER m_focus NOTIFY changed)

    Q_PROPERTY(QString uiFont MEMBER m_uiFont CONSTANT)
    Q_PROPERTY(QString pageFont MEMBER m_pageFont CONSTANT)
    Q_PROPERTY(QString monoFont MEMBER m_monoFont CONSTANT)
    Q_PROPERTY(int captionSize MEMBER m_captionSize CONSTANT)
    Q_PROPERTY(int labelSize MEMBER m_labelSize CONSTANT)
    Q_PROPERTY(int bodySize MEMBER m_bodySize CONSTANT)
    Q_PROPERTY(int titleSize MEMBER m_titleSize CONSTANT)
    Q_PROPERTY(double pageSize READ pageSize NOTIFY changed)
    Q_PROPERTY(double pageLineHeight MEMBER m_pageLineHeight CONSTANT)

    Q_PROPERTY(int spaceTiny MEMBER m_spaceTiny CONSTANT)
    Q_PROPERTY(int spaceSmall MEMBER m_spaceSmall CONSTANT)
    Q_PROPERTY(int spaceMedium MEMBER m_spaceMedium CONSTANT)
    Q_PROPERTY(int spaceLarge MEMBER m_spaceLarge CONSTANT)
    Q_PROPERTY(int spaceHuge MEMBER m_spaceHuge CONSTANT)
    Q_PROPERTY(int radiusSmall MEMBER m_radiusSmall CONSTANT)
    Q_PROPERTY(int radiusMedium MEMBER m_radiusMedium CONSTANT)
    Q_PROPERTY(int radiusLarge MEMBER m_radiusLarge CONSTANT)
    Q_PROPERTY(int libraryWidth MEMBER m_libraryWidth CONSTANT)
    Q_PROPERTY(int pageWidth MEMBER m_pageWidth CONSTANT)
    Q_PROPERTY(int inspectorWidth MEMBER m_inspectorWidth CONSTANT)
    Q_PROPERTY(int touchTarget MEMBER m_touchTarget CONSTANT)
    Q_PROPERTY(int tokenSettleMs READ tokenSettleMs NOTIFY changed)
    Q_PROPERTY(int panelMs READ panelMs NOTIFY changed)

public:
    enum class Scheme { System, Light, Dark };
    Q_ENUM(Scheme)

    /// Without a default for `parent`: QML would make a singleton of its own of a class that it can construct (Qt 6.4).
    explicit Theme(QObject *parent);
    /// QML's singleton is the object that the application made, so that C++ and QML read the same one. Must be called
    /// before QML loads.
    static void provide(Theme *theme);
    static Theme *create(QQmlEngine *, QJSEngine *);

    [[nodiscard]] Scheme scheme() const noexcept { return m_scheme; }
    void setScheme(Scheme scheme);
    [[nodiscard]] bool dark() const noexcept { return m_dark; }
    [[nodiscard]] bool reducedMotion() const noexcept { return m_reducedMotion; }
    void setReducedMotion(bool reduced);
    /// Of the page's letters alone, 0.5 to 3.
    [[nodiscard]] double pageZoom() const noexcept { return m_pageZoom; }
    void setPageZoom(double zoom);
    [[nodiscard]] double pageSize() const noexcept { return m_pageSize * m_pageZoom; }
    [[nodiscard]] int tokenSettleMs() const noexcept { return m_reducedMotion ? 0 : m_tokenSettleMs; }
    [[nodiscard]] int panelMs() const noexcept { return m_reducedMotion ? 0 : m_panelMs; }

    static constexpr int kEntropyLevels = 6;
    /// The heat of an entropy: 0 (settled) to kEntropyLevels - 1 (4 nats and more).
    [[nodiscard]] Q_INVOKABLE static int entropyLevel(double nats);
    [[nodiscard]] Q_INVOKABLE QColor entropyColor(int level) const;

    [[nodiscard]] const QColor &paper() const noexcept { return m_paper; }
    [[nodiscard]] const QColor &accent() const noexcept { return m_accent; }
    [[nodiscard]] const QColor &accentSoft() const noexcept { return m_accentSoft; }
    [[nodiscard]] const QColor &amberSoft() const noexcept { return m_amberSoft; }
    [[nodiscard]] const QColor &sunken() const noexcept { return m_sunken; }
    [[nodiscard]] const QColor &ink() const noexcept { return m_ink; }
    [[nodiscard]] const QColor &line() const noexcept { return m_line; }
    [[nodiscard]] const QColor &rust() const noexcept { return m_rust; }

Q_SIGNALS:
    void changed();

private:
    void readSizes(const QJsonObject &tokens);
    void readColors();

    Scheme m_scheme = Scheme::System;
    bool m_dark = false;
    bool m_reducedMotion = false;
    double m_pageZoom = 1.0;
    QColor m_paper, m_surface, m_sunken, m_line, m_ink, m_inkSoft, m_inkFaint, m_accent, m_accentSoft, m_amber,
        m_amberSoft, m_rust, m_rustSoft, m_focus;
    std::vector<QColor> m_entropy;
    QString m_uiFont, m_pageFont, m_monoFont;
    int m_captionSize = 0, m_labelSize = 0, m_bodySize = 0, m_titleSize = 0;
    double m_pageSize = 0.0, m_pageLineHeight = 0.0;
    int m_spaceTiny = 0, m_spaceSmall = 0, m_spaceMedium = 0, m_spaceLarge = 0, m_spaceHuge = 0;
    int m_radiusSmall = 0, m_radiusMedium = 0, m_radiusLarge = 0;
    int m_libraryWidth = 0, m_pageWidth = 0, m_inspectorWidth = 0, m_touchTarget = 0;
    int m_tokenSettleMs = 0, m_panelMs = 0;
};

} // namespace palimpsest::studio
