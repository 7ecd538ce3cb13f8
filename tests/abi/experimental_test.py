# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Experimental functions are declared, warned of or hidden, as the host wishes.

    experimental_test.py C_COMPILER CXX_COMPILER INCLUDE_FOLDER
"""

import pathlib
import re
import subprocess
import sys
import tempfile

WARN, HIDE = "-DHEARTH_WARN_EXPERIMENTAL", "-DHEARTH_NO_EXPERIMENTAL"


def main():
    c_compiler, cxx_compiler, include = sys.argv[1:4]
    header = (pathlib.Path(include) / "hearth" / "hearth.h").read_text(encoding="utf-8")
    names = re.findall(r"HEARTH_API HEARTH_EXPERIMENTAL [^;(]*?(hearth_\w+)\s*\(", header)
    if len(names) < 3:
        print("hearth.h has", len(names), "experimental functions")
        return 1
    wrong = []
    with tempfile.TemporaryDirectory() as folder:

        def compiles(compiler, suffix, text, *options):
            path = pathlib.Path(folder) / ("unit" + suffix)
            path.write_text(text, encoding="utf-8")
            done = subprocess.run([compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", include, *options,
                                   str(path)], capture_output=True, text=True, check=False)
            return done.returncode == 0

        def expect(what, is_expected, *arguments):
            if compiles(*arguments) != is_expected:
                wrong.append(f"{what}: expected that it {'compiles' if is_expected else 'does not'}")

        units = {".c": (c_compiler, "#include <hearth/hearth.h>\n", ["-std=c11"]),
                 ".cpp": (cxx_compiler, "#include <hearth/hearth_runtime.hpp>\n", ["-std=c++17"])}
        for suffix, (compiler, include_line, standard) in units.items():
            for option in ([], [WARN], [HIDE]):
                expect(f"the header alone, {suffix} {option}", True, compiler, suffix, include_line, *standard, *option)
            for name in names:
                use = f"{include_line}const void* use(void);\nconst void* use(void) {{ return (const void*)&{name}; }}\n"
                expect(f"{name}, {suffix}", True, compiler, suffix, use, *standard)
                expect(f"{name}, {suffix}, to be warned of", False, compiler, suffix, use, *standard, WARN)
                expect(f"{name}, {suffix}, hidden", False, compiler, suffix, use, *standard, HIDE)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


sys.exit(main())
