#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# docs: Build the documentation's site into out/docs: the book (MkDocs) and the reference (Doxygen).
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# = 0 ] || fail_usage
need python3 mkdocs doxygen python3-pygments
"$root/sdk/support/site.py" "$root/out/docs"
