// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/chat_format.h"
#include "engine/prompt_writer.h"

#include <string_view>

namespace palimpsest::chat {

/// Writes a conversation as Gemma 4's template does, in either revision. Throws as ChatFormat::render.
void writeGemmaConversation(PromptWriter &out, const ChatRequest &request, ChatDialect dialect);

/// Writes a conversation of plain turns. Throws as ChatFormat::render.
void writePlainTurns(PromptWriter &out, const ChatRequest &request);

/// Writes a marker for an image, audio or video part; nothing for other kinds.
void writeMedia(PromptWriter &out, ContentPart::Kind kind);

} // namespace palimpsest::chat
