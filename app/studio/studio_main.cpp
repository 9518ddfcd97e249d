// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/studio_window.h"

int main(int argc, char **argv)
{
    return palimpsest::studio::runStudio(argc, argv);
}
