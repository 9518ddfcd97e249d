# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The Palimpsest developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What building the browser studio needs on top of the system's packages. To be sourced after system_packages.sh.

# web_modules_missing ROOT: whether the npm packages of resources/web are not there, or not those of its lock file.
web_modules_missing() {
    local web=$1/resources/web
    ! cmp --silent "$web/package-lock.json" "$web/node_modules/.installed-lock.json"
}

# web_packages ROOT: prints the system packages that fetching the npm packages needs. Node and npm may be there from
# elsewhere, in other packages than the system's, so they are asked for only where the programs are missing.
web_packages() {
    command -v node >/dev/null || echo nodejs
    if web_modules_missing "$1" && ! command -v npm >/dev/null; then
        printf '%s\n' npm ca-certificates # npm trusts the system's list of authorities, which Debian installs apart
    fi
}

# install_web_modules ROOT: fetches the npm packages, in the versions of the lock file, if they are not there. False if
# they cannot be had: the program can be built without its browser studio.
install_web_modules() {
    local root=$1 web=$1/resources/web
    web_modules_missing "$root" || return 0
    command -v npm >/dev/null || return 1
    say "fetching what the browser studio is built with (npm ci in resources/web)"
    (cd "$web" && npm ci --ignore-scripts --no-audit --no-fund >&2) || return 1
    cp "$web/package-lock.json" "$web/node_modules/.installed-lock.json"
    rm -f "$root"/build/*/configured-by-packaging # a build that was configured without the studio has to look again
}
