#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Turns a clean checkout into the commit of a release: release.py VERSION [REPOSITORY].

Writes the version in all places(), closes the changelog's "Unreleased", and commits.  `./dev release` then tests, makes the artefacts and sets the tag.  Refuses, changing nothing: a tree that is not
clean, a version that is not newer or has a tag, a changelog with nothing new."""

import datetime
import re
import subprocess
import sys
from pathlib import Path


def git(repository, *arguments):
    return subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True, text=True).stdout


def fail(text):
    sys.exit(f"release: {text}")


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def places(version):
    """Where the version stands: file, pattern of the one match, replacement."""
    major, minor, patch = version.split(".")
    for part, value in (("MAJOR", major), ("MINOR", minor), ("PATCH", patch)):
        yield "sdk/include/hearth/hearth.h", rf"^(#define HEARTH_VERSION_{part}) \d+$", rf"\g<1> {value}"
    for manifest in ("sdk/packaging/vcpkg/hearth/vcpkg.json", "engine_bridge/csharp/package.json"):
        yield manifest, r'^(  "version": )"[^"]*"', rf'\g<1>"{version}"'
    yield "sdk/packaging/xmake/xmake.lua", r'set_version\("[^"]*"\)', f'set_version("{version}")'
    python = "engine_bridge/python/"
    yield python + "pyproject.toml", r'^version = "[^"]*"$', f'version = "{version}"'
    yield python + "hearth/__init__.py", r'^__version__ = "[^"]*"$', f'__version__ = "{version}"'
    rust = "engine_bridge/rust/"
    yield rust + "Cargo.toml", r'^version = "[^"]*"$', f'version = "{version}"'
    for crate in ("hearth", "hearth-derive", "hearth-sys"):
        yield rust + "Cargo.lock", rf'^(name = "{crate}"\nversion = )"[^"]*"$', rf'\g<1>"{version}"'
    engines = rust + "engines/"
    yield engines + "Cargo.toml", r'^version = "[^"]*"$', f'version = "{version}"'
    for crate in ("hearth", "hearth-bevy", "hearth-derive", "hearth-sys", "hearth-wgpu"):
        yield engines + "Cargo.lock", rf'^(name = "{crate}"\nversion = )"[^"]*"$', rf'\g<1>"{version}"'
    for crate in ("hearth", "hearth-wgpu"):
        yield engines + "Cargo.toml", rf'^({crate} = .*, version = )"[^"]*"', rf'\g<1>"{version}"'
    for crate in ("hearth-derive", "hearth-sys"):
        yield rust + "Cargo.toml", rf'^({crate} = .*, version = )"[^"]*"', rf'\g<1>"{version}"'
    # The bindings, which are made from this, compare the library's version with their own.
    packed = int(major) << 22 | int(minor) << 12 | int(patch)
    for name, value in (("_MAJOR", major), ("_MINOR", minor), ("_PATCH", patch), ("", packed)):
        yield ("engine_bridge/interface/hearth.json", rf'^(  {{"name": "HEARTH_VERSION{name}", .*"value": )\d+',
               rf"\g<1>{value}")
    for page in ("docs/how-to/consuming.md", "docs/reference/abi.md"):
        yield page, r"`libhearth_runtime\.so\.\d+\.\d+`", f"`libhearth_runtime.so.{major}.{minor}`"
    for consumer in ("docs/how-to/consuming.md", "tests/consumer/c_game/CMakeLists.txt",
                     "tests/consumer/whole_game/CMakeLists.txt"):
        yield consumer, r"find_package\(([hH]earth) \d+\.\d+ ", rf"find_package(\g<1> {major}.{minor} "


def main():
    version = sys.argv[1]
    repository = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).resolve().parents[2])
    if not re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", version):
        fail(f"'{version}' is no version, expected MAJOR.MINOR.PATCH")
    dirty = git(repository, "status", "--porcelain")
    if dirty:
        fail(f"the tree is not clean:\n{dirty}")
    if git(repository, "tag", "--list", f"v{version}"):
        fail(f"there is a tag v{version} already")
    header = repository / "sdk/include/hearth/hearth.h"
    text = header.read_text(encoding="utf-8")
    now = ".".join(re.search(rf"^#define HEARTH_VERSION_{part} (\d+)$", text, re.M).group(1)
                   for part in ("MAJOR", "MINOR", "PATCH"))
    tags = git(repository, "tag", "--list", "v*")
    if numbers(version) < numbers(now) or (version == now and f"v{now}" in tags.split()):
        fail(f"{version} is not newer than {now}")
    changelog = repository / "CHANGELOG.md"
    log = changelog.read_text(encoding="utf-8")
    unreleased = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", log, re.M | re.S)
    if not unreleased or not re.search(r"^- ", unreleased.group(1), re.M):
        fail("CHANGELOG.md has nothing under [Unreleased]")

    for name, pattern, replacement in places(version):
        path = repository / name
        changed, count = re.subn(pattern, replacement, path.read_text(encoding="utf-8"), flags=re.M)
        if count != 1:
            fail(f"{path} has {count} matches of {pattern}, expected one")
        path.write_text(changed, encoding="utf-8")
    today = datetime.date.today().isoformat()
    changelog.write_text(log.replace("## [Unreleased]\n", f"## [Unreleased]\n\n## [{version}] - {today}\n", 1),
                         encoding="utf-8")
    for generator in sorted((repository / "engine_bridge/interface").glob("bind_*.py")):
        subprocess.run([sys.executable, "-B", generator], check=True)
    git(repository, "add", "--update")
    if git(repository, "status", "--porcelain"):
        git(repository, "commit", "-q", "-m", f"release: Cut version {version}")
    print(f"release: committed version {version} (was {now})")


if __name__ == "__main__":
    main()
