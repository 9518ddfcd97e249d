// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/engine/cuda/model_runs.h"
#include "tests/gpu/gpu_check.h"

#include <cstring>
#include <exception>

/// Arguments: names of the checks to run (sampler, golden, determinism, results, faults); all without any. Or watched
/// alone, determinism at a shape that a sanitizer gets through. Or demo, a file of cases and one for results.
int main(int count, char **arguments)
{
    using namespace palimpsest::gpu_check;
    requireDevice();
    if (count >= 3 && std::strcmp(arguments[1], "demo") == 0) {
        checkDemo(arguments[2], count > 3 ? arguments[3] : "");
        return finish("gpu_cuda_backend demo");
    }
    if (count == 2 && std::strcmp(arguments[1], "watched") == 0) {
        checkDeterminismWatched();
        return finish("gpu_cuda_backend watched");
    }
    const auto wanted = [&](const char *name) {
        return count == 1 || std::any_of(arguments + 1, arguments + count,
                                         [name](const char *a) { return std::strcmp(a, name) == 0; });
    };
    const std::pair<const char *, void (*)()> checks[] = {{"sampler", checkSampler},
                                                          {"golden", checkGolden},
                                                          {"determinism", checkDeterminism},
                                                          {"results", checkResults},
                                                          {"faults", checkFaults}}; // last: they restart the device
    for (const auto &[name, check] : checks) {
        if (!wanted(name))
            continue;
        try {
            check();
        } catch (const std::exception &error) {
            fail(std::string(name) + ": " + error.what());
        }
        std::printf("%s: %d failures so far\n", name, failureCount());
        std::fflush(stdout);
    }
    return finish("gpu_cuda_backend");
}
