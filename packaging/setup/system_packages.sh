# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The Palimpsest developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Installs what is missing of a list of Debian or Ubuntu packages. To be sourced; needs bash, and `set -euo pipefail`.
# Everything is said on standard error, so that the program's own output can be piped.

say() { printf 'packaging/%s: %s\n' "${0##*/}" "$*" >&2; }
die() {
    say "$*"
    exit 1
}

# Prints the package names in the given list files, one a line, without comments.
read_package_lists() { sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' -- "$@"; }

# Prints those of the given packages that are not installed. Asks dpkg alone, so it is quick and needs no network.
missing_packages() {
    local installed name
    installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' -- "$@" 2>/dev/null |
        sed -n 's/^installed //p') || true
    for name in "$@"; do
        grep --quiet --line-regexp --fixed-strings -- "$name" <<<"$installed" || printf '%s\n' "$name"
    done
}

# Says which system this is: "debian 12". PALIMPSEST_OS_RELEASE lets a test put another file in place.
system_name() (
    # shellcheck source=/dev/null
    . "${PALIMPSEST_OS_RELEASE:-/etc/os-release}" 2>/dev/null || true
    printf '%s %s' "${ID:-unknown}" "${VERSION_ID:-}"
)

# Runs a command as root: directly, or through sudo.
as_root() {
    if ((EUID == 0)); then
        "$@"
    else
        sudo -- "$@"
    fi
}

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" >&2
}

# ensure_packages NAME...: installs what is missing; does nothing, and needs no network, when all is there.
# PALIMPSEST_SKIP_INSTALL=1 leaves the system alone, for machines that have the libraries from elsewhere.
ensure_packages() {
    [[ ${PALIMPSEST_SKIP_INSTALL:-0} != 1 ]] || return 0
    local system
    system=$(system_name)
    case $system in
    "debian 12" | "ubuntu 24.04") ;;
    *)
        die "knows the package names of Debian 12 and Ubuntu 24.04; this is \"$system\"." \
            "Install what these packages hold: $*. Then set PALIMPSEST_SKIP_INSTALL=1 and start again."
        ;;
    esac

    local -a missing
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]})) || return 0
    if ((EUID != 0)) && ! command -v sudo >/dev/null; then
        die "needs root to install packages, and there is no sudo. As root: apt-get install ${missing[*]}"
    fi
    say "installing ${missing[*]}"
    apt_get update || say "the package lists could not be brought up to date; trying with those at hand"
    apt_get install --yes --no-install-recommends "${missing[@]}" ||
        die "apt-get could not install ${missing[*]} (on Ubuntu they need the \"universe\" component)"
}
