#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes a Lua module with what LuaJIT's FFI needs of C headers: make_cdef.py OUT PREPROCESSED HEADER...

PREPROCESSED is what `cc -E` makes of the headers.  The module returns {cdef, constants, defaults}: the declarations
alone; the #defines that are numbers; and of each NAME_default() the fields that it sets, as FFI cannot call inline
functions.  One whose body is more than assignments of numbers is left out."""

import re
import sys
from pathlib import Path


def own_text(preprocessed, headers):
    """The lines that come from the headers themselves, not from what they include."""
    names, lines, is_own = {Path(h).resolve() for h in headers}, [], False
    for line in preprocessed.splitlines():
        marker = re.match(r'# \d+ "([^"]+)"', line)
        if marker:
            is_own = Path(marker.group(1)).resolve() in names
        elif is_own:
            lines.append(line)
    return "\n".join(lines)


def split_functions(text):
    """(declarations, {name: body}) of the inline functions."""
    declarations, bodies, at = [], {}, 0
    for match in re.finditer(r"static inline [\w *]*?(\w+)\s*\([^)]*\)\s*\{", text):
        if match.start() < at:
            continue
        declarations.append(text[at:match.start()])
        depth, end = 1, match.end()
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        bodies[match.group(1)] = text[match.end():end - 1]
        at = end
    declarations.append(text[at:])
    return "".join(declarations), bodies


def number(text, enums):
    """A C constant as a Lua one, or None."""
    text = text.strip().strip("()")
    text = enums.get(text, text)
    match = re.fullmatch(r"(0x[0-9a-fA-F]+|\d+)[uUlL]*", text)
    if not match:
        return None
    return match.group(1) + ("ULL" if int(match.group(1), 0) >= 1 << 53 else "")


def defaults_of(bodies, enums):
    found = {}
    for name, body in bodies.items():
        if not name.endswith("_default"):
            continue
        fields, is_plain = [], "for (" not in body
        for field, value in re.findall(r"value\.([\w.]+) = ([^;]+);", body):
            if field == "size":
                continue
            value = number(value, enums)
            is_plain = is_plain and value is not None
            fields.append((field, value))
        if is_plain:
            found[name[:-len("_default")]] = fields
    return found


def main():
    out, preprocessed, headers = sys.argv[1], sys.argv[2], sys.argv[3:]
    text = own_text(Path(preprocessed).read_text(encoding="utf-8"), headers)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)\)?(?=\s)", "", text)
    text = re.sub(r"_Static_assert\s*\(.*?\);", "", text, flags=re.S)
    declarations, bodies = split_functions(text)
    declarations = re.sub(r"\n\s*\n+", "\n", declarations)
    enums = dict(re.findall(r"\b(HEARTH_\w+) = (-?\d+)\b", declarations))
    constants = {}
    for header in headers:
        for name, value in re.findall(r"^#define (HEARTH_\w+) (\S+)$", Path(header).read_text(encoding="utf-8"), re.M):
            value = number(re.sub(r"UINT64_MAX", str((1 << 64) - 1), re.sub(r"UINT32_MAX", "0xffffffff", value)), {})
            if value:
                constants[name] = value
    lua = ["-- Made by make_cdef.py of " + ", ".join(Path(h).name for h in headers) + ".", "return {", "  cdef = [==["
           + declarations + "]==],", "  constants = {"]
    lua += [f"    {name} = {value}," for name, value in sorted(constants.items())]
    lua += ["  },", "  defaults = {"]
    for struct, fields in sorted(defaults_of(bodies, enums).items()):
        lua.append(f"    {struct} = {{" + ", ".join(f'{{"{field}", {value}}}' for field, value in fields) + "},")
    lua += ["  },", "}", ""]
    Path(out).write_text("\n".join(lua), encoding="utf-8")


if __name__ == "__main__":
    main()
