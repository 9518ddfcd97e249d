// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/cuda/copy_threads.h"

#include <atomic>
#include <cstdio>

using palimpsest::cuda::CopyThreads;

namespace {

/// Many short rounds, as loading has them: each piece is done once, and all are when a round has ended.
int failures(std::size_t threads)
{
    constexpr int kRounds = 2000;
    constexpr std::size_t kPieces = 37;
    CopyThreads pool(threads);
    int failed = 0;
    for (int round = 0; round < kRounds; ++round) {
        std::atomic<std::size_t> next = 0;
        std::atomic<std::size_t> calls = 0;
        int done[kPieces] = {};
        pool.run([&] {
            ++calls;
            for (std::size_t i = next++; i < kPieces; i = next++)
                ++done[i];
        });
        bool right = calls == threads;
        for (const int times : done)
            right = right && times == 1;
        failed += right ? 0 : 1;
    }
    return failed;
}

} // namespace

int main()
{
    int failed = 0;
    for (const std::size_t threads : {1U, 2U, 16U})
        failed += failures(threads);
    std::printf("%d rounds went wrong\n", failed);
    return failed == 0 ? 0 : 1;
}
