// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/request_desk.h"
#include "app/studio/chat_run.h"
#include "app/studio/post_box.h"

#include <QAbstractListModel>
#include <QString>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <optional>
#include <vector>

namespace palimpsest::studio {

class DraftView;

/// Questions about the draft and the model's answers, as a list; nothing of it changes the text. An answer can be
/// offered at the caret, as a proposal like any other.
///
/// The model is told the selection, or as much of the draft as half its context holds. GUI thread; answers arrive a
/// canvas at a time, with the canvas under way as a draft that may still change, at most once each kFrameMs.
class ChatView : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(int count READ count NOTIFY countChanged)
    Q_PROPERTY(bool busy READ busy NOTIFY busyChanged)
    Q_PROPERTY(QString statusText READ statusText NOTIFY statusChanged) ///< "Canvas 1 · step 5"; "" while idle
    Q_PROPERTY(bool canThink READ canThink NOTIFY modelChanged)
    Q_PROPERTY(bool thinking READ thinking WRITE setThinking NOTIFY thinkingChanged)
    /// What a screen reader is told: that an answer began and that it is there.
    Q_PROPERTY(QString announcement READ announcement NOTIFY announced)

public:
    enum Role { QuestionRole = Qt::UserRole + 1, ContentRole, DraftRole, ThoughtsRole, ProblemRole, InsertableRole };
    static constexpr int kFrameMs = 33;

    ChatView(EngineHost &engine, DraftView &draft, QObject *parent = nullptr);
    ~ChatView() override;

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QHash<int, QByteArray> roleNames() const override;

    [[nodiscard]] int count() const { return static_cast<int>(m_turns.size()); }
    [[nodiscard]] bool busy() const noexcept { return m_busy; }
    [[nodiscard]] QString statusText() const;
    [[nodiscard]] bool canThink() const;
    [[nodiscard]] bool thinking() const noexcept { return m_thinking; }
    void setThinking(bool thinking);
    [[nodiscard]] QString announcement() const { return m_announcement; }

    Q_INVOKABLE void ask(const QString &question); ///< ignored while busy, and if there are only blanks
    Q_INVOKABLE void stop();                       ///< what has settled stays
    Q_INVOKABLE void clear();                      ///< forgets the conversation
    Q_INVOKABLE void insert(int row);              ///< offers an answer at the caret
    Q_INVOKABLE void copy(int row) const;
    void engineChanged(); ///< another model, or none

Q_SIGNALS:
    void countChanged();
    void busyChanged();
    void statusChanged();
    void modelChanged();
    void thinkingChanged();
    void announced();
    void problem(const QString &message);
    void inserted(); ///< the page has a new proposal

private:
    struct Turn
    {
        bool question = false;
        QString content;
        QString draft;
        QString thoughts;
        QString problem;
        ChatEnding ending;
    };
    [[nodiscard]] ChatQuestion questionFor(const QString &text, std::int64_t contextLength) const;
    [[nodiscard]] QString draftText(std::int64_t contextLength) const;
    void append(Turn turn);
    void show(const ChatProgress &progress);
    void end(const ChatEnding &ending);
    void touchLast();
    void setBusy(bool busy);
    void announce(const QString &text);

    EngineHost &m_engine;
    DraftView &m_draft;
    std::vector<Turn> m_turns;
    Ticket m_ticket;
    bool m_busy = false;
    bool m_thinking = false;
    int m_number = 0; ///< of the answer that counts
    std::optional<ChatProgress> m_progress;
    QTimer m_frame;
    QString m_announcement;
    PostBox m_box;
};

} // namespace palimpsest::studio
