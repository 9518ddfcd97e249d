// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QHash>
#include <QKeySequence>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QVariantList>
#include <QtQml/qqmlregistration.h>

class QKeyEvent;
class QSettings;

namespace palimpsest::studio {

/// The keys of every action, as they are or as the writer changed them (settings `keys/<action>`). The names, texts and
/// default keys of all actions stand in one table in key_map.cpp.
class KeyMap : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    /// [{group, id, text, keys}] for the list of keys.
    Q_PROPERTY(QVariantList entries READ entries NOTIFY changed)
    /// [{group, id, text}] of all actions, in the order of the list.
    Q_PROPERTY(QVariantList actions READ actions CONSTANT)

public:
    /// `settings` is not owned; null: the default keys, and changes are not kept.
    explicit KeyMap(QSettings *settings = nullptr, QObject *parent = nullptr);

    /// The keys of an action, for `Shortcut.sequences`; asserts that there is such an action.
    Q_INVOKABLE [[nodiscard]] QStringList keysOf(const QString &action) const;
    /// The text of an action ("Rewrite the selection…").
    Q_INVOKABLE [[nodiscard]] QString textOf(const QString &action) const;
    /// For tooltips: "Undo (Ctrl+Z)".
    Q_INVOKABLE [[nodiscard]] QString hintOf(const QString &action) const;
    /// Gives an action another key; returns the action that had it before, and loses it ("" = none).
    Q_INVOKABLE QString assign(const QString &action, const QString &keys);
    Q_INVOKABLE void reset();
    /// A key event as `assign` takes it: "Ctrl+Shift+K"; "" for a modifier alone, and for keys that write letters.
    Q_INVOKABLE [[nodiscard]] QString keyText(int key, int modifiers) const;
    /// The keys of an action as people read them: "Ctrl++, Ctrl+=".
    Q_INVOKABLE [[nodiscard]] QString shownKeysOf(const QString &action) const;

    [[nodiscard]] QVariantList entries() const;
    [[nodiscard]] static QVariantList actions();
    /// Whether a key event belongs to an action, so that no text field may take it for its own.
    [[nodiscard]] bool claims(const QKeyEvent &event) const;

Q_SIGNALS:
    void changed();

private:
    void load();

    QSettings *m_settings;
    QHash<QString, QList<QKeySequence>> m_keys;
};

} // namespace palimpsest::studio
