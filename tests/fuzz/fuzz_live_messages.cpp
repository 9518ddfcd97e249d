// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/client_messages.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

// An input is one message of a window to the live channel.

using namespace palimpsest::live;

namespace {

void require(bool claim, const char *text)
{
    if (claim)
        return;
    std::fprintf(stderr, "broken promise: %s\n", text);
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const ParsedMessage parsed = parseClientMessage({reinterpret_cast<const char *>(data), size});
    require(!parsed.ref || (*parsed.ref >= 0 && *parsed.ref <= kLargestNumber),
            "a ref is a number that JavaScript has");
    if (const auto *problem = std::get_if<Problem>(&parsed.content)) {
        require(problem->code == "invalid_request" || problem->code == "unknown_type",
                "a problem has one of two codes");
        require(!problem->message.empty(), "a problem says something");
        const nlohmann::json answer{{"message", problem->message}, {"param", problem->param}};
        require(!answer.dump().empty(), "a problem can be sent, so it is UTF-8"); // dump() throws if not
        return 0;
    }
    if (const auto *edit = std::get_if<Edit>(&std::get<ClientMessage>(parsed.content)))
        require(edit->span.start >= 0 && edit->span.start <= edit->span.end, "a range has an order");
    return 0;
}
