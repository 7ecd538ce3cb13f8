#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes the wheel of the Python package from a build: wheel.py BUILD OUT (`./dev wheel`).

One wheel for all versions of Python, as the package is ctypes over libhearth.so.  It carries compiled kernels of default
networks (wheel_kernels.py).  The libraries that this needs beyond
those that every manylinux system has (PEP 600) lie beside it, under names of their own, so that no other package's
library of the same name is taken for them."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "engine_bridge/python"
# Debian 12's C library; of C++'s, the symbols of GCC 12.
TAG = "py3-none-manylinux_2_36_x86_64"
# PEP 600's list, as far as Hearth needs it.
OF_THE_SYSTEM = re.compile(r"^(ld-linux-x86-64|libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+|libz)\.so")


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def needed(library):
    return [name for name in run("patchelf", "--print-needed", library).split() if not OF_THE_SYSTEM.match(name)]


def path_of(library, name):
    found = re.search(rf"^\s*{re.escape(name)} => (\S+)", run("ldd", library), re.M)
    if not found or found[1] == "not":
        sys.exit(f"wheel: {library} needs {name}, which is not installed")
    return Path(found[1])


def carry(library, folder, origin):
    """Copies what the library needs into the folder, and has it look there."""
    run("strip", "--strip-unneeded", library)  # first: it damages what patchelf has moved
    for name in needed(library):
        own = f"libhearth_{name.removeprefix('lib')}"
        target = folder / own
        if not target.exists():
            shutil.copy(path_of(library, name).resolve(), target)
            run("patchelf", "--set-soname", own, target)
            carry(target, folder, "$ORIGIN")
        run("patchelf", "--replace-needed", name, own, library)
    run("patchelf", "--set-rpath", origin, library)


def metadata(project):
    lines = ["Metadata-Version: 2.1", "Name: hearth", f"Version: {project['version']}", f"Summary: {project['description']}",
             f"License: {project['license']['text']}", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {package}" for package in project["dependencies"]]
    for extra, packages in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {package}; extra == '{extra}'" for package in packages]
    text = (PACKAGE / project["readme"]).read_text(encoding="utf-8")
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", text])


def main():
    build, out = Path(sys.argv[1]), Path(sys.argv[2])
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stage = out / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    package, info = stage / "hearth", stage / f"hearth-{project['version']}.dist-info"
    shutil.copytree(PACKAGE / "hearth", package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    (package / "environments").mkdir()
    info.mkdir()
    for library in sorted((build / "lib").glob("libhearth_environment_*.so")):
        carry(shutil.copy(library, package / "environments"), package, "$ORIGIN:$ORIGIN/..")
    carry(shutil.copy(build / "lib/libhearth.so", package), package, "$ORIGIN")
    print(run(sys.executable, "-B", ROOT / "sdk/support/wheel_kernels.py", build, package / "kernels"), end="")
    (info / "METADATA").write_text(metadata(project), encoding="utf-8")
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: hearth\nRoot-Is-Purelib: false\nTag: {TAG}\n")
    for name in ("LICENSE", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy(ROOT / name, info)
    run(sys.executable, "-B", ROOT / "sdk/support/notices.py", build, info / "NOTICES", "hearth_workbench_shared",
        "hearth_environment_classic", "hearth_environment_hatchlings")
    for old in out.glob("*.whl"):
        old.unlink()
    run(sys.executable, "-m", "wheel", "pack", "--dest-dir", out, stage)
    shutil.rmtree(stage)
    for made in out.glob("*.whl"):
        print(f"{made}: {made.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
