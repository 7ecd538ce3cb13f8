# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The structs of the binding match the headers."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hearth import _library

ROOT = Path(__file__).parents[3]
NAMES = {n: v for n, v in vars(_library).items()
         if isinstance(v, type) and issubclass(v, ctypes.Structure) and n not in ("Structure", "_Tagged")}


def c_name(name):
    return "hearth_" + re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def test_each_struct_has_the_size_and_offsets_of_the_header(tmp_path):
    compiler = shutil.which("cc") or pytest.skip("needs a C compiler")
    lines = []
    for name, struct in NAMES.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({c_name(name)}));')
        for field in [f[0] for base in reversed(struct.__mro__) for f in base.__dict__.get("_fields_", ())]:
            lines.append(f'printf("{name}.{field} %zu\\n", offsetof({c_name(name)}, {field}));')
    source = tmp_path / "sizes.c"
    source.write_text("#include <hearth/hearth_agents.h>\n#include <hearth_workbench.h>\n#include <stdio.h>\n"
                      "int main(void) {\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
    subprocess.run([compiler, "-I", ROOT / "sdk/include", "-I", ROOT / "sdk/support/workbench", source, "-o",
                    tmp_path / "sizes"], check=True)
    printed = subprocess.run([tmp_path / "sizes"], check=True, capture_output=True, text=True).stdout
    assert len(NAMES) >= 18
    for line in printed.splitlines():
        path, number = line.split()
        name, _, field = path.partition(".")
        ours = getattr(NAMES[name], field).offset if field else ctypes.sizeof(NAMES[name])
        assert ours == int(number), path
