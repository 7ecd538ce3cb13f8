#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Long functions do not become more: functions.py [--root DIR] [--most N].

Lists the functions of sdk/src with over 100 lines, raw strings left out, longest first. Fails if there are more than N,
by default the count of the day on which this check was written: lower it with every function that is split."""

import re
import sys

import tags
import tree

LINES = 100
MOST = 5
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)


def main(argv=None):
    settings = {"type": int, "default": MOST, "help": "how many may be longer"}
    options = tree.arguments(__doc__, most=settings).parse_args(argv)
    if not tags.is_there():
        return tree.skip("functions", tags.MISSING)
    files = [f for f in tree.files(options.root) if f.startswith("sdk/src/") and f.endswith((".cpp", ".hpp"))]
    functions = [tag for tag in tags.read(options.root, files) if tag.kind == "function" and tag.end]
    if not functions:
        print(f"functions: no functions found in {options.root}/sdk/src")
        return 1
    long = []
    for tag in functions:
        if tag.end - tag.line >= LINES:
            body = "\n".join(tree.read(options.root, tag.file).split("\n")[tag.line - 1:tag.end])
            count = RAW_STRING.sub('""', body).count("\n") + 1
            if count > LINES:
                long.append((count, tag))
    for count, tag in sorted(long, key=lambda found: -found[0]):
        print(f"{tag.file}:{tag.line}: {tag.name} has {count} lines")
    print(f"functions: {len(long)} of {len(functions)} have over {LINES} lines, expected at most {options.most}")
    if len(long) > options.most:
        print("functions: split the new one into named steps")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
