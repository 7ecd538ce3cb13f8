#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# package: Put an archive and Debian packages with their checksums into out/packages.
#
# Packages contain what `cmake --install` installs; cpack builds nothing itself.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# = 0 ] || fail_usage
need "${build_packages[@]}" dpkg-dev file
build release hearth hearth_runtime_shared hearth_import hearth_standalone
rm -rf "$root/out/packages"
cpack --config "$root/build/release/CPackConfig.cmake" -B "$root/out/packages" || fail "cpack failed"
rm -rf "$root/out/packages/_CPack_Packages"
