#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks the include graph against layers.txt: no file includes upwards.

Usage: check_layers.py [--root DIR] [--table FILE]

Prints one line per violation, `file:line: rule`, and exits with 1 if there is any.

How an include is read: `"compiler/ir/graph.hpp"` names a folder of sdk/src, `"standalone/..."` names
sdk/support/standalone, and `hearth/...` is a public header. Outside sdk/src a path that exists beside the
including file or in its tree belongs to that tree. What is left is generated or from outside the project.
"""

import argparse
import graphlib
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

SOURCE_SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cpp", ".inc", ".inl"}
SDK_SOURCES = "sdk/src"
SUPPORT = "sdk/support"
SECTIONS = (SDK_SOURCES, "elsewhere", "public headers", "third party")

# An include, or one of the things that may hold the text of one without being one: raw strings (the
# code generators hold GLSL in them), comments, strings, characters (but not the ' of 1'000).
TOKEN = re.compile(
    r"""
      ^[ \t]*\#[ \t]*include[ \t]*(?: (?P<open>[<"])(?P<path>[^>"\n]+)[>"] | (?P<macro>\w+) )
    | R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"
    | //[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


class TableError(Exception):
    """layers.txt itself is wrong."""


@dataclass
class Table:
    """layers.txt. An area is a folder by its path, which is relative to sdk/src where it lies there."""

    sections: dict = field(default_factory=lambda: {name: {} for name in SECTIONS})

    @staticmethod
    def read(path):
        table, section = Table(), None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            line = line.split("#", 1)[0].strip()
            area, colon, names = line.partition(":")
            if not line:
                continue
            if line.strip("[]") in SECTIONS:
                section = table.sections[line.strip("[]")]
            elif section is not None and colon and area not in section:
                section[area] = set(names.split())
            else:
                raise TableError(f"{path}:{number}: malformed, misplaced or repeated line: {line}")
        table._check(path)
        return table

    def _check(self, path):
        known = self.folders | set(self.elsewhere)
        for name in SECTIONS:
            for area, names in self.sections[name].items():
                mentioned = {area} if name == "public headers" else names
                unknown = mentioned - known - {"*"}
                if unknown:
                    raise TableError(f"{path}: [{name}] {area}: unknown area: {' '.join(sorted(unknown))}")
        circle_free = {area: names - {"*"} for area, names in self.sections[SDK_SOURCES].items()}
        try:
            graphlib.TopologicalSorter(circle_free).prepare()
        except graphlib.CycleError as error:
            raise TableError(f"{path}: the table has a circle: {' -> '.join(error.args[1])}") from error

    @property
    def folders(self):
        return set(self.sections[SDK_SOURCES])

    @property
    def elsewhere(self):
        return self.sections["elsewhere"]

    def allowed(self, area):
        """The areas that `area` may include besides itself."""
        names = self.sections[SDK_SOURCES].get(area, self.elsewhere.get(area, set()))
        return names | self.folders if "*" in names else names

    def third_party_rule(self, path):
        """The most specific rule on a header from outside as (prefix, areas), or None."""
        rules = self.sections["third party"]
        matches = [p for p in rules if path == p or (p.endswith("/") and path.startswith(p))]
        return max(((p, rules[p]) for p in matches), key=lambda rule: len(rule[0]), default=None)


def includes(text):
    """Yields (line number, path or None for a macro, spelling) of each #include directive."""
    for token in TOKEN.finditer(text):
        if token["path"] or token["macro"]:
            line = text.count("\n", 0, token.start()) + 1
            yield line, token["path"], token[0].split("include", 1)[1].strip()


class Checker:
    def __init__(self, root, table):
        self.root, self.table = root, table
        self.file_count = self.include_count = 0
        self.violations = []

    def run(self):
        for area, folder in self._areas():
            # A folder inside that has a line of its own goes by that.
            inner = [self.root / other for other in self.table.elsewhere if other.startswith(f"{area}/")]
            for file in sorted(p for p in folder.rglob("*") if p.suffix in SOURCE_SUFFIXES):
                if not any(file.is_relative_to(other) for other in inner):
                    self._check_file(area, folder, file)

    def _areas(self):
        """(area, folder) of all that is to be checked; reports folders the table does not know."""
        yield from self._source_areas(self.root / SDK_SOURCES)
        for area in self.table.elsewhere:
            if (self.root / area).is_dir():
                yield area, self.root / area

    def _source_areas(self, parent):
        for entry in sorted(parent.iterdir()) if parent.is_dir() else []:
            area = entry.relative_to(self.root / SDK_SOURCES).as_posix()
            if entry.is_dir() and area in self.table.folders:
                yield area, entry
            elif entry.is_dir() and any(name.startswith(f"{area}/") for name in self.table.folders):
                yield from self._source_areas(entry)
            elif entry.is_dir():
                self._report(entry, None, f"unknown folder {area}: it has no line in layers.txt")
            elif entry.suffix in SOURCE_SUFFIXES:
                self._report(entry, None, f"a source file belongs into a folder of {SDK_SOURCES}")

    def _check_file(self, area, folder, file):
        self.file_count += 1
        for line, path, spelling in includes(file.read_text(encoding="utf-8", errors="replace")):
            self.include_count += 1
            rule = self._broken_rule(area, folder, file, path, spelling)
            if rule:
                self._report(file, line, f"{rule} (#include {spelling})")

    def _broken_rule(self, area, folder, file, path, spelling):
        """The rule that this include breaks, as text, or None."""
        if path is None:
            return "an include through a macro cannot be checked"
        parts = PurePosixPath(path).parts
        if ".." in parts or parts[0] in (".", "sdk"):
            return "write includes relative to sdk/src, or <hearth/...> for public headers"
        if parts[0] == "hearth":
            only = self.table.sections["public headers"].get(area)
            if only is not None and path not in only:
                return f"{area} may include only {' '.join(sorted(only))} from the project"
            return None
        target = self._target_area(area, folder, file, parts)
        if target == area:
            return None
        if target is not None:
            allowed = self.table.allowed(area)
            return None if target in allowed else (
                f"{area} may not include {target}; it may include: {' '.join(sorted(allowed)) or 'nothing'}")
        third_party = self.table.third_party_rule(path)
        if third_party:
            prefix, areas = third_party
            return None if area in areas else (
                f"{area} may not include {prefix} headers; only these may: {' '.join(sorted(areas))}")
        if spelling.startswith('"') and area in self.table.folders:
            return 'a quoted include is "folder/file" relative to sdk/src; <...> is for all else'
        return None

    def _target_area(self, area, folder, file, parts):
        """The area an include points into, or None if it is outside the project."""
        is_own = (file.parent.joinpath(*parts)).is_file() or (folder.joinpath(*parts)).is_file()
        if area in self.table.elsewhere and is_own:
            return area
        for parent in PurePosixPath(*parts).parents:
            if parent.as_posix() in self.table.folders:
                return parent.as_posix()
        in_support = f"{SUPPORT}/{parts[0]}"
        return in_support if in_support in self.table.elsewhere else None

    def _report(self, file, line, rule):
        where = f"{file.relative_to(self.root)}" + (f":{line}" if line else "")
        self.violations.append(f"{where}: {rule}")


def main(argv=None):
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=here.parents[1], help="repository root")
    parser.add_argument("--table", type=Path, default=here / "layers.txt", help="the table of layers")
    options = parser.parse_args(argv)
    try:
        checker = Checker(options.root.resolve(), Table.read(options.table))
    except (TableError, OSError) as error:
        print(f"check_layers: {error}", file=sys.stderr)
        return 2
    checker.run()
    if checker.file_count == 0 and not checker.violations:
        print(f"check_layers: no source files under {options.root}", file=sys.stderr)
        return 2
    print("\n".join(checker.violations), end="\n" if checker.violations else "")
    print(f"check_layers: {checker.file_count} files, {checker.include_count} includes, "
          f"{len(checker.violations)} violations")
    return 1 if checker.violations else 0


if __name__ == "__main__":
    sys.exit(main())
