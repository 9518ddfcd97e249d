// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/key_map.h"

#include <QCoreApplication>
#include <QKeyEvent>
#include <QSettings>

#include <algorithm>
#include <array>

namespace palimpsest::studio {

namespace {

struct Entry
{
    const char *id;
    const char *group;
    const char *text;
    const char *keys; ///< alternatives, separated by blanks
};

// The map of the studios, desktop and browser alike: conventions of editors first (Ctrl+Y stays redo), and no key
// without a command that can be seen.
constexpr std::array kEntries{
    Entry{"new", QT_TRANSLATE_NOOP("KeyMap", "Drafts"), QT_TRANSLATE_NOOP("KeyMap", "New draft"), "Ctrl+N"},
    Entry{"import", "Drafts", QT_TRANSLATE_NOOP("KeyMap", "Import…"), "Ctrl+O"},
    Entry{"export", "Drafts", QT_TRANSLATE_NOOP("KeyMap", "Export…"), "Ctrl+S Ctrl+Shift+E"},
    Entry{"rename", "Drafts", QT_TRANSLATE_NOOP("KeyMap", "Rename…"), "F2"},
    Entry{"duplicate", "Drafts", QT_TRANSLATE_NOOP("KeyMap", "Duplicate"), "Ctrl+Shift+N"},
    Entry{"toBin", "Drafts", QT_TRANSLATE_NOOP("KeyMap", "Move to the bin"), "Ctrl+Shift+Delete"},
    Entry{"bin", "Drafts", QT_TRANSLATE_NOOP("KeyMap", "Drafts or bin"), "Ctrl+Shift+B"},
    Entry{"emptyBin", "Drafts", QT_TRANSLATE_NOOP("KeyMap", "Empty the bin…"), ""},
    Entry{"searchDrafts", "Drafts", QT_TRANSLATE_NOOP("KeyMap", "Search drafts"), "Ctrl+Shift+F"},
    Entry{"quit", "Drafts", QT_TRANSLATE_NOOP("KeyMap", "Quit"), "Ctrl+Q"},
    Entry{"undo", QT_TRANSLATE_NOOP("KeyMap", "Text"), QT_TRANSLATE_NOOP("KeyMap", "Undo"), "Ctrl+Z"},
    Entry{"redo", "Text", QT_TRANSLATE_NOOP("KeyMap", "Redo"), "Ctrl+Shift+Z Ctrl+Y"},
    Entry{"cut", "Text", QT_TRANSLATE_NOOP("KeyMap", "Cut"), "Ctrl+X"},
    Entry{"copy", "Text", QT_TRANSLATE_NOOP("KeyMap", "Copy"), "Ctrl+C"},
    Entry{"paste", "Text", QT_TRANSLATE_NOOP("KeyMap", "Paste"), "Ctrl+V"},
    Entry{"find", "Text", QT_TRANSLATE_NOOP("KeyMap", "Find and replace…"), "Ctrl+F"},
    Entry{"zoomIn", "Text", QT_TRANSLATE_NOOP("KeyMap", "Larger text"), "Ctrl++ Ctrl+="},
    Entry{"zoomOut", "Text", QT_TRANSLATE_NOOP("KeyMap", "Smaller text"), "Ctrl+-"},
    Entry{"zoomReset", "Text", QT_TRANSLATE_NOOP("KeyMap", "Normal text size"), "Ctrl+0"},
    Entry{"rewrite", QT_TRANSLATE_NOOP("KeyMap", "Model"),
          QT_TRANSLATE_NOOP("KeyMap", "Rewrite the selection, or fill at the caret…"), "Ctrl+K"},
    Entry{"again", "Model", QT_TRANSLATE_NOOP("KeyMap", "Re-noise again, new seed"), "Ctrl+R"},
    Entry{"againSameSeed", "Model", QT_TRANSLATE_NOOP("KeyMap", "Again with the same seed"), "Ctrl+Shift+R"},
    Entry{"alternatives", "Model", QT_TRANSLATE_NOOP("KeyMap", "Three alternatives"), "Ctrl+Shift+K"},
    Entry{"continue", "Model", QT_TRANSLATE_NOOP("KeyMap", "Continue from the caret"), "Ctrl+J"},
    Entry{"words", "Model", QT_TRANSLATE_NOOP("KeyMap", "What else the word at the caret might be"), "Alt+Down"},
    Entry{"lock", "Model", QT_TRANSLATE_NOOP("KeyMap", "Lock or unlock the selection"), "Ctrl+L"},
    Entry{"unlockAll", "Model", QT_TRANSLATE_NOOP("KeyMap", "Unlock all"), "Ctrl+Shift+L"},
    Entry{"stop", "Model", QT_TRANSLATE_NOOP("KeyMap", "Stop; then reject; then drop the selection"), "Esc"},
    Entry{"keep", "Model", QT_TRANSLATE_NOOP("KeyMap", "Stop and keep what settled"), "Ctrl+."},
    Entry{"pause", "Model", QT_TRANSLATE_NOOP("KeyMap", "Pause or go on"), "Ctrl+P"},
    Entry{"step", "Model", QT_TRANSLATE_NOOP("KeyMap", "One denoising step"), "Ctrl+Shift+P"},
    Entry{"accept", QT_TRANSLATE_NOOP("KeyMap", "Changes"), QT_TRANSLATE_NOOP("KeyMap", "Accept"),
          "Ctrl+Return Ctrl+Enter"},
    Entry{"reject", "Changes", QT_TRANSLATE_NOOP("KeyMap", "Reject"), "Ctrl+Shift+Backspace"},
    Entry{"acceptAll", "Changes", QT_TRANSLATE_NOOP("KeyMap", "Accept all"), "Ctrl+Shift+Return"},
    Entry{"nextChange", "Changes", QT_TRANSLATE_NOOP("KeyMap", "Next change"), "F7"},
    Entry{"previousChange", "Changes", QT_TRANSLATE_NOOP("KeyMap", "Previous change"), "Shift+F7"},
    Entry{"takeWord", "Changes", QT_TRANSLATE_NOOP("KeyMap", "Take one word of the change"), "Alt+Right"},
    Entry{"showOriginal", "Changes", QT_TRANSLATE_NOOP("KeyMap", "Show the original"), "Ctrl+D"},
    Entry{"stepBack", QT_TRANSLATE_NOOP("KeyMap", "History"), QT_TRANSLATE_NOOP("KeyMap", "Step back"),
          "Ctrl+Alt+Left"},
    Entry{"stepForward", "History", QT_TRANSLATE_NOOP("KeyMap", "Step forward"), "Ctrl+Alt+Right"},
    Entry{"canvasBack", "History", QT_TRANSLATE_NOOP("KeyMap", "Canvas before"), "Ctrl+Alt+Up"},
    Entry{"canvasForward", "History", QT_TRANSLATE_NOOP("KeyMap", "Canvas after"), "Ctrl+Alt+Down"},
    Entry{"branch", "History", QT_TRANSLATE_NOOP("KeyMap", "Branch from this step"), "Ctrl+Alt+B"},
    Entry{"nextPane", QT_TRANSLATE_NOOP("KeyMap", "Window"), QT_TRANSLATE_NOOP("KeyMap", "Next pane"), "F6"},
    Entry{"entropy", "Window", QT_TRANSLATE_NOOP("KeyMap", "Show or hide how sure the model is"), "Ctrl+E"},
    Entry{"inspector", "Window", QT_TRANSLATE_NOOP("KeyMap", "Show or hide the inspector"), "Ctrl+I"},
    Entry{"scheme", "Window", QT_TRANSLATE_NOOP("KeyMap", "Light, dark, as the system"), "Ctrl+Shift+D"},
    Entry{"ask", "Window", QT_TRANSLATE_NOOP("KeyMap", "Ask about the draft"), "Ctrl+Shift+A"},
    Entry{"model", "Window", QT_TRANSLATE_NOOP("KeyMap", "Model and endpoint"), "Ctrl+M"},
    Entry{"chooseModel", "Window", QT_TRANSLATE_NOOP("KeyMap", "Choose a model…"), "Ctrl+Shift+M"},
    Entry{"server", "Window", QT_TRANSLATE_NOOP("KeyMap", "Endpoint on or off"), "Ctrl+Shift+S"},
    Entry{"library", "Window", QT_TRANSLATE_NOOP("KeyMap", "Show or hide the drafts"), "Ctrl+B"},
    Entry{"fullScreen", "Window", QT_TRANSLATE_NOOP("KeyMap", "Full screen"), "F11"},
    Entry{"settings", "Window", QT_TRANSLATE_NOOP("KeyMap", "Settings…"), "Ctrl+,"},
    Entry{"log", "Window", QT_TRANSLATE_NOOP("KeyMap", "Log…"), "Ctrl+Shift+G"},
    Entry{"tour", "Window", QT_TRANSLATE_NOOP("KeyMap", "Two-minute tour"), ""},
    Entry{"keys", "Window", QT_TRANSLATE_NOOP("KeyMap", "List of keys"), "F1"},
};

const Entry &entryOf(const QString &action)
{
    const auto found = std::find_if(kEntries.begin(), kEntries.end(),
                                    [&](const Entry &entry) { return action == QLatin1String(entry.id); });
    Q_ASSERT_X(found != kEntries.end(), "KeyMap", qPrintable(action));
    return *found;
}

QList<QKeySequence> sequencesOf(const QString &keys)
{
    QList<QKeySequence> sequences;
    for (const QString &key : keys.split(u' ', Qt::SkipEmptyParts))
        sequences << QKeySequence(key, QKeySequence::PortableText);
    return sequences;
}

QString translated(const char *text)
{
    return QCoreApplication::translate("KeyMap", text);
}

} // namespace

KeyMap::KeyMap(QSettings *settings, QObject *parent) : QObject(parent), m_settings(settings)
{
    load();
}

void KeyMap::load()
{
    for (const Entry &entry : kEntries) {
        const QString id = QString::fromLatin1(entry.id);
        const QString name = QStringLiteral("keys/") + id;
        const bool own = m_settings != nullptr && m_settings->contains(name);
        m_keys[id] = sequencesOf(own ? m_settings->value(name).toString() : QString::fromLatin1(entry.keys));
    }
}

QStringList KeyMap::keysOf(const QString &action) const
{
    QStringList keys;
    for (const QKeySequence &sequence : m_keys.value(QString::fromLatin1(entryOf(action).id)))
        keys << sequence.toString(QKeySequence::PortableText);
    return keys;
}

QString KeyMap::textOf(const QString &action) const
{
    return translated(entryOf(action).text);
}

QString KeyMap::hintOf(const QString &action) const
{
    const auto keys = m_keys.value(action);
    if (keys.isEmpty())
        return textOf(action);
    return QStringLiteral("%1 (%2)").arg(textOf(action), keys.first().toString(QKeySequence::NativeText));
}

QString KeyMap::assign(const QString &action, const QString &keys)
{
    const QString id = QString::fromLatin1(entryOf(action).id);
    const QList<QKeySequence> wanted = sequencesOf(keys);
    QString loser;
    for (auto it = m_keys.begin(); it != m_keys.end(); ++it) {
        const auto removed = it.value().removeIf([&](const QKeySequence &key) { return wanted.contains(key); });
        if (removed > 0 && it.key() != id)
            loser = it.key();
    }
    m_keys[id] = wanted;
    if (m_settings != nullptr) {
        m_settings->setValue(QStringLiteral("keys/") + id, keysOf(id).join(u' '));
        if (!loser.isEmpty())
            m_settings->setValue(QStringLiteral("keys/") + loser, keysOf(loser).join(u' '));
    }
    Q_EMIT changed();
    return loser;
}

void KeyMap::reset()
{
    if (m_settings != nullptr)
        m_settings->remove(QStringLiteral("keys"));
    load();
    Q_EMIT changed();
}

QString KeyMap::keyText(int key, int modifiers) const
{
    constexpr std::array kModifiers{Qt::Key_Control, Qt::Key_Shift, Qt::Key_Alt, Qt::Key_Meta, Qt::Key_AltGr};
    const auto isKey = [key](Qt::Key candidate) {
        return key == candidate;
    };
    if (key <= 0 || key == Qt::Key_unknown || std::any_of(kModifiers.begin(), kModifiers.end(), isKey))
        return {};
    const bool isFunctionKey = key >= Qt::Key_F1 && key <= Qt::Key_F35;
    const auto held = Qt::KeyboardModifiers(modifiers) & ~Qt::KeypadModifier;
    if (!isFunctionKey && !(held & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)))
        return {};
    return QKeySequence(QKeyCombination(held, static_cast<Qt::Key>(key))).toString(QKeySequence::PortableText);
}

QString KeyMap::shownKeysOf(const QString &action) const
{
    QStringList keys;
    for (const QKeySequence &sequence : m_keys.value(action))
        keys << sequence.toString(QKeySequence::NativeText);
    return keys.join(QStringLiteral(", "));
}

QVariantList KeyMap::actions()
{
    QVariantList list;
    for (const Entry &entry : kEntries) {
        list << QVariantMap{{QStringLiteral("group"), translated(entry.group)},
                            {QStringLiteral("id"), QString::fromLatin1(entry.id)},
                            {QStringLiteral("text"), translated(entry.text)}};
    }
    return list;
}

QVariantList KeyMap::entries() const
{
    QVariantList list;
    for (const QVariant &action : actions()) {
        QVariantMap entry = action.toMap();
        entry.insert(QStringLiteral("keys"), shownKeysOf(entry.value(QStringLiteral("id")).toString()));
        list << entry;
    }
    return list;
}

bool KeyMap::claims(const QKeyEvent &event) const
{
    const QKeySequence pressed(event.keyCombination());
    return std::any_of(m_keys.begin(), m_keys.end(),
                       [&](const QList<QKeySequence> &keys) { return keys.contains(pressed); });
}

} // namespace palimpsest::studio
