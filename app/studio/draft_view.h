// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/draft_session.h"
#include "app/studio/frame_timer.h"
#include "app/studio/page_text.h"

#include <QObject>
#include <QPointer>
#include <QString>
#include <QStringList>
#include <QVariantList>
#include <QtQml/qqmlregistration.h>

#include <functional>
#include <optional>
#include <vector>

namespace palimpsest::studio {

/// The open draft as the window shows it: its page, its run, its proposals, and one method for each thing that a writer
/// can do with it. Lives on the GUI thread; every method returns at once. What cannot be done says so by `problem`.
class DraftView : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(palimpsest::studio::PageText *page READ page CONSTANT)
    Q_PROPERTY(bool open READ isOpen NOTIFY opened)
    Q_PROPERTY(QString document READ document NOTIFY opened)
    Q_PROPERTY(QString title READ title WRITE setTitle NOTIFY titleChanged)
    /// "Saved · revision 14", "Saving…", or why not.
    Q_PROPERTY(QString saveText READ saveText NOTIFY saveTextChanged)
    Q_PROPERTY(bool saveFailed READ saveFailed NOTIFY saveTextChanged)
    Q_PROPERTY(QString undoLabel READ undoLabel NOTIFY undoableChanged) ///< "" = nothing to undo
    Q_PROPERTY(QString redoLabel READ redoLabel NOTIFY undoableChanged)

    // The run under way; of several, the one begun last.
    Q_PROPERTY(QString run READ run NOTIFY runChanged) ///< "" = none
    Q_PROPERTY(bool running READ running NOTIFY runChanged)
    Q_PROPERTY(bool paused READ paused NOTIFY runChanged)
    Q_PROPERTY(double progress READ progress NOTIFY progressChanged)          ///< 0 to 1
    Q_PROPERTY(QString progressText READ progressText NOTIFY progressChanged) ///< "Canvas 1 of 1 · step 17 of 48 · …"
    Q_PROPERTY(QString aheadText READ aheadText NOTIFY runChanged)            ///< what the model sees behind the span
    /// What a screen reader is told: starts, settled canvases, ends; never steps.
    Q_PROPERTY(QString announcement READ announcement NOTIFY announced)

    // Proposals
    Q_PROPERTY(int openChanges READ openChanges NOTIFY proposalsChanged)
    /// Where on the page the change ends that keys act on; -1 = there is none.
    Q_PROPERTY(int changeEnd READ changeEnd NOTIFY changeMoved)
    Q_PROPERTY(QString proposal READ proposal NOTIFY proposalsChanged) ///< the one that keys act on; "" = none
    /// Its alternatives: [{text, html, label, settled, chosen}], if there are several.
    Q_PROPERTY(QVariantList alternatives READ alternatives NOTIFY proposalsChanged)
    Q_PROPERTY(QString proposalNote READ proposalNote NOTIFY proposalsChanged)
    /// How the current proposal came about: "seed 41 · settled after 12 steps".
    Q_PROPERTY(QString originText READ originText NOTIFY proposalsChanged)

public:
    explicit DraftView(QObject *parent = nullptr);

    /// Shows a session; null: none.
    void setSession(editing::DraftSession *session, editing::WindowId window);
    [[nodiscard]] editing::DraftSession *session() const { return m_session; }

    [[nodiscard]] PageText *page() { return &m_page; }
    [[nodiscard]] bool isOpen() const { return m_session != nullptr; }
    [[nodiscard]] QString document() const;
    [[nodiscard]] QString title() const;
    void setTitle(const QString &title);
    [[nodiscard]] QString saveText() const;
    [[nodiscard]] bool saveFailed() const;
    [[nodiscard]] QString undoLabel() const;
    [[nodiscard]] QString redoLabel() const;
    [[nodiscard]] QString run() const { return m_run; }
    [[nodiscard]] bool running() const;
    [[nodiscard]] bool paused() const;
    [[nodiscard]] double progress() const;
    [[nodiscard]] QString progressText() const;
    [[nodiscard]] QString aheadText() const;
    [[nodiscard]] QString announcement() const { return m_announcement; }
    [[nodiscard]] int openChanges() const;
    [[nodiscard]] int changeEnd() const;
    [[nodiscard]] QString proposal() const { return m_current ? m_current->proposal : QString(); }
    [[nodiscard]] QVariantList alternatives() const;
    [[nodiscard]] QString proposalNote() const;
    [[nodiscard]] QString originText() const;

    Q_INVOKABLE void undo();
    Q_INVOKABLE void redo();

    /// A preset of editing::presets() for the selection (nothing selected: the paragraph at the caret; proofreading
    /// takes the whole draft). `instruction` replaces the preset's own.
    Q_INVOKABLE void startPreset(const QString &id, const QString &instruction);
    Q_INVOKABLE void rewrite(const QString &instruction);
    Q_INVOKABLE void renoise(const QString &amount);
    Q_INVOKABLE void fillHere(const QString &instruction);
    Q_INVOKABLE void continueHere();
    Q_INVOKABLE void askAlternatives(int count, const QString &instruction);
    /// The last run (or the current proposal's) again, with its seed or another one.
    Q_INVOKABLE void again(bool sameSeed);
    /// What is selected anew; nothing selected: the last run again, with another seed.
    Q_INVOKABLE void renoiseOrAgain();

    Q_INVOKABLE void pause();
    Q_INVOKABLE void resume();
    Q_INVOKABLE void step();
    Q_INVOKABLE void stop();        ///< restores
    Q_INVOKABLE void keepSettled(); ///< stops, and proposes what has settled
    /// Esc: leaves a step of the history, else stops what runs, else turns down the current proposal, else drops the
    /// selection. False: nothing to do.
    Q_INVOKABLE bool escape();

    Q_INVOKABLE void toggleLock(); ///< of the selection, or the word at the caret; in a running canvas as well
    Q_INVOKABLE void unlockAll();

    Q_INVOKABLE void acceptCurrent(); ///< the change, or the whole proposal where it has several alternatives
    Q_INVOKABLE void rejectCurrent();
    Q_INVOKABLE void acceptAll();
    Q_INVOKABLE void rejectAll();
    Q_INVOKABLE void acceptWord(); ///< one word of the current change
    Q_INVOKABLE void nextChange(int direction);
    Q_INVOKABLE void chooseAlternative(int index);
    Q_INVOKABLE void takeWords(int alternative, int start, int end);

    /// What the model held possible at a place of the page: {text, start, end, entropy, held, choices: [{id, text,
    /// percent}], run, lane, canvas, position}; empty where no canvas runs.
    Q_INVOKABLE [[nodiscard]] QVariantMap wordAt(int shown) const;
    /// The word before (-1) or after one of `wordAt`; that one itself if there is none.
    Q_INVOKABLE [[nodiscard]] QVariantMap wordBeside(const QVariantMap &word, int direction) const;
    /// Puts a choice of `wordAt` in, and holds it.
    Q_INVOKABLE void chooseWord(const QVariantMap &word, int id);
    /// Holds, or releases, a word.
    Q_INVOKABLE void holdWord(const QVariantMap &word);

    Q_INVOKABLE void announce(const QString &text);

Q_SIGNALS:
    void opened();
    void titleChanged();
    void saveTextChanged();
    void undoableChanged();
    void runChanged();
    void progressChanged();
    void proposalsChanged();
    void changeMoved();
    void announced();
    /// The page shows a recorded step, and the writer wants to see it as it is again.
    void historyLeft();
    /// Something could not be done; a sentence with a way out.
    void problem(const QString &message);

private:
    void attempt(const std::function<void()> &action); ///< says an Error instead of throwing it
    void startWish(editing::RunWish wish);
    void follow(const QString &run);           ///< one that has just begun
    [[nodiscard]] TextSpan wantedSpan() const; ///< the selection, or the paragraph at the caret
    void onRunChanged(const QString &run);
    void onProposalChanged(const QString &proposal);
    void announceEnd(const editing::RunInfo &info);
    [[nodiscard]] std::optional<editing::RunInfo> runInfo() const;
    [[nodiscard]] bool isHeld(const PageText::CanvasPlace &place) const;
    void holdWords(qsizetype start, qsizetype end);
    [[nodiscard]] QVariantMap wordOf(const PageText::CanvasPlace &place) const;
    [[nodiscard]] std::vector<PageText::ChangePlace> changePlaces() const;
    void setCurrent(std::optional<PageText::ChangePlace> place);
    [[nodiscard]] const editing::Proposal *currentProposal() const;

    PageText m_page;
    QPointer<editing::DraftSession> m_session;
    editing::WindowId m_window = editing::kNobody;
    QString m_run;
    QString m_lastRun; ///< for `again`
    /// What runChanged has told.
    struct Told
    {
        QString run;
        bool running = false;
        bool paused = false;

        friend bool operator==(const Told &, const Told &) = default;
    };
    Told m_told;
    QString m_announcement;
    std::optional<PageText::ChangePlace> m_current;
    FrameTimer m_progressTimer; ///< for what steps change
};

} // namespace palimpsest::studio
