#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes one source file of the C++ blocks of a page: compile_snippets.py PAGE PRELUDE OUT.

The blocks are put one after the other into one function, behind what the prelude declares: a page that
stops compiling stops the build."""

import pathlib
import re
import sys


def main():
    page, prelude, out = map(pathlib.Path, sys.argv[1:])
    text = page.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```cpp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    if not blocks:
        sys.exit(f"{page}: no C++ blocks")
    parts = [prelude.read_text(encoding="utf-8")]
    for block in blocks:
        line = text.count("\n", 0, block.start(1)) + 1
        parts.append(f'#line {line} "{page}"\n{block.group(1)}')
    out.write_text("\n".join(parts) + "}\n", encoding="utf-8")


main()
