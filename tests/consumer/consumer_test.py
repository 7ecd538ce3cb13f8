#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Configures and builds a project that uses Hearth, and runs what it built:
consumer_test.py TEST SOURCE_DIR BINARY_DIR WORK_DIR C_COMPILER CXX_COMPILER LAUNCHER SANITIZERS."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What an engine sets for all that it builds, Hearth's sources and headers among it.
STRICT_C = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion"]
STRICT_CXX = STRICT_C + ["-Wno-sign-conversion", "-Wold-style-cast", "-Wzero-as-null-pointer-constant",
                         "-Wshadow", "-Wextra-semi", "-Wnon-virtual-dtor"]
STRICT_GCC = ["-Wuseless-cast", "-Wno-restrict", "-Wno-missing-field-initializers"]


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}\n{result.stderr}")
    return result.stdout


class Consumer:
    def __init__(self, name, source, binary, work, c, cxx, launcher, sanitizers):
        self.name, self.source, self.binary, self.work = name, Path(source), Path(binary), Path(work)
        self.c, self.cxx, self.launcher, self.sanitizers = c, cxx, launcher, sanitizers
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)

    def flags(self, strict):
        words = list(strict)
        for sanitizer in filter(None, self.sanitizers.split(";")):
            words.append(f"-fsanitize={sanitizer}")
        return " ".join(words)

    def build(self, project, options, c_flags=(), cxx_flags=None, launch=True):
        folder = self.work / "build"
        settings = [f"-DCMAKE_C_COMPILER={self.c}", f"-DCMAKE_C_FLAGS={self.flags(c_flags)}",
                    "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_BUILD_TYPE=Debug"]
        if cxx_flags is not None:
            settings += [f"-DCMAKE_CXX_COMPILER={self.cxx}", f"-DCMAKE_CXX_FLAGS={self.flags(cxx_flags)}"]
            if self.launcher:
                settings.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={self.launcher}")
        run("cmake", "-G", "Ninja", "-S", HERE / project, "-B", folder, *settings, *options)
        run("cmake", "--build", folder, "--target", "game")
        said = run(folder / "game")
        if not said.startswith("hearth "):
            sys.exit(f"the program said {said!r}, expected Hearth's version")
        return json.loads((folder / "compile_commands.json").read_text())

    def c_only_from_the_folder(self):
        """A C project adds the folder; no flag of ours reaches it, and no warning of ours is an error."""
        commands = self.build("c_game", [f"-DHEARTH_FOLDER={self.source}"], STRICT_C + ["-Werror"], [])
        for command in commands:
            is_ours = str(self.source / "sdk") in command["file"]
            words = command["command"].split()
            if is_ours and "-Werror" in words:
                sys.exit(f"{command['file']} is compiled with -Werror, which the game did not ask for")
            if not is_ours and any(word in words for word in ("-fno-exceptions", "-ffp-contract=off")):
                sys.exit(f"{command['file']} got flags of ours: {command['command']}")

    def engine_with_strict_warnings(self):
        """A C++ engine adds the folder, with warnings as errors for all that it builds."""
        cxx = STRICT_CXX + ["-Werror"]
        if "Free Software Foundation" in run(self.cxx, "--version"):  # GCC's
            cxx += STRICT_GCC
        include = self.source / "sdk/include"
        text = "".join(f"#include <{h.relative_to(include)}>\n" for h in sorted(include.rglob("*.h*")))
        # Macros warn only where they are used.
        header = (include / "hearth/hearth.h").read_text()
        macros = re.findall(r"^#define (HEARTH_\w+) (?=[(\dU])", header, re.M)
        macros = [name for name in macros if f"#undef {name}" not in header]
        if len(macros) < 15:
            sys.exit(f"only {len(macros)} constants found in hearth.h")
        text += "".join(f"inline const auto use_of_{name} = {name};\n" for name in macros)
        (self.work / "all_headers.hpp").write_text(text)
        # The compiler column takes minutes, so it is for nights.
        whole = "ON" if os.environ.get("HEARTH_CONSUMER_WHOLE") else "OFF"
        self.build("engine", [f"-DHEARTH_FOLDER={self.source}", f"-DALL_HEADERS={self.work}",
                              f"-DHEARTH_COMPILER={whole}"], STRICT_C + ["-Werror"], cxx)

    def c_only_installed(self):
        """A C project finds an installed Hearth and links its static library."""
        prefix = self.work / "prefix"
        run("cmake", "--install", self.binary, "--prefix", prefix)
        self.build("c_game", [f"-DCMAKE_PREFIX_PATH={prefix}"], STRICT_C + ["-Werror"])


def main():
    consumer = Consumer(*sys.argv[1:])
    os.environ.pop("DESTDIR", None)
    getattr(consumer, consumer.name)()
    shutil.rmtree(consumer.work, ignore_errors=True)


if __name__ == "__main__":
    main()
