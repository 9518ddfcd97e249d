// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

/// The special pieces of Gemma 4's chat format, by name; their ids are the tokenizer's business.
namespace palimpsest::chat {

inline constexpr std::string_view kBegin = "<bos>";
inline constexpr std::string_view kEnd = "<eos>";
inline constexpr std::string_view kTurn = "<|turn>";
inline constexpr std::string_view kTurnEnd = "<turn|>";
inline constexpr std::string_view kThink = "<|think|>";
inline constexpr std::string_view kChannel = "<|channel>";
inline constexpr std::string_view kChannelEnd = "<channel|>";
inline constexpr std::string_view kTool = "<|tool>";
inline constexpr std::string_view kToolEnd = "<tool|>";
inline constexpr std::string_view kToolCall = "<|tool_call>";
inline constexpr std::string_view kToolCallEnd = "<tool_call|>";
inline constexpr std::string_view kToolResponse = "<|tool_response>";
inline constexpr std::string_view kToolResponseEnd = "<tool_response|>";
inline constexpr std::string_view kQuote = "<|\"|>";
inline constexpr std::string_view kImage = "<|image|>";
inline constexpr std::string_view kAudio = "<|audio|>";
inline constexpr std::string_view kVideo = "<|video|>";

/// First line of a thought, behind kChannel.
inline constexpr std::string_view kThoughtLine = "thought\n";

} // namespace palimpsest::chat
