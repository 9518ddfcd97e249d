// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/engine_host.h"
#include "engine/canvas.h"
#include "engine/error.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace palimpsest::openai {

/// What became of an edit.
struct EditEnd
{
    EditPlan plan;
    EditOutcome outcome;
    std::vector<GenerationResult> results; ///< one a candidate

    /// The new text in its place; empty if nothing usable was written.
    [[nodiscard]] std::string newText() const;
};

/// Hears what happens to an edit. All calls come one at a time, from any thread, and must not wait.
class EditWriter
{
public:
    virtual ~EditWriter() = default;
    /// Before anything else: `gone` is to be called when the client has left before the end.
    virtual void whenGone(std::function<void()> gone) = 0;
    virtual void begin(int /*queuePosition*/) {}
    virtual void onQueued(int /*position*/) {}
    /// Whether the client could take another draft now; asked before one is made.
    [[nodiscard]] virtual bool takesDrafts() const { return false; }
    /// The document with the running canvas of one candidate in its place.
    virtual void onDraft(const std::string & /*document*/, std::size_t /*candidate*/, const StepEvent & /*event*/) {}
    /// The document with a finished candidate in its place.
    virtual void onCandidate(const std::string & /*document*/, std::size_t /*candidate*/) {}
    virtual void onDone(const EditEnd &end) = 0;
    virtual void onError(const Error &error) = 0;
};

/// Runs the candidates of one edit as a batch and takes the best. Ends in exactly one of the writer's onDone and
/// onError, or in neither if it is cancelled.
class EditRun : public std::enable_shared_from_this<EditRun>
{
public:
    struct Setup
    {
        std::shared_ptr<const RunningModel> model;
        ClientId client;
        EditRequest request;
    };

    /// Plans the edit. Throws Error as CanvasEditor::plan, and InvalidArgument for a model that takes no instructions.
    [[nodiscard]] static std::shared_ptr<EditRun> make(Setup setup);
    ~EditRun();
    EditRun(const EditRun &) = delete;
    EditRun &operator=(const EditRun &) = delete;

    /// Once. What the desk refuses goes to the writer's onError, which then is all that it hears.
    void start(std::unique_ptr<EditWriter> writer);
    void cancel();

private:
    struct State;
    explicit EditRun(std::unique_ptr<State> state);
    void submit(std::size_t index); ///< with the mutex held
    void onStep(std::size_t index, const StepEvent &event);
    void onEnded(std::size_t index, std::variant<GenerationResult, Error> outcome);
    void endCandidate(std::size_t index, GenerationResult result); ///< with the mutex held

    std::unique_ptr<State> m_state;
};

} // namespace palimpsest::openai
