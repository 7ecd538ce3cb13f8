#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# format [--check]: Format the C and C++ sources, or only report which are not formatted.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mode=(-i)
case ${1-} in
    --check) mode=(--dry-run -Werror) ;;
    "") ;;
    *) fail_usage ;;
esac
need clang-format-14
# New files count too, ignored ones do not.
(cd "$root" && git ls-files -z --cached --others --exclude-standard -- '*.h' '*.hpp' '*.c' '*.cpp' |
    xargs -0 -r clang-format-14 --style=file "${mode[@]}")
