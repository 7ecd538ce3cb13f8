# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Headers and the runtime's sources keep to what a compiler takes that is neither GCC nor Clang: clang reads them in
Microsoft's mode, in which it hides that it is one.

    microsoft_test.py CLANG SDK_FOLDER VULKAN_HEADERS

It cannot show that MSVC takes them: the standard library is this system's, whose headers ask for some of GCC's macros.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

MODE = ["-fsyntax-only", "-fms-compatibility", "-fms-extensions", "-fms-compatibility-version=19.33",
        "-fdelayed-template-parsing", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-missing-field-initializers",
        "-Wno-builtin-macro-redefined",
        "-Wno-literal-range"]  # this system's HUGE_VAL for such compilers
# What libstdc++ takes for granted.
LIBRARY = ["-D__STRICT_ANSI__", "-D__GCC_ATOMIC_TEST_AND_SET_TRUEVAL=1"] + [
    f"-D__GCC_ATOMIC_{kind}_LOCK_FREE=2"
    for kind in "BOOL CHAR CHAR8_T CHAR16_T CHAR32_T WCHAR_T SHORT INT LONG LLONG POINTER".split()]
RUNTIME = ("core", "program", "device")


def main():
    clang, sdk, vulkan = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    include, sources = sdk / "include", sdk / "src"
    options = [*MODE, "-I", include, "-I", sources, "-idirafter", vulkan]
    units = []
    for header in sorted(include.rglob("*.h*")):
        languages = [("c++", "c++20")]
        if header.suffix == ".h":
            languages.append(("c", "c11"))
        if header.name == "hearth_runtime.hpp":
            languages.append(("c++", "c++17"))
        units += [(header, ["-x", language, f"-std={standard}", *(LIBRARY if language == "c++" else []),
                            "-include", str(header), os.devnull]) for language, standard in languages]
    for folder in RUNTIME:
        units += [(file, ["-std=c++20", *LIBRARY, str(file)]) for file in sorted((sources / folder).rglob("*.cpp"))]

    def check(unit):
        return unit[0], subprocess.run([clang, *options, *unit[1]], capture_output=True, text=True, check=False)

    # A mode that does not hide GCC would test nothing.
    hidden = subprocess.run([clang, *MODE, "-x", "c++", "-"], input="#ifdef __GNUC__\n#error GCC\n#endif\n", text=True,
                            check=False)
    wrong = hidden.returncode
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for file, done in pool.map(check, units):
            if done.returncode != 0:
                wrong += 1
                print(f"{file.relative_to(sdk)}:\n{done.stderr}")
    print(f"{len(units)} units, {wrong} wrong")
    return 1 if wrong or len(units) < 50 else 0


sys.exit(main())
