#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the names of all functions that the library implements, from the description of the C interface: those of
hearth.h as an array of C strings, those of hearth_agents.h too as a macro that gives each to another macro:
list_functions.py INTERFACE OUT."""

import json
import sys


def main():
    interface, out = sys.argv[1:]
    with open(interface, encoding="utf-8") as file:
        functions = [f for f in json.load(file)["functions"] if "inline" not in f]
    names = {header: [f["name"] for f in functions if f["header"] == header]
             for header in ("hearth/hearth.h", "hearth/hearth_agents.h")}
    if min(map(len, names.values())) < 30:
        sys.exit(f"{interface}: only {({header: len(found) for header, found in names.items()})} functions")
    with open(out, "w", encoding="utf-8") as file:
        file.write("// Made by list_functions.py.\n")
        file.write("constexpr const char* kFunctions[] = {\n")
        file.writelines(f'    "{name}",\n' for name in names["hearth/hearth.h"])
        file.write("};\n#define HEARTH_EACH_FUNCTION(apply)")
        file.writelines(f" \\\n    apply({name})" for found in names.values() for name in found)
        file.write("\n")


if __name__ == "__main__":
    main()
