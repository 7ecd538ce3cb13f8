#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the licences of what is inside a target and was not written here: notices.py BUILD_DIR OUT TARGET...

What is inside is asked of Ninja: the headers that its sources included (templates and inline functions of theirs are
compiled in), and the static libraries that it was linked with.  Each belongs to a Debian package, whose copyright file
is taken whole.  Shared libraries are not inside; those who ship them ship their licences.  What belongs to the compiler
and the C library is left out: GCC's runtime exception and the LGPL ask for nothing here."""

import os
import re
import subprocess
import sys
from pathlib import Path

# The compiler, its libraries, the C library and the kernel's headers.
TOOLCHAIN = re.compile(r"^(lib(std)?c\+\+|libgcc|libc6|linux-libc|gcc-|g\+\+-|clang-|libclang|libstdc\+\+|binutils|mingw-w64)")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def named_archives(command):
    """Static libraries that a link names as -lNAME."""
    archives = set()
    for name in set(re.findall(r" -l(\S+)", command)):
        shared, static = (run("cc", f"-print-file-name=lib{name}.{end}").strip() for end in ("so", "a"))
        if not os.path.isabs(shared) and os.path.isabs(static):
            archives.add(static)
    return archives


def objects_and_archives(build, target):
    """What a target was made of: its object files, and static libraries from outside the build."""
    objects, archives, to_visit, seen = set(), set(), [target], set()
    for path in to_visit:
        if path in seen:
            continue
        seen.add(path)
        text = run("ninja", "-C", build, "-t", "query", path)
        inputs = re.search(r"  input:[^\n]*\n(.*?)(?=^  \w|\Z)", text, re.M | re.S)
        archives |= named_archives(run("ninja", "-C", build, "-t", "commands", "-s", path))
        for line in inputs.group(1).splitlines() if inputs else []:
            name = line.strip()
            if name.startswith("|"):  # "|| name": for the order alone
                if name.startswith("||"):
                    continue
                name = name.lstrip("| ")
            if name.endswith(".o"):
                objects.add(name)
            elif os.path.isabs(name) and name.endswith(".a"):
                archives.add(name)
            elif not os.path.isabs(name):
                to_visit.append(name)
    return objects, archives


def included(build, objects):
    """Files outside of the project that the objects' sources included."""
    files, is_wanted = set(), False
    for line in run("ninja", "-C", build, "-t", "deps").splitlines():
        if line and not line.startswith(" "):
            is_wanted = line.split(": #deps")[0] in objects
        elif is_wanted:
            # ccache with a base_dir names them relative to the build folder.
            path = os.path.abspath(os.path.join(build, line.strip()))
            if path.startswith("/usr/"):
                files.add(path)
    return files


def packages_of(files):
    """The Debian packages that the files belong to."""
    packages = set()
    files = sorted(os.path.realpath(f) for f in files)
    for start in range(0, len(files), 500):
        result = subprocess.run(["dpkg-query", "-S", *files[start:start + 500]], capture_output=True, text=True, check=False)
        packages |= {name.split(":")[0] for line in result.stdout.splitlines() for name in line.split(": ")[0].split(", ")}
        unknown = re.findall(r"no path found matching pattern (.*)", result.stderr)
        if unknown:
            sys.exit(f"notices: no Debian package has {unknown[0]}, so its licence is not known")
    return sorted(p for p in packages if not TOOLCHAIN.match(p))


def main():
    build, out, targets = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    objects, archives = set(), set()
    for target in targets:
        o, a = objects_and_archives(build, target)
        objects, archives = objects | o, archives | a
    if not objects:
        sys.exit(f"notices: no objects found for {' '.join(targets)} in {build}")
    headers = included(build, objects)
    if not headers:
        sys.exit(f"notices: Ninja knows no headers of {' '.join(targets)}: build them first")
    names = packages_of(headers | archives)
    text = [f"Third-party notices for Hearth: {', '.join(targets)}",
            "What others wrote and is compiled in, by the Debian package that it was taken from.  Hearth's own licence is",
            "in LICENSE.  Shared libraries that are needed but not inside come with licences of their own.", ""]
    text += [f"  {name}" for name in names] or ["  (nothing)"]
    for name in names:
        version = run("dpkg-query", "-W", "-f", "${Version}\n", name).splitlines()[0]
        licence = Path("/usr/share/doc", name, "copyright").read_text(encoding="utf-8", errors="replace")
        text += ["", "=" * 100, f"{name} {version}", "=" * 100, "", licence.rstrip()]
    out.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
