// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The endpoint, for real clients, over a model that says what it is told to: what stands last between SAY[[ and ]] in
// the prompt, markers of thoughts and tool calls included. Prints its address, and ends when standard input does.

#include "tests/app/server/openai/endpoint_bench.h"

#include <QCoreApplication>

#include <cstdio>
#include <iostream>
#include <string>

int main(int argc, char **argv)
{
    using namespace palimpsest;
    const QCoreApplication application(argc, argv);
    const auto say = [](const test::ScriptInput &input) -> std::string {
        const auto begin = input.prompt.rfind("SAY[[");
        const auto end = begin == std::string::npos ? begin : input.prompt.find("]]", begin);
        return end == std::string::npos ? "yes" : input.prompt.substr(begin + 5, end - begin - 5);
    };
    test::EndpointBench bench(say, {.dialect = ChatDialect::Gemma4Revision2, .canvasLength = 16});
    std::printf("http://127.0.0.1:%d\n", int(bench.server.port()));
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
    }
    return 0;
}
