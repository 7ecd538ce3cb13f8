#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the names of all functions that headers declare: those of the first one as an array of C strings, those of
all as a macro that gives each to another macro: list_functions.py HEADER... OUT."""

import re
import sys


def functions_of(header):
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    names = re.findall(r"HEARTH_API\s[^;(]*?(hearth_\w+)\s*\(", text)
    if len(names) < 30 or len(names) != len(set(names)):
        sys.exit(f"{header}: {len(names)} functions found, of which {len(set(names))} differ")
    return names


def main():
    *headers, out = sys.argv[1:]
    lists = [functions_of(header) for header in headers]
    with open(out, "w", encoding="utf-8") as file:
        file.write("// Made by list_functions.py.\n")
        file.write("constexpr const char* kFunctions[] = {\n")
        file.writelines(f'    "{name}",\n' for name in lists[0])
        file.write("};\n#define HEARTH_EACH_FUNCTION(apply)")
        file.writelines(f" \\\n    apply({name})" for names in lists for name in names)
        file.write("\n")


if __name__ == "__main__":
    main()
