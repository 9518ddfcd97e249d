// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/counters.h"

namespace palimpsest::live {

namespace {

void write(std::string &text, const std::string &name, const char *type, const char *help, std::int64_t value)
{
    text += "# HELP palimpsest_live_" + name + ' ' + help + "\n# TYPE palimpsest_live_" + name + ' ' + type +
            "\npalimpsest_live_" + name + ' ' + std::to_string(value) + '\n';
}

} // namespace

std::string prometheusText(const Counters &counters)
{
    std::string text;
    write(text, "windows", "gauge", "Studio windows that are connected.", counters.windows);
    write(text, "windows_total", "counter", "Studio windows that have connected.", counters.windowsTotal);
    write(text, "windows_cut_off_total", "counter", "Windows that did not read, or fell silent.",
          counters.windowsCutOff);
    write(text, "messages_received_total", "counter", "Messages from windows.", counters.messagesIn);
    write(text, "messages_refused_total", "counter", "Messages from windows that got an error.",
          counters.messagesRefused);
    write(text, "messages_sent_total", "counter", "Messages to windows, frames not counted.", counters.messagesOut);
    write(text, "frames_made_total", "counter", "Frames that were encoded, once for all windows.", counters.framesMade);
    write(text, "frames_sent_total", "counter", "Frames that were sent to windows.", counters.framesOut);
    write(text, "characters_sent_total", "counter", "UTF-16 code units of all messages to windows.",
          counters.charactersOut);
    return text;
}

} // namespace palimpsest::live
