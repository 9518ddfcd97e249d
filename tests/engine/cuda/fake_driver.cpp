// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A libcuda.so.1 of CUDA 12.0, as far as anybody asks before giving up on it.
extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int *version)
{
    *version = 12000;
    return 0;
}
