#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks hearth.dll: it exports what is listed, and needs nothing but Windows: dll_test.py DLL SYMBOLS OBJDUMP."""

import re
import subprocess
import sys
from pathlib import Path

WINDOWS = {"kernel32.dll", "msvcrt.dll", "ucrtbase.dll", "advapi32.dll"}


def main():
    library, symbols, objdump = sys.argv[1:]
    text = subprocess.run([objdump, "-p", library], check=True, capture_output=True, text=True).stdout
    exported = re.findall(r"^\s*\[\s*\d+\]\s+(?:\+base\[\s*\d+\]\s+[0-9a-f]+\s+)?(\w+)$", text, re.M)
    listed = re.findall(r"^    (\w+)$", Path(symbols).read_text(encoding="utf-8"), re.M)
    needed = {name.lower() for name in re.findall(r"DLL Name: (\S+)", text)}
    found = [f"exports {name}, which is not listed" for name in sorted(set(exported) - set(listed))]
    found += [f"does not export {name}" for name in sorted(set(listed) - set(exported))]
    found += [f"needs {name}" for name in sorted(needed - WINDOWS) if not name.startswith("api-ms-win-crt")]
    if not needed:
        found.append("needs nothing at all, which is not to be believed")
    print(f"{len(exported)} functions, needs {' '.join(sorted(needed))}")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
