# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The Palimpsest developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What building and testing the browser studio needs on top of the system's packages. To be sourced after
# system_packages.sh.

# npm_modules_missing FOLDER: whether its npm packages are not there, or not those of its lock file.
npm_modules_missing() {
    ! cmp --silent "$1/package-lock.json" "$1/node_modules/.installed-lock.json"
}

# web_packages FOLDER...: prints the system packages that fetching the npm packages of these folders needs. Node and npm
# may be there from elsewhere, in other packages than the system's, so they are asked for only where the programs are
# missing.
web_packages() {
    local folder
    command -v node >/dev/null || echo nodejs
    command -v npm >/dev/null && return
    for folder in "$@"; do
        if npm_modules_missing "$folder"; then
            printf '%s\n' npm ca-certificates # npm trusts the system's list of authorities, which Debian installs apart
            return
        fi
    done
}

# install_npm_modules ROOT FOLDER: fetches the npm packages of ROOT/FOLDER, in the versions of the lock file, if they are
# not there. False if they cannot be had.
install_npm_modules() {
    local root=$1 folder=$1/$2
    npm_modules_missing "$folder" || return 0
    command -v npm >/dev/null || return 1
    say "fetching npm packages (npm ci in $2)"
    (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund >&2) || return 1
    cp "$folder/package-lock.json" "$folder/node_modules/.installed-lock.json"
    rm -f "$root"/build/*/configured-by-packaging # a build that was configured without them has to look again
}
