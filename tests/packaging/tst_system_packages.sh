#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Palimpsest developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What packaging/setup/system_packages.sh does on machines other than this one: dpkg-query, apt-get and sudo are fakes
# that come first in PATH, and the system's name is read from a file of ours.

set -uo pipefail
library=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../packaging/setup" && pwd)/system_packages.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/fakes"

fake() { # fake NAME: a program whose text comes from standard input
    { printf '#!/usr/bin/env bash\n' && cat; } >"$scratch/fakes/$1"
    chmod +x "$scratch/fakes/$1"
}
# As the real one: knows what is installed, what is only configured, and fails if it was asked for anything unknown.
fake dpkg-query <<'EOF'
status=0
while (($#)); do
    case $1 in
    --*) ;;
    g++ | cmake) echo "installed $1" ;;
    removed-once) echo "config-files $1" ;;
    *) status=1 ;;
    esac
    shift
done
exit "$status"
EOF
fake apt-get <<'EOF'
printf '%s ' "$DEBIAN_FRONTEND" "$@" >>"$APT_LOG"
echo >>"$APT_LOG"
[[ " $* " != *" $APT_FAILS "* ]]
EOF
fake sudo <<'EOF'
[[ $1 == -- ]] && shift
exec "$@"
EOF

failures=0
fail() {
    printf 'FAIL  %s: %s\n' "$case_name" "$1"
    ((++failures))
}
# run_case NAME OS-RELEASE APT-FAILS PACKAGE...: leaves the exit status, what was said, and the calls of apt-get.
run_case() {
    case_name=$1
    printf '%s\n' "$2" >"$scratch/os-release"
    : >"$scratch/apt.log"
    said=$(PATH="$scratch/fakes:$PATH" APT_LOG=$scratch/apt.log APT_FAILS=$3 \
        PALIMPSEST_OS_RELEASE=$scratch/os-release PALIMPSEST_SKIP_INSTALL=${skip_install:-0} \
        bash -c 'set -euo pipefail; . "$1"; shift; ensure_packages "$@"' run "$library" "${@:4}" 2>&1)
    status=$?
    apt_calls=$(<"$scratch/apt.log")
}
expect_status() { [[ $status == "$1" ]] || fail "exit status $status instead of $1; it said: $said"; }
expect_said() { [[ $said == *"$1"* ]] || fail "did not say \"$1\", but: $said"; }
expect_apt() { [[ $apt_calls == "$1" ]] || fail "calls of apt-get: \"$apt_calls\" instead of \"$1\""; }

debian=$'ID=debian\nVERSION_ID="12"'
ubuntu=$'ID=ubuntu\nVERSION_ID="24.04"'
options='noninteractive -o DPkg::Lock::Timeout=300'

run_case "nothing is missing" "$debian" none g++ cmake
expect_status 0
expect_apt ""
[[ -z $said ]] || fail "was not silent: $said"

for system in "$debian" "$ubuntu"; do
    run_case "installs only what is missing on ${system//$'\n'/ }" "$system" none g++ ninja-build removed-once cmake
    expect_status 0
    expect_said "installing ninja-build removed-once"
    expect_apt "$options update 
$options install --yes --no-install-recommends ninja-build removed-once "
done

run_case "a name is no pattern" "$debian" none g++ 'g'
expect_said "installing g"

run_case "package lists out of reach" "$debian" update ninja-build
expect_status 0
expect_said "trying with those at hand"

run_case "installing fails" "$ubuntu" install ninja-build
expect_status 1
expect_said "could not install ninja-build"

run_case "another distribution" $'ID=fedora\nVERSION_ID=40' none g++ ninja-build
expect_status 1
expect_said 'this is "fedora 40"'
expect_said "g++ ninja-build"
expect_said "PALIMPSEST_SKIP_INSTALL=1"
expect_apt ""

skip_install=1 run_case "another distribution, libraries from elsewhere" $'ID=fedora\nVERSION_ID=40' none ninja-build
expect_status 0
expect_apt ""

((failures == 0)) && echo "PASS"
exit "$((failures > 0))"
