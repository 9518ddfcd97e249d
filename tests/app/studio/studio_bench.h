// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/studio/studio_window.h"
#include "tests/support/fake_backend.h"

#include <QString>
#include <QTemporaryDir>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

class QQuickItem;

namespace palimpsest::test {

/// A letter with two mistakes, which are in its one sentence.
inline const QString kLetter = QStringLiteral("Dear board,\nI have payed teh fee.\nYours");
inline const QString kSentence = QStringLiteral("I have payed teh fee.");

/// What the engine's passes wait for. Open at first.
class Gate
{
public:
    void close();
    void let(int passes); ///< so many more
    void open();
    void wait(); ///< on the engine's thread
    [[nodiscard]] bool isWaitedFor();

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_open = true;
    int m_passes = 0;
    int m_waiting = 0;
};

/// A model that a test tells what to say. Answers are text; gaps between other words get gap words, one each token.
class StudioScript
{
public:
    static constexpr int kNever = 1'000'000;

    void answer(const QString &text);
    void answer(std::function<QString(std::uint64_t seed)> bySeed);
    /// Positions settle in the passes 1 to `steps` of a canvas.
    void settleWithin(int steps);
    /// How long a step takes at least.
    void stepTime(std::chrono::milliseconds time);

    [[nodiscard]] FakeModel model(std::int64_t canvasLength);

private:
    [[nodiscard]] std::vector<TokenId> idsFor(std::uint64_t seed);

    std::mutex m_mutex;
    std::function<QString(std::uint64_t)> m_answer = [](std::uint64_t) {
        return QStringLiteral("I have paid the fee.");
    };
    int m_steps = 1;
    std::chrono::milliseconds m_stepTime{0};
    int m_version = 0; ///< of the answer
    std::map<std::pair<std::uint64_t, int>, std::vector<TokenId>> m_ids;
};

/// The window as a writer has it before them, over the real engine host, scheduler and store, and a scripted model; and
/// a writer's hands: keys and mouse.
class StudioBench
{
public:
    static constexpr std::int64_t kCanvasLength = 64;

    explicit StudioBench(QSettings *settings = nullptr, std::int64_t canvasLength = kCanvasLength);
    /// Over another model, e.g. the demo model.
    explicit StudioBench(EngineLoader loader);
    ~StudioBench();

    void openDraft(const QString &text); ///< with the caret at its start

    void key(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
    void type(const QString &text);
    /// Selects words on the page, with the arrow keys.
    void select(const QString &words);
    /// Selects words and has them rewritten.
    void askRewrite(const QString &words, const QString &instruction);
    void placeCaret(qsizetype shown);
    void waitForFrame(); ///< which has everything that happened before
    void click(QQuickItem *item);
    /// What a screen reader knows by this name, as soon as it can be clicked at.
    void click(const QString &name);
    void clickAt(qsizetype shown); ///< in the middle of a letter of the page
    void hoverAt(qsizetype shown);

    /// Where PALIMPSEST_PICTURES names a folder, the window's picture goes there, for people to look at (with
    /// PALIMPSEST_PICTURES_DARK set: in the dark scheme; PALIMPSEST_PICTURES_SIZE: "1024x700").
    void picture(const QString &name);

    [[nodiscard]] QString text(); ///< of the draft
    [[nodiscard]] QString pageText();
    [[nodiscard]] qsizetype caret();
    [[nodiscard]] studio::DraftView &draft() { return *window->studio().draft(); }
    [[nodiscard]] studio::PageText &page() { return *draft().page(); }
    [[nodiscard]] studio::InspectorView &inspector() { return *window->studio().inspector(); }
    [[nodiscard]] const editing::Draft &stored() { return draft().session()->draft(); }
    [[nodiscard]] QQuickItem *editor();
    [[nodiscard]] QQuickWindow &view() { return *window->window(); }
    [[nodiscard]] int marks(studio::PageMark::Kind kind);
    /// The visible item that a screen reader knows by this name; null if there is none.
    [[nodiscard]] QQuickItem *named(const QString &name);
    [[nodiscard]] QQuickItem *item(const std::function<bool(QQuickItem &)> &fits);

    QTemporaryDir folder;
    Gate gate;
    std::shared_ptr<StudioScript> script = std::make_shared<StudioScript>();
    std::unique_ptr<studio::StudioWindow> window;

private:
    void show(std::unique_ptr<EngineHost> host, QSettings *settings);
    [[nodiscard]] QPoint pointOf(qsizetype shown);
};

} // namespace palimpsest::test
