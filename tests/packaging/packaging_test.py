#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks how Hearth is packaged: packaging_test.py TEST REPOSITORY."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PORT = "sdk/packaging/vcpkg/hearth"
PYTHON = "engine_bridge/python"
VERSIONED = ["sdk/include/hearth/hearth.h", "CHANGELOG.md", f"{PORT}/vcpkg.json", "sdk/packaging/xmake/xmake.lua",
             f"{PYTHON}/pyproject.toml", f"{PYTHON}/hearth/__init__.py", f"{PYTHON}/hearth/_interface.py",
             "docs/how-to/consuming.md", "docs/reference/abi.md", "tests/consumer/c_game/CMakeLists.txt",
             "tests/consumer/whole_game/CMakeLists.txt"]
# The files that are made for a version, and what they are made with.
BINDINGS = ["engine_bridge/rust/Cargo.toml", "engine_bridge/rust/Cargo.lock", "engine_bridge/rust/hearth-sys/src/lib.rs",
            "engine_bridge/rust/engines/Cargo.toml", "engine_bridge/rust/engines/Cargo.lock",
            "engine_bridge/csharp/Hearth/Native.cs", "engine_bridge/csharp/package.json", "engine_bridge/luajit/hearth_cdef.lua"]
INTERFACE = "engine_bridge/interface"
# What vcpkg gives a port, as far as this one uses it.
STAND_INS = r"""
function(vcpkg_check_features)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
    set(options "")
    while(arg_FEATURES)
        list(POP_FRONT arg_FEATURES feature variable)
        if(feature IN_LIST FEATURES)
            list(APPEND options -D${variable}=ON)
        else()
            list(APPEND options -D${variable}=OFF)
        endif()
    endwhile()
    set(${arg_OUT_FEATURE_OPTIONS} ${options} PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    execute_process(COMMAND ${CMAKE_COMMAND} -G "Unix Makefiles" -S ${arg_SOURCE_PATH} -B ${CURRENT_BUILDTREES_DIR}
        -DCMAKE_BUILD_TYPE=Release ${arg_OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
macro(step)
    file(APPEND ${CURRENT_BUILDTREES_DIR}/steps.txt "${ARGV}\n")
endmacro()
function(vcpkg_cmake_install)
    step(install)
endfunction()
function(vcpkg_cmake_config_fixup)
    step(config ${ARGV})
endfunction()
function(vcpkg_fixup_pkgconfig)
    step(pkgconfig)
endfunction()
function(vcpkg_copy_tools)
    step(tools ${ARGV})
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    foreach(file IN LISTS arg_FILE_LIST)
        if(NOT EXISTS ${file})
            message(FATAL_ERROR "there is no ${file}")
        endif()
    endforeach()
    step(copyright)
endfunction()
"""


def run(*command, fails=False, cwd=None):
    result = subprocess.run([str(w) for w in command], capture_output=True, text=True, check=False, cwd=cwd)
    if (result.returncode != 0) != fails:
        sys.exit(f"{' '.join(map(str, command))}: {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout + result.stderr


def expect(claim, otherwise):
    if not claim:
        sys.exit(otherwise)


def version_of(repository):
    text = (repository / VERSIONED[0]).read_text(encoding="utf-8")
    return ".".join(re.search(rf"VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


def expect_bindings_version(repository, version):
    """What the packages of other languages say they are, and which headers they were written for."""
    for name, line in ((VERSIONED[4], f'version = "{version}"'), (VERSIONED[5], f'__version__ = "{version}"'),
                       (BINDINGS[0], f'version = "{version}"'), (BINDINGS[1], f'version = "{version}"')):
        expect(f"\n{line}\n" in (repository / name).read_text(encoding="utf-8"), f"{name} has no line {line}")
    text = (repository / VERSIONED[6]).read_text(encoding="utf-8")
    packed = re.search(r"^HEARTH_VERSION = (\w+)", text, re.M).group(1)
    numbers = [int(n) for n in version.split(".")]
    expect(int(packed, 0) == numbers[0] << 22 | numbers[1] << 12 | numbers[2], f"_interface.py has the version {packed}")


def expect_compatible_version(repository, version):
    """The version that consumers ask for, and that of the shared library's name."""
    minor = version.rpartition(".")[0]
    for name in VERSIONED[7:]:
        text = (repository / name).read_text(encoding="utf-8")
        named = re.findall(r"find_package\([hH]earth (\d+\.\d+) |libhearth_runtime\.so\.(\d+\.\d+)", text)
        expect(named and {a or b for a, b in named} == {minor}, f"{name} names {named}, expected {minor}")


def versions(repository, _):
    """One version, in all places."""
    version = version_of(repository)
    expect_compatible_version(repository, version)
    expect(json.loads((repository / VERSIONED[2]).read_text())["version"] == version, "vcpkg.json has another version")
    expect(f'set_version("{version}")' in (repository / VERSIONED[3]).read_text(), "xmake.lua has another version")
    expect_bindings_version(repository, version)
    cmake = (repository / "CMakeLists.txt").read_text()
    switches = set(re.findall(r"^option\((HEARTH_\w+)", cmake, re.M))
    for file in (repository / VERSIONED[3], repository / PORT / "portfile.cmake"):
        used = set(re.findall(r"(?:-D|\b)(HEARTH_[A-Z]+)\b", file.read_text()))
        expect(used and used <= switches, f"{file} uses {used - switches}, which is no switch")
    page = (repository / "docs/how-to/consuming.md").read_text()
    told = set(re.findall(r"`(HEARTH_[A-Z_]+)`", page))
    expect(switches - {"HEARTH_FUZZ"} <= told, f"docs/how-to/consuming.md does not tell of {switches - told}")


def release(repository, folder):
    """release.py writes the version everywhere and commits; refuses what is wrong, and changes nothing then."""
    for name in VERSIONED + BINDINGS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / name, folder / name)
    shutil.copytree(repository / INTERFACE, folder / INTERFACE, ignore=shutil.ignore_patterns("__pycache__"))
    # Right after a release, when `./dev release` runs this, nothing is unreleased yet.
    log = folder / "CHANGELOG.md"
    log.write_text(log.read_text(encoding="utf-8").replace("## [Unreleased]\n", "## [Unreleased]\n\n- News.\n", 1),
                   encoding="utf-8")
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    run("git", "init", "-q", cwd=folder)
    run("git", "config", "user.name", "Test", cwd=folder)
    run("git", "config", "user.email", "test@example.com", cwd=folder)
    run("git", "add", "-A", cwd=folder)
    run("git", *identity, "commit", "-q", "-m", "start", cwd=folder)
    start, now = run("git", "rev-parse", "HEAD", cwd=folder), version_of(folder)
    make = [sys.executable, "-B", repository / "sdk/support/release.py"]

    def refused(version, because):
        said = run(*make, version, folder, fails=True)
        expect(because in said, f"{version}: expected '{because}', found '{said}'")
        expect(run("git", "rev-parse", "HEAD", cwd=folder) == start, f"{version} was refused and committed")

    refused("1.0", "expected MAJOR.MINOR.PATCH")
    refused("0.0.9", f"is not newer than {now}")
    (folder / "scratch.txt").write_text("not committed")
    refused("7.8.9", "the tree is not clean")
    (folder / "scratch.txt").unlink()
    run("git", "tag", "v7.8.9", cwd=folder)
    refused("7.8.9", "there is a tag v7.8.9")
    run("git", "tag", "-d", "v7.8.9", cwd=folder)

    run(*make, "7.8.9", folder)
    expect(version_of(folder) == "7.8.9", f"the header says {version_of(folder)}")
    expect(json.loads((folder / VERSIONED[2]).read_text())["version"] == "7.8.9", "vcpkg.json was not changed")
    expect('set_version("7.8.9")' in (folder / VERSIONED[3]).read_text(), "xmake.lua was not changed")
    expect_bindings_version(folder, "7.8.9")
    expect_compatible_version(folder, "7.8.9")
    expect(re.search(r"^## \[Unreleased\]\n\n## \[7\.8\.9\] - \d{4}-\d\d-\d\d$", (folder / "CHANGELOG.md").read_text(), re.M),
           "the changelog has no such version")
    expect(run("git", "log", "-1", "--format=%s", cwd=folder).strip() == "release: Cut version 7.8.9", "not committed")
    start = run("git", "rev-parse", "HEAD", cwd=folder)
    refused("7.9.0", "nothing under [Unreleased]")


def vcpkg_port(repository, folder):
    """The port configures for each set of features; what it installs and where is what CMake's rules say."""
    manifest = json.loads((repository / PORT / "vcpkg.json").read_text())
    expect(set(manifest["features"]) == {"compiler", "import", "tool"}, f"features are {manifest['features'].keys()}")
    for features in ("", "compiler", "compiler;import", "compiler;import;tool"):
        build = folder / (features.replace(";", "_") or "runtime")
        build.mkdir()
        script = build / "port.cmake"
        script.write_text(f"cmake_minimum_required(VERSION 3.25)\nset(FEATURES \"{features}\")\nset(CURRENT_BUILDTREES_DIR {build}/tree)\n"
                          f"set(CURRENT_PACKAGES_DIR {build}/packages)\n{STAND_INS}\n"
                          f"include({repository / PORT / 'portfile.cmake'})\n")
        run("cmake", "-P", script)
        steps = (build / "tree/steps.txt").read_text()
        expect("config;PACKAGE_NAME;hearth;CONFIG_PATH;lib/cmake/hearth" in steps, steps)
        expect(("tools;TOOL_NAMES;hearth" in steps) == ("tool" in features), steps)
        rules = "".join(p.read_text() for p in (build / "tree/sdk").rglob("cmake_install.cmake"))
        for part in ("compiler", "import", "tool"):
            expect((f"hearth-{part}.cmake" in rules) == (part in features.split(";")), f"'{features}' installs {part}")


def main():
    test, repository = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        {"release": release, "vcpkg_port": vcpkg_port, "versions": versions}[test](repository, Path(folder))


if __name__ == "__main__":
    main()
