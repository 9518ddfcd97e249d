// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document_worker.h"
#include "app/editing/session_registry.h"
#include "app/engine_host.h"
#include "tests/support/fake_backend.h"

#include <QTemporaryDir>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace palimpsest::test {

/// A model that answers as a test says, token by token over a few steps, and is never in doubt at the end.
struct ScriptedModel
{
    /// The answer to a conversation, as text; "" ends it at once. Of a longer one, the next canvas is asked for anew,
    /// with the canvases before behind the conversation.
    std::function<std::string(const std::string &prompt)> answer = [](const std::string &) {
        return std::string("An answer.");
    };
    /// What goes into gaps, where the canvas holds text around them: these words in turn, each one token.
    std::vector<std::string> gapWords = {" and", " of", " to", " in"};
    /// Positions settle after 1 to `steps` steps. A large number: never.
    int steps = 4;
    std::int64_t canvasLength = 32;

    [[nodiscard]] FakeModel model() const;
};

/// A store on the disk, a model, and a registry over both.
class EditingBench
{
public:
    explicit EditingBench(const ScriptedModel &model = {}, editing::SessionRegistry::Settings settings = quick(),
                          DeskSettings desk = {});
    ~EditingBench();

    /// Saves at once, lingers not at all.
    [[nodiscard]] static editing::SessionRegistry::Settings quick();

    /// Makes a document and opens it for window 1.
    editing::DraftSession &open(const QString &text);
    /// Waits; null (and a message) if it cannot be opened.
    editing::DraftSession *openAgain(const QString &document, editing::WindowId window = 1);
    /// Closes everything and starts anew over the same store, as after a restart.
    void restart();
    /// The same as after a crash: what was not saved is lost.
    void crash();

    [[nodiscard]] documents::Document stored(const QString &document);

    QTemporaryDir folder;
    std::shared_ptr<FakeLog> log = std::make_shared<FakeLog>();
    std::unique_ptr<EngineHost> host;
    std::unique_ptr<documents::DocumentWorker> worker;
    std::unique_ptr<editing::SessionRegistry> registry;

private:
    void startStore(const std::filesystem::path &file);

    editing::SessionRegistry::Settings m_settings;
    std::filesystem::path m_file;
};

/// Where these words are in a draft for the first time.
editing::TextSpan spanOf(const editing::DraftSession &session, const QString &words);
/// A wish for a more formal wording, with the seed 7.
editing::RunWish rewrite(editing::TextSpan span);
/// Starts a run for window 1 on what it sees now; its name.
QString start(editing::DraftSession &session, const editing::RunWish &wish);
/// The same, paused before its first step.
QString startPaused(editing::DraftSession &session, editing::RunWish wish);
/// Lets a paused run do one step, and waits for its frame; false if none comes.
[[nodiscard]] bool stepOnce(editing::DraftSession &session, const QString &run);
/// An answer for a ScriptedModel: proofreads the passage that the prompt ends with, by a table of three words.
std::string corrected(const std::string &prompt);

/// Runs until it has ended; the state then.
editing::RunInfo waitForEnd(editing::DraftSession &session, const QString &run);
/// Waits for a condition while events are handled; false after some seconds.
bool waitFor(const std::function<bool()> &holds);

} // namespace palimpsest::test
