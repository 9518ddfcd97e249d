// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/theme.h"

#include <QFile>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QJSEngine>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPalette>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace palimpsest::studio {

namespace {

Theme *s_provided = nullptr; // QML asks a function without arguments for its singletons

QJsonObject readTokens()
{
    QFile file(QStringLiteral(":/design/tokens.json"));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("the design's tokens are not in the program");
    return QJsonDocument::fromJson(file.readAll()).object();
}

const QJsonObject &tokens()
{
    static const QJsonObject object = readTokens();
    return object;
}

/// The first family of a list that this machine has; the last one is a generic name.
QString firstInstalled(const QJsonValue &families)
{
    const QStringList installed = QFontDatabase::families();
    const QJsonArray wanted = families.toArray();
    for (const auto &family : wanted) {
        if (installed.contains(family.toString()))
            return family.toString();
    }
    return wanted.last().toString();
}

bool systemIsDark()
{
    // Qt 6.4 knows no colour scheme, but its palette follows the desktop's.
    const QPalette palette = QGuiApplication::palette();
    return palette.color(QPalette::WindowText).lightnessF() > palette.color(QPalette::Window).lightnessF();
}

} // namespace

Theme::Theme(QObject *parent) : QObject(parent)
{
    readSizes(tokens());
    readColors();
}

void Theme::provide(Theme *theme)
{
    s_provided = theme;
}

Theme *Theme::create(QQmlEngine *, QJSEngine *)
{
    Q_ASSERT(s_provided != nullptr);
    QJSEngine::setObjectOwnership(s_provided, QJSEngine::CppOwnership);
    return s_provided;
}

void Theme::setScheme(Scheme scheme)
{
    if (m_scheme == scheme)
        return;
    m_scheme = scheme;
    readColors();
    Q_EMIT changed();
}

void Theme::setReducedMotion(bool reduced)
{
    if (m_reducedMotion == reduced)
        return;
    m_reducedMotion = reduced;
    Q_EMIT changed();
}

void Theme::setPageZoom(double zoom)
{
    const double wanted = std::clamp(zoom, 0.5, 3.0);
    if (qFuzzyCompare(m_pageZoom, wanted))
        return;
    m_pageZoom = wanted;
    Q_EMIT changed();
}

int Theme::entropyLevel(double nats)
{
    // The ramp goes from 0 to 4 nats; its first stop means settled.
    constexpr double kNatsPerLevel = 4.0 / (kEntropyLevels - 1);
    if (!(nats > 0.05))
        return 0;
    return std::clamp(1 + static_cast<int>(nats / kNatsPerLevel), 1, kEntropyLevels - 1);
}

QColor Theme::entropyColor(int level) const
{
    return m_entropy[static_cast<std::size_t>(std::clamp(level, 0, kEntropyLevels - 1))];
}

void Theme::readSizes(const QJsonObject &tokens)
{
    const QJsonObject font = tokens[u"font"].toObject();
    m_uiFont = firstInstalled(font[u"ui"]);
    m_pageFont = firstInstalled(font[u"page"]);
    m_monoFont = firstInstalled(font[u"mono"]);
    const QJsonObject size = font[u"size"].toObject();
    m_captionSize = size[u"caption"].toInt();
    m_labelSize = size[u"label"].toInt();
    m_bodySize = size[u"body"].toInt();
    m_titleSize = size[u"title"].toInt();
    m_pageSize = size[u"page"].toDouble();
    m_pageLineHeight = font[u"pageLineHeight"].toDouble();

    const QJsonArray space = tokens[u"space"].toArray();
    m_spaceTiny = space[1].toInt();
    m_spaceSmall = space[2].toInt();
    m_spaceMedium = space[3].toInt();
    m_spaceLarge = space[4].toInt();
    m_spaceHuge = space[5].toInt();
    const QJsonObject radius = tokens[u"radius"].toObject();
    m_radiusSmall = radius[u"small"].toInt();
    m_radiusMedium = radius[u"medium"].toInt();
    m_radiusLarge = radius[u"large"].toInt();
    const QJsonObject width = tokens[u"width"].toObject();
    m_libraryWidth = width[u"library"].toInt();
    m_pageWidth = width[u"page"].toInt();
    m_inspectorWidth = width[u"inspector"].toInt();
    m_touchTarget = width[u"touchTarget"].toInt();
    const QJsonObject motion = tokens[u"motion"].toObject();
    m_tokenSettleMs = motion[u"tokenSettle"].toInt();
    m_panelMs = motion[u"panel"].toInt();
}

void Theme::readColors()
{
    m_dark = m_scheme == Scheme::Dark || (m_scheme == Scheme::System && systemIsDark());
    const QString name = m_dark ? QStringLiteral("dark") : QStringLiteral("light");
    const QJsonObject colors = tokens()[name].toObject();
    const std::array members{std::pair{"paper", &m_paper},
                             std::pair{"surface", &m_surface},
                             std::pair{"sunken", &m_sunken},
                             std::pair{"line", &m_line},
                             std::pair{"ink", &m_ink},
                             std::pair{"inkSoft", &m_inkSoft},
                             std::pair{"inkFaint", &m_inkFaint},
                             std::pair{"accent", &m_accent},
                             std::pair{"accentSoft", &m_accentSoft},
                             std::pair{"amber", &m_amber},
                             std::pair{"amberSoft", &m_amberSoft},
                             std::pair{"rust", &m_rust},
                             std::pair{"rustSoft", &m_rustSoft},
                             std::pair{"focus", &m_focus}};
    for (const auto &[key, color] : members)
        *color = QColor(colors[QLatin1String(key)].toString());
    m_entropy.clear();
    const QJsonArray ramp = tokens()[u"entropyRamp"].toObject()[name].toArray();
    for (const auto &stop : ramp)
        m_entropy.emplace_back(stop.toString());
    Q_ASSERT(m_entropy.size() == kEntropyLevels);
}

} // namespace palimpsest::studio
