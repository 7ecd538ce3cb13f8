#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks a shared library against the functions of its headers, inline ones included, the list of its symbols and its
budget: shared_library_test.py LIBRARY INTERFACE SYMBOLS SONAME [MOST_BYTES].

INTERFACE is engine_bridge/interface/hearth.json, which abi.interface compares with the headers."""

import json
import os
import re
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def problems(library, interface, symbols, soname):
    dynamic = run("readelf", "-d", library)
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    found = re.findall(r"SONAME.*\[(.*)\]", dynamic)
    if found != [soname]:
        yield f"is called {found}, expected {soname}"
    allowed = ("libc.", "libm.", "libstdc++.", "libgcc_s.", "ld-linux", "libasan.", "libubsan.",
               "libtsan.", "libpthread.", "libdl.")
    for name in needed:
        if not name.startswith(allowed):
            yield f"needs {name}"

    exported = {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()}
    with open(interface, encoding="utf-8") as file:
        declared = {f["name"] for f in json.load(file)["functions"] if f["header"].startswith("hearth/")}
    for name in sorted(exported - declared):
        yield f"exports {name}, which no header declares"
    for name in sorted(declared - exported):
        yield f"does not export {name}, which a header declares"
    with open(symbols, encoding="utf-8") as file:
        listed = re.findall(r"^    (\w+)$", file.read(), re.M)
    for name in sorted(exported - set(listed)):
        yield f"exports {name}, which {symbols} does not list: a new function is added there"
    for name in sorted(set(listed) - exported):
        yield f"does not export {name}, which {symbols} promises"
    if listed != sorted(set(listed)):
        yield f"{symbols} is not sorted"
    if len(declared) < 30:
        yield f"only {len(declared)} declarations found in {interface}"

    for line in run("nm", "-D", "--undefined-only", library).splitlines():
        name = line.split()[-1].split("@")[0]
        if name.startswith("vk"):
            yield f"needs {name} at link time"
        if name in ("fork", "pthread_create", "exit", "getenv", "fopen", "open"):
            yield f"calls {name}"
        if name.startswith(("_Znw", "_Zna")):
            yield f"calls operator new ({name}), which aborts without memory; use HostAllocator"
        if name.startswith("_ZSt") and "__throw_" in name:
            yield f"throws ({name}), which aborts in code without exceptions"

    # Objects in writable sections, by what they are: Hearth's one global is the assert handler.
    for line in run("nm", "-C", library).splitlines():
        match = re.match(r"[0-9a-f]* ([bBdD]) (hearth::.*)", line)
        if not match or match.group(2).endswith("::assert_handler"):
            continue
        section = writable_section(library, line.split()[0])
        if section:
            yield f"has the mutable global {match.group(2)} in {section}"


def stripped_bytes(library):
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "stripped")
        run("strip", "-o", stripped, library)
        return os.path.getsize(stripped)


def writable_section(library, address):
    """The section at an address if it stays writable after relocation, else None."""
    for line in run("readelf", "-SW", library).splitlines():
        match = re.match(r"\s*\[\s*\d+\] (\S+)\s+\S+\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", line)
        if not match or match.group(1) not in (".data", ".bss"):
            continue
        begin, size = int(match.group(2), 16), int(match.group(3), 16)
        if begin <= int(address, 16) < begin + size:
            return match.group(1)
    return None


def main():
    found = list(problems(*sys.argv[1:5]))
    if len(sys.argv) > 5:
        size, most = stripped_bytes(sys.argv[1]), int(sys.argv[5])
        print(f"{size} bytes stripped, at most {most}")
        if size > most:
            found.append(f"has {size} bytes stripped, the budget is {most}")
    for problem in found:
        print(f"{sys.argv[1]}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
