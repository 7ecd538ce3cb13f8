# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs a file of tests for ctest; exits with 77 (skipped, for ctest) if packages are missing."""

import importlib.util
import subprocess
import sys

missing = [name for name in ("numpy", "pytest") if importlib.util.find_spec(name) is None]
if missing:
    print(f"skipped: needs the Python package(s) {', '.join(missing)} (./dev python installs them into a venv)")
    sys.exit(77)
run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *sys.argv[1:]])
# 5: no tests collected, because a whole file was skipped; pytest has printed why.
sys.exit(77 if run.returncode == 5 else run.returncode)
