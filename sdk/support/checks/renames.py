#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Old names stay gone: renames.py [--root DIR] [--table FILE].

sdk/support/renames.tsv lists each renamed symbol: kind, file, old, new, separated by tabs; `#` begins a comment line.
A refused row has `-` for new, and the reason in a fifth column. No old symbol of a public header may still be declared
in sdk/include/hearth, except by `= delete`, or where another row gives its name to something else. Symbols are
qualified (hearth::agents::Ppo::clip) or of C (hearth_variable_info, hearth_variable_info::name)."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import tags
import tree

HEADERS = "sdk/include/hearth/"
REFUSED = "-"


@dataclass
class Row:
    line: int
    file: str
    old: str
    new: str


def rows_of(text):
    """(rows, faults of the table)."""
    rows, faults = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) < 4 or not all(cells[:4]):
            faults.append(f"line {number}: expected kind, file, old, new separated by tabs, found '{line}'")
        elif cells[3] == REFUSED and (len(cells) < 5 or not cells[4]):
            faults.append(f"line {number}: {cells[2]} is refused without a reason in the fifth column")
        else:
            rows.append(Row(number, cells[1], cells[2].replace(".", "::"), cells[3].replace(".", "::")))
    return rows, faults


def scope_of(name):
    return name.rpartition("::")[0]


class Renames:
    """What names become; scopes are renamed, too."""

    def __init__(self, rows):
        self.new = {row.old: self.full(row) for row in rows if row.new != REFUSED}
        self.given = set(self.new.values()) | {self.inside(name) for name in self.new.values()}

    @staticmethod
    def full(row):
        """The new name with its scope: that of the old name, unless it says another."""
        scope = scope_of(row.old)
        return f"{scope}::{row.new}" if scope and "::" not in row.new else row.new

    def inside(self, name):
        """The name in its renamed scope: Old::member is New::member."""
        scope, colons, last = name.rpartition("::")
        if not colons:
            return name
        return f"{self.new.get(scope) or self.inside(scope)}::{last}"


def is_deleted(text, line):
    """Whether the declaration that begins at this line ends in `= delete`."""
    declaration = "\n".join(text.split("\n")[line - 1:]).partition(";")[0]
    return re.search(r"=\s*delete\s*(\(.*\))?\s*$", declaration, re.S) is not None


def declared(root):
    """{qualified name: place} of what the public headers declare."""
    files = [f for f in tree.files(root) if f.startswith(HEADERS)]
    texts, names = {file: tree.read(root, file) for file in files}, {}
    for tag in tags.read(root, files):
        if is_deleted(texts[tag.file], tag.line):
            continue
        place = f"{tag.file}:{tag.line}"
        names.setdefault(tag.qualified, place)
        if tag.kind == "enumerator" and tag.file.endswith(".h"):
            names.setdefault(tag.name, place)  # in C an enumerator is outside of its enum
    return names


def main(argv=None):
    settings = {"type": Path, "help": "the table, sdk/support/renames.tsv by default"}
    options = tree.arguments(__doc__, table=settings).parse_args(argv)
    if not tags.is_there():
        return tree.skip("renames", tags.MISSING)
    table = options.table or options.root / "sdk/support/renames.tsv"
    if not table.is_file():
        print(f"renames: expected the table of renamed symbols at {table}, found no file")
        return 1
    rows, faults = rows_of(table.read_text(encoding="utf-8"))
    print("".join(f"{table.name}: {fault}\n" for fault in faults), end="")
    names = declared(options.root)
    if not names:
        print(f"renames: no declarations found in {options.root / HEADERS}")
        return 1

    renames, still = Renames(rows), 0
    public = [row for row in rows if row.file.startswith(HEADERS) and row.new != REFUSED]
    for row in public:
        for name in {row.old, renames.inside(row.old)} - renames.given:
            if name in names:
                still += 1
                print(f"{names[name]}: {name} is still declared, expected {renames.new[row.old]} "
                      f"({table.name}:{row.line})")
    print(f"renames: {still} of {len(public)} old public symbols are still declared, expected none")
    return 1 if still or faults else 0


if __name__ == "__main__":
    sys.exit(main())
