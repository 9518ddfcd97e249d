// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/tour.h"

#include <QCoreApplication>
#include <QFile>
#include <QSettings>

#include <array>

namespace palimpsest::studio {

namespace {

constexpr QLatin1String kOffered("tour/offered");

struct Stop
{
    const char *target;
    const char *title;
    const char *text;
};

constexpr std::array kStops{
    Stop{"page", QT_TRANSLATE_NOOP("Tour", "The page"),
         QT_TRANSLATE_NOOP("Tour",
                           "This is a letter with mistakes in it. It is an ordinary text: click into it and type. "
                           "Whatever you write is saved as you go.")},
    Stop{"compose", QT_TRANSLATE_NOOP("Tour", "Let it be proofread"),
         QT_TRANSLATE_NOOP("Tour",
                           "Press Run. The model writes the words anew, all at once, and rewrites them until they "
                           "settle. You can pause, step, or stop with Esc; stopping leaves your text as it was.")},
    Stop{"page", QT_TRANSLATE_NOOP("Tour", "Nothing changes by itself"),
         QT_TRANSLATE_NOOP("Tour",
                           "Each correction waits for your word. Ctrl+Enter accepts one, Ctrl+Shift+Backspace turns "
                           "it down, F7 goes to the next, Ctrl+D shows what stood there. Every one can be undone.")},
    Stop{"page", QT_TRANSLATE_NOOP("Tour", "Reach in"),
         QT_TRANSLATE_NOOP("Tour",
                           "Select words: a bar offers to rewrite, re-noise or lock them, or to show three "
                           "alternatives side by side. Locked words stay as they are, to the letter, and you can "
                           "lock them while the model is still at work.")},
    Stop{"inspector", QT_TRANSLATE_NOOP("Tour", "See what it did"),
         QT_TRANSLATE_NOOP("Tour",
                           "The panel on the right shows the canvas word by word, how sure the model was, and every "
                           "step it took. Go back to any step and branch from there. Its tabs hold the draft's "
                           "history, questions about the draft, and the model.")},
    Stop{"library", QT_TRANSLATE_NOOP("Tour", "Find it again"),
         QT_TRANSLATE_NOOP("Tour",
                           "Your drafts are on the left, with search and a bin. Drop a text file on the window to "
                           "bring it in. The menu at the top right has every action with its key; F1 lists the "
                           "keys, and Help starts this tour again.")},
};

QString translated(const char *text)
{
    return QCoreApplication::translate("Tour", text);
}

const Stop &stopOf(int step)
{
    return kStops[static_cast<std::size_t>(step > 0 ? step - 1 : 0)];
}

} // namespace

Tour::Tour(QSettings *settings, QObject *parent)
    : QObject(parent), m_settings(settings), m_welcoming(settings != nullptr && !settings->value(kOffered).toBool())
{
}

int Tour::steps()
{
    return static_cast<int>(kStops.size());
}

QString Tour::title() const
{
    return translated(stopOf(m_step).title);
}

QString Tour::text() const
{
    return translated(stopOf(m_step).text);
}

QString Tour::target() const
{
    return running() ? QString::fromLatin1(stopOf(m_step).target) : QString();
}

void Tour::start()
{
    close();
    m_step = 1;
    Q_EMIT sampleWanted();
    Q_EMIT changed();
}

void Tour::next()
{
    if (m_step >= steps()) {
        close();
        return;
    }
    ++m_step;
    Q_EMIT changed();
}

void Tour::back()
{
    if (m_step > 1)
        --m_step;
    Q_EMIT changed();
}

void Tour::close()
{
    m_welcoming = false;
    m_step = 0;
    if (m_settings != nullptr)
        m_settings->setValue(kOffered, true);
    Q_EMIT changed();
}

QString Tour::sampleText()
{
    QFile file(QStringLiteral(":/samples/harbour-letter.txt"));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("the tour's text is not in the program");
    return QString::fromUtf8(file.readAll());
}

QString Tour::sampleTitle()
{
    return tr("Letter about the harbour (sample)");
}

} // namespace palimpsest::studio
