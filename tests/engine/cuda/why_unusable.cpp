// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/cuda/device.h"

#include <cstdio>

/// Prints why no device can be used, or that one can.
int main()
{
    const std::string problem = palimpsest::cuda::whyUnusable();
    std::puts(problem.empty() ? "a device can be used" : problem.c_str());
    return 0;
}
