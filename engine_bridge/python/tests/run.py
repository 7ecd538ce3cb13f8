# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs a file of tests for ctest: exits with 77, which ctest calls skipped, where packages are absent."""

import importlib.util
import subprocess
import sys

absent = [name for name in ("numpy", "pytest") if importlib.util.find_spec(name) is None]
if absent:
    print(f"skipped: needs the Python package(s) {', '.join(absent)} (./dev python installs them into a venv)")
    sys.exit(77)
run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *sys.argv[1:]])
# 5: no tests collected, because a whole file was skipped; pytest has printed why.
sys.exit(77 if run.returncode == 5 else run.returncode)
