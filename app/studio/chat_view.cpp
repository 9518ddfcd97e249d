// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/chat_view.h"

#include "app/studio/draft_view.h"

#include <QClipboard>
#include <QGuiApplication>

#include <algorithm>
#include <utility>

namespace palimpsest::studio {

namespace {

constexpr auto kRole = "You answer questions about a writer's draft. Be brief and plain.";
/// A token is rarely shorter than this many characters, so that a draft cut to it leaves room for the answer.
constexpr std::int64_t kCharactersPerToken = 2;

ChatMessage message(ChatRole role, const QString &text)
{
    ChatMessage message;
    message.role = role;
    message.text = text.toStdString();
    return message;
}

} // namespace

ChatView::ChatView(EngineHost &engine, DraftView &draft, QObject *parent)
    : QAbstractListModel(parent), m_engine(engine), m_draft(draft)
{
    m_frame.setSingleShot(true);
    m_frame.setInterval(kFrameMs);
    connect(&m_frame, &QTimer::timeout, this, &ChatView::touchLast);
}

ChatView::~ChatView()
{
    m_ticket.cancel();
}

int ChatView::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant ChatView::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= count())
        return {};
    const Turn &turn = m_turns[static_cast<std::size_t>(index.row())];
    switch (role) {
    case QuestionRole:
        return turn.question;
    case Qt::DisplayRole:
    case ContentRole:
        return turn.content;
    case DraftRole:
        return turn.draft;
    case ThoughtsRole:
        return turn.thoughts;
    case ProblemRole:
        return turn.problem;
    case InsertableRole:
        return !turn.question && !turn.content.trimmed().isEmpty() && !(m_busy && index.row() == count() - 1);
    default:
        return {};
    }
}

QHash<int, QByteArray> ChatView::roleNames() const
{
    return {{QuestionRole, "question"}, {ContentRole, "content"}, {DraftRole, "draft"},
            {ThoughtsRole, "thoughts"}, {ProblemRole, "problem"}, {InsertableRole, "insertable"}};
}

bool ChatView::canThink() const
{
    const auto model = m_engine.model();
    return model && model->chat && model->chat->dialect() != ChatDialect::PlainTurns;
}

void ChatView::setThinking(bool thinking)
{
    if (thinking == m_thinking)
        return;
    m_thinking = thinking;
    Q_EMIT thinkingChanged();
}

void ChatView::engineChanged()
{
    Q_EMIT modelChanged();
}

QString ChatView::statusText() const
{
    if (!m_busy)
        return {};
    if (!m_progress)
        return tr("Waiting for the model…");
    return tr("Canvas %1 · step %2").arg(m_progress->canvas).arg(m_progress->step);
}

QString ChatView::draftText(std::int64_t contextLength) const
{
    if (!m_draft.isOpen())
        return {};
    const QString selected = m_draft.page()->plainSelection();
    const QString text = selected.isEmpty() ? m_draft.session()->draft().text() : selected;
    qsizetype room = std::min<qsizetype>(text.size(), contextLength * kCharactersPerToken / 2);
    if (room > 0 && room < text.size() && text.at(room - 1).isHighSurrogate())
        --room;
    return text.left(room);
}

ChatQuestion ChatView::questionFor(const QString &text, std::int64_t contextLength) const
{
    const QString draft = draftText(contextLength);
    QString role = QString::fromLatin1(kRole);
    if (!draft.isEmpty())
        role += QStringLiteral("\n\nThe draft:\n") + draft;
    ChatQuestion question{.messages = {message(ChatRole::System, role)}, .thinking = m_thinking && canThink()};
    for (const Turn &turn : m_turns) {
        if (turn.question || !turn.content.isEmpty()) // thoughts are not told again (F010)
            question.messages.push_back(message(turn.question ? ChatRole::User : ChatRole::Assistant, turn.content));
    }
    // A question that was not answered is left out: turns take turns.
    std::vector<ChatMessage> &messages = question.messages;
    for (std::size_t i = messages.size(); i-- > 1;) {
        const bool unanswered =
            messages[i].role == ChatRole::User && (i + 1 == messages.size() || messages[i + 1].role == ChatRole::User);
        if (unanswered)
            messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(i));
    }
    messages.push_back(message(ChatRole::User, text));
    return question;
}

void ChatView::ask(const QString &question)
{
    const QString text = question.trimmed(); // F100: line breaks inside it stay
    if (m_busy || text.isEmpty())
        return;
    const int number = ++m_number;
    try {
        const auto model = m_engine.requireModel();
        const auto post = m_box.sender();
        m_ticket = startChat(
            model, questionFor(text, model->contextLength),
            [this, number, post](const ChatProgress &progress) {
                post([this, number, progress] {
                    if (number == m_number)
                        show(progress);
                });
            },
            [this, number, post](const ChatEnding &ending) {
                post([this, number, ending] {
                    if (number == m_number)
                        end(ending);
                });
            });
    } catch (const Error &error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
        return;
    }
    append({.question = true, .content = text, .draft = {}, .thoughts = {}, .problem = {}, .ending = {}});
    append({});
    m_progress.reset();
    setBusy(true);
    announce(tr("The model is answering"));
}

void ChatView::append(Turn turn)
{
    beginInsertRows({}, count(), count());
    m_turns.push_back(std::move(turn));
    endInsertRows();
    Q_EMIT countChanged();
}

void ChatView::show(const ChatProgress &progress)
{
    Turn &turn = m_turns.back();
    turn.content = progress.content;
    turn.thoughts = progress.thoughts;
    turn.draft = progress.draft;
    m_progress = progress;
    if (!m_frame.isActive())
        m_frame.start();
}

void ChatView::end(const ChatEnding &ending)
{
    Turn &turn = m_turns.back();
    turn.content = ending.content.trimmed();
    turn.thoughts = ending.thoughts.trimmed();
    turn.draft.clear();
    turn.problem = ending.problem;
    turn.ending = ending;
    m_progress.reset();
    m_ticket = {};
    setBusy(false);
    touchLast();
    announce(turn.content.isEmpty() ? turn.problem : tr("The answer is there"));
}

void ChatView::touchLast()
{
    if (m_turns.empty())
        return;
    const QModelIndex last = index(count() - 1);
    Q_EMIT dataChanged(last, last, {ContentRole, DraftRole, ThoughtsRole, ProblemRole, InsertableRole});
    Q_EMIT statusChanged();
}

void ChatView::setBusy(bool busy)
{
    m_busy = busy;
    Q_EMIT busyChanged();
    Q_EMIT statusChanged();
}

void ChatView::stop()
{
    m_ticket.cancel();
}

void ChatView::clear()
{
    ++m_number; // whatever still comes is of no interest
    m_ticket.cancel();
    m_ticket = {};
    if (!m_turns.empty()) {
        beginRemoveRows({}, 0, count() - 1);
        m_turns.clear();
        endRemoveRows();
        Q_EMIT countChanged();
    }
    if (m_busy)
        setBusy(false);
}

void ChatView::insert(int row)
{
    if (row < 0 || row >= count() || !m_draft.isOpen())
        return;
    const Turn &turn = m_turns[static_cast<std::size_t>(row)];
    editing::ProposalOrigin origin;
    if (const auto model = m_engine.model())
        origin.model = QString::fromStdString(model->id);
    origin.seed = turn.ending.seed;
    origin.steps = turn.ending.steps;
    origin.canvases = turn.ending.canvases;
    if (row > 0)
        origin.instruction = m_turns[static_cast<std::size_t>(row) - 1].content;
    editing::DraftSession &session = *m_draft.session();
    const qsizetype caret = m_draft.page()->selectionInDraft().end;
    try {
        session.offerText(session.draft().version(), {caret, caret}, turn.content, origin);
        Q_EMIT inserted();
    } catch (const Error &error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
}

void ChatView::copy(int row) const
{
    if (row >= 0 && row < count())
        QGuiApplication::clipboard()->setText(m_turns[static_cast<std::size_t>(row)].content);
}

void ChatView::announce(const QString &text)
{
    m_announcement = text;
    Q_EMIT announced();
}

} // namespace palimpsest::studio
