#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# bundle DIR: Put tool, tests, benchmarks and demo into DIR, to run on a machine without a build environment.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# = 1 ] || fail_usage
need "${build_packages[@]}" libvulkan1 vulkan-validationlayers patchelf
build release
exec "$root/sdk/support/bundle.sh" "$root/build/release/bin" "$1"
