#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Compares stripped libraries with the sizes that a page publishes: sizes_test.py PAGE NAME=LIBRARY...

The page has a row `| ... | NAME | KILOBYTES |` for each, which the library does not exceed, nor stay below by more than
a tenth: what is published is what there is.
"""

import os
import re
import subprocess
import sys
import tempfile


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    wrong = []
    for argument in sys.argv[2:]:
        name, library = argument.split("=")
        row = re.search(rf"^\|[^|]*\| `?{name}`?[^|]*\| (\d+) \|$", page, re.M)
        with tempfile.NamedTemporaryFile() as stripped:
            subprocess.run(["strip", "-o", stripped.name, library], check=True)
            kilobytes = os.path.getsize(stripped.name) / 1000
        print(f"{name}: {kilobytes:.0f} KB")
        if not row:
            wrong.append(f"{sys.argv[1]} has no size of {name}")
        elif not 0.9 * int(row[1]) <= kilobytes <= int(row[1]):
            wrong.append(f"{name} takes {kilobytes:.0f} KB, {sys.argv[1]} says {row[1]}")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
