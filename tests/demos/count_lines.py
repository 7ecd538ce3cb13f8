#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Counts the lines of code of a file, without blank lines and comments:
count_lines.py FILE MOST [FILE MOST ...].  Fails where there are more than MOST."""

import re
import sys


def lines_of_code(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return sum(1 for line in text.splitlines() if re.sub(r"//.*", "", line).strip())


def main():
    words = sys.argv[1:]
    if not words or len(words) % 2:
        sys.exit(__doc__)
    failed = False
    for path, most in zip(words[::2], map(int, words[1::2])):
        with open(path, encoding="utf-8") as file:
            count = lines_of_code(file.read())
        print(f"{path}: {count} lines of code, at most {most}")
        failed = failed or not 0 < count <= most
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
