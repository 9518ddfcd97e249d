# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The Palimpsest developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Configures and builds one of the presets. To be sourced after system_packages.sh.

# build_preset ROOT PRESET [TARGET...]: says nothing when everything is up to date.
build_preset() {
    local root=$1 preset=$2
    shift 2
    local build=$root/build/$preset stamp=$root/build/$preset/configured-by-packaging
    if [[ -e $build && ! -w $build ]]; then
        die "cannot write to build/$preset, which belongs to $(stat -c %U "$build") (an earlier start as another user?);" \
            "remove it or change its owner"
    fi
    # Ninja configures again when a list file changes, but knows neither of the presets nor that the folder was moved.
    if [[ ! -f $build/build.ninja || $(cat "$stamp" 2>/dev/null) != "$root" || $root/CMakePresets.json -nt $stamp ]]; then
        say "configuring build/$preset"
        (cd "$root" && cmake --fresh --preset "$preset" -Wno-dev) >&2
        printf '%s\n' "$root" >"$stamp"
    fi
    # A dry run tells apart "nothing to do" from a build worth showing.
    if ! ninja -C "$build" -n "$@" 2>/dev/null | grep --quiet 'no work to do'; then
        say "building build/$preset (a first build takes some minutes)"
        ninja -C "$build" "$@" >&2
    fi
}
