#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# release VERSION: Write the version, close the changelog, commit, test, make packages and the source archive, tag.
#
# The tag comes last: a failure before it leaves one commit to take back and nothing published.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# = 1 ] || fail_usage
python3 "$root/sdk/support/release.py" "$1" || fail "nothing was released"
("$root/dev" test release && "$root/dev" package) ||
    fail "not released; the version's commit can be taken back: git reset --hard HEAD~1"
name=hearth-$1-source.tar.xz
git -C "$root" archive --prefix="hearth-$1/" HEAD | xz >"$root/out/packages/$name"
(cd "$root/out/packages" && sha256sum "$name" >"$name.sha256")
git -C "$root" tag -a "v$1" -m "Hearth $1"
say "released $1: push the commit and the tag v$1; what to publish lies in out/packages"
