#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Comments state their subject first: comments.py [--root DIR] [--list].

A block of comments that opens with What, Whether, Of, ... is a noun clause that the reader has to decode. At most 3 %
of the blocks may open like that, in the whole tree and in each folder (where one is always allowed). --list prints
each of them with its place."""

import collections
import os
import re
import sys

import tree

FOLDERS = ("sdk/", "demos/", "engine_bridge/")
EXEMPT = ("sdk/src/compiler/codegen/", "sdk/src/compiler/kernel/", "sdk/src/compiler/print/", "shaders/")
SUFFIXES = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp")
MOST = 0.03
RIDDLE = re.compile(r"(What|Whether|Which|How|Where|Who|Whoever|That|Those|The same|Of)\b(?! (is|are) this)")
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
SHORTEST = 13  # characters: shorter comments are labels


def blocks(text):
    """[(line number, text)] of each comment: adjacent lines of comment are one block, one beside code is its own."""
    found, begin, lines, is_open = [], 0, [], False

    def close():
        if lines:
            found.append((begin, " ".join(lines).strip()))
        lines.clear()

    for number, line in enumerate(text.splitlines(), 1):
        code = STRING.sub('""', line).strip()
        if "SPDX" not in line and (is_open or code.startswith(("//", "/*"))):
            begin = begin if lines else number
            lines.append(re.sub(r"^(//[/!]?<?|/\*+!?|\*(?!/))\s?|\*/.*$", "", line.strip()).strip())
            is_open = "*/" not in code and (is_open or code.startswith("/*"))
            continue
        close()
        beside = re.search(r"\S.*?//[/!]?<?(.*)$", code)
        if beside and "SPDX" not in line:
            found.append((number, beside.group(1).strip()))
    close()
    return [(n, t) for n, t in found if len(t) >= SHORTEST and not t.startswith("namespace")]


def main(argv=None):
    options = tree.arguments(__doc__, list={"action": "store_true", "help": "print each of them"}).parse_args(argv)
    count, riddles = collections.Counter(), collections.defaultdict(list)
    for path in tree.files(options.root):
        if path.startswith(FOLDERS) and path.endswith(SUFFIXES) and not path.startswith(EXEMPT):
            folder = os.path.dirname(path)
            for number, text in blocks(tree.read(options.root, path)):
                count[folder] += 1
                if RIDDLE.match(text):
                    riddles[folder].append(f"{path}:{number}: {text[:100]}")
    if not count:
        print(f"comments: no comments found under {options.root} in {', '.join(FOLDERS)}")
        return 1

    above = 0
    for folder, found in sorted(riddles.items()):
        is_above = len(found) > max(1, MOST * count[folder])
        above += is_above
        print(f"{folder}: {len(found)} of {count[folder]}, {len(found) / count[folder]:.1%}{' (above)' * is_above}")
        if options.list:
            print("\n".join(f"    {line}" for line in found))
    total, all_riddles = sum(count.values()), sum(len(found) for found in riddles.values())
    share = all_riddles / total
    print(f"comments: {all_riddles} of {total} blocks open with What, Whether, Of, ...: {share:.1%}, expected at most "
          f"{MOST:.0%}; {above} folders are above")
    if share > MOST or above:
        print("comments: --list prints them; open with the subject instead: 'Granularity of ...', 'Returns ...'")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
