# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Declarations and definitions of C++ files, read by universal-ctags."""

import shutil
import subprocess
from dataclasses import dataclass

MISSING = "universal-ctags is missing (Debian: universal-ctags; ./dev test installs it)"


@dataclass
class Tag:
    name: str
    file: str
    kind: str  # function, prototype, member, enumerator, macro, class, struct, ...
    line: int
    end: int  # 0 where ctags does not know it
    scope: str  # as in hearth::agents::Ppo; empty at the top

    @property
    def qualified(self):
        return f"{self.scope}::{self.name}" if self.scope else self.name


def is_there():
    if not shutil.which("ctags"):
        return False
    return "Universal" in subprocess.run(["ctags", "--version"], capture_output=True, text=True, check=False).stdout


def read(root, files):
    """The tags of these files."""
    output = subprocess.run(
        ["ctags", "-f", "-", "-L", "-", "--sort=no", "--language-force=C++", "--kinds-C++=cdefgmnpstuvx",
         "--fields=KZnes"],
        input="\n".join(files), capture_output=True, text=True, check=True, cwd=root).stdout
    found = []
    for line in output.splitlines():
        # name, file, /^text of the line$/;", kind, key:value, ...
        head, separator, fields = line.partition(';"\t')
        name, file = head.split("\t")[:2]
        kind, *values = fields.split("\t") if separator else [""]
        known = dict(value.split(":", 1) for value in values if ":" in value)
        scope = known.get("scope", ":").split(":", 1)[1]
        found.append(Tag(name, file, kind, int(known.get("line", 0)), int(known.get("end", 0)), scope))
    return found
