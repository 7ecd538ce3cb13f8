# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The files of a tree, as all checks of this folder see them."""

import argparse
import os
import subprocess
from pathlib import Path

SKIPPED = 77  # the exit status that ctest reads as "skipped"
ROOT = Path(__file__).resolve().parents[3]
NOT_SOURCES = {".git", ".cache", "build", "out", "__pycache__"}


def arguments(description, **options):
    """The parser of a check: --root DIR, and one option for each keyword (name=settings of add_argument)."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="repository root")
    for name, settings in options.items():
        parser.add_argument("--" + name, **settings)
    return parser


def git(root, *words):
    """What git prints, or None if it fails: no git, no checkout."""
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def is_checkout(root):
    top = git(root, "rev-parse", "--show-toplevel")
    return top is not None and Path(top.strip()).resolve() == Path(root).resolve()


def files(root):
    """Sorted paths relative to root: files that git tracks or would add; without git, all but build outputs."""
    if is_checkout(root):
        listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
        return sorted(path for path in set(listed) if path and (root / path).is_file())
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in NOT_SOURCES]
        found += [(Path(folder) / name).relative_to(root).as_posix() for name in names]
    return sorted(found)


def skip(check, reason):
    """Says why a check cannot run, as the tests do (sdk/support/tell_skips.py); returns its exit status."""
    print(f"sdk/support/checks/{check}.py:1: Skipped\n{reason}")
    return SKIPPED


def read(root, path):
    return (root / path).read_text(encoding="utf-8", errors="replace")
