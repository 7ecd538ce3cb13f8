#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the names of all functions that a header declares as an array of C strings:
list_functions.py HEADER OUT."""

import re
import sys


def main():
    header, out = sys.argv[1:]
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    names = re.findall(r"HEARTH_API\s[^;(]*?(hearth_\w+)\s*\(", text)
    if len(names) < 30 or len(names) != len(set(names)):
        sys.exit(f"{header}: {len(names)} functions found, of which {len(set(names))} differ")
    with open(out, "w", encoding="utf-8") as file:
        file.write(f"// Made by list_functions.py of {header.rsplit('/', 1)[-1]}.\n")
        file.write("constexpr const char* kFunctions[] = {\n")
        file.writelines(f'    "{name}",\n' for name in names)
        file.write("};\n")


if __name__ == "__main__":
    main()
