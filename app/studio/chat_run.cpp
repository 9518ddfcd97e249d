// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/chat_run.h"

#include "app/server/openai/choice_run.h"
#include "engine/events.h"

#include <QCoreApplication>

#include <mutex>
#include <utility>
#include <variant>

namespace palimpsest::studio {

namespace {

const ClientId kClient = "the window"; // takes turns with other clients of the endpoint

QString tr(const char *text)
{
    return QCoreApplication::translate("ChatRun", text);
}

/// Puts an answer together as it settles. Called on the scheduler's thread, and at last by the completion.
class ChatRun : public GenerationObserver
{
public:
    ChatRun(const std::shared_ptr<const openai::PreparedAnswer> &prepared,
            const std::shared_ptr<const RunningModel> &model, std::function<void(const ChatProgress &)> tell)
        : m_choice(0, prepared, prepared->request.seed, model), m_tell(std::move(tell))
    {
    }

    [[nodiscard]] GenerationRequest request() const { return m_choice.request(); }

    void onStep(const std::shared_ptr<const StepEvent> &event) override
    {
        const std::lock_guard lock(m_mutex);
        m_progress.canvas = static_cast<int>(event->canvas) + 1;
        m_progress.step = event->step;
        m_progress.draft = QString::fromStdString(m_choice.draftText(*event));
        m_tell(m_progress);
    }

    void onCanvas(const CanvasEvent &event) override
    {
        const std::lock_guard lock(m_mutex);
        add(m_choice.onCanvas(event).pieces);
        m_progress.draft.clear();
        m_tell(m_progress);
    }

    [[nodiscard]] ChatEnding ended(std::variant<GenerationResult, Error> outcome)
    {
        const std::lock_guard lock(m_mutex);
        ChatEnding ending;
        if (auto *error = std::get_if<Error>(&outcome)) {
            ending.problem = QString::fromUtf8(error->what());
        } else {
            auto &result = std::get<GenerationResult>(outcome);
            ending.seed = result.seed;
            ending.canvases = std::ssize(result.canvases);
            for (const CanvasRecord &canvas : result.canvases)
                ending.steps += canvas.steps;
            const bool cancelled = result.finish == FinishReason::Cancelled;
            const bool cut = result.finish == FinishReason::Budget;
            try {
                add(m_choice.onResult(std::move(result)).rest.pieces);
                ending.problem = endText(cancelled, cut);
            } catch (const Error &refusal) {
                ending.problem = QString::fromUtf8(refusal.what());
            }
        }
        ending.thoughts = m_progress.thoughts;
        ending.content = m_progress.content;
        return ending;
    }

private:
    void add(const openai::ReplyPieces &pieces)
    {
        m_progress.thoughts += QString::fromStdString(pieces.thoughts);
        m_progress.content += QString::fromStdString(pieces.content);
    }

    /// What is to be said about how it ended; "" where it ended as it should.
    [[nodiscard]] QString endText(bool cancelled, bool cut) const
    {
        if (cancelled)
            return tr("Stopped.");
        if (cut && m_progress.content.trimmed().isEmpty() && !m_progress.thoughts.isEmpty()) // F012
            return tr(
                "It stopped while still thinking, since its room was used up. Ask again, or switch thinking off.");
        if (cut)
            return tr("The answer ends here because its room was used up.");
        if (m_progress.content.trimmed().isEmpty())
            return tr("The model had nothing to say.");
        return {};
    }

    std::mutex m_mutex; // a request that never ran is completed on the desk's thread
    openai::ChoiceRun m_choice;
    ChatProgress m_progress;
    std::function<void(const ChatProgress &)> m_tell;
};

} // namespace

Ticket startChat(const std::shared_ptr<const RunningModel> &model, const ChatQuestion &question,
                 std::function<void(const ChatProgress &)> tell, std::function<void(const ChatEnding &)> end)
{
    openai::Conversation conversation;
    conversation.messages = question.messages;
    conversation.wantsThoughts = question.thinking;
    const auto prepared =
        std::make_shared<const openai::PreparedAnswer>(openai::prepareConversation(conversation, *model));
    const auto run = std::make_shared<ChatRun>(prepared, model, std::move(tell));
    return model->desk->submit(kClient, run->request(), run,
                               [run, end = std::move(end)](std::variant<GenerationResult, Error> outcome) {
                                   end(run->ended(std::move(outcome)));
                               });
}

} // namespace palimpsest::studio
