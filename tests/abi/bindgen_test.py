#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A generator of bindings that is not Hearth's finds everything in the C headers: bindgen_test.py REPOSITORY [BINDGEN].

Runs Rust's bindgen and compares constants, functions and sizes of structs with engine_bridge/interface/hearth.json.
Exits with 77 without bindgen (cargo install bindgen-cli)."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path


def main():
    repository = Path(sys.argv[1])
    bindgen = shutil.which(sys.argv[2] if len(sys.argv) > 2 else "bindgen")
    if bindgen is None:
        print("not run: no bindgen (cargo install bindgen-cli)")
        return 77
    source = repository / "sdk/support/workbench/hearth_workbench.h"
    done = subprocess.run([bindgen, "--allowlist-item", "hearth_.*|HEARTH_.*", source, "--",
                           "-DHEARTH_EXPORT_INLINE_FUNCTIONS", f"-I{repository / 'sdk/include'}",
                           "-include", repository / "sdk/include/hearth/hearth_agents.h"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr)
        return 1
    text = done.stdout
    interface = json.loads((repository / "engine_bridge/interface/hearth.json").read_text(encoding="utf-8"))
    values = {name: int(value) for name, value in re.findall(r"pub const (HEARTH_\w+): \w+ = (-?\d+);", text)}
    wrong = [f"constant {c['name']} is {values.get(c['name'], 'missing')}, expected {c['value']}"
             for c in interface["constants"] if values.get(c["name"]) != c["value"]]
    functions = set(re.findall(r"pub fn (hearth_\w+)", text))
    wrong += [f"function {f['name']} is missing" for f in interface["functions"] if f["name"] not in functions]
    sizes = {name: int(size) for name, size in
             re.findall(r'"Size of (hearth_\w+)"\]\s*\[::std::mem::size_of::<hearth_\w+>\(\)\s*-\s*(\d+)usize\]', text)}
    wrong += [f"struct {s['name']} has {sizes.get(s['name'], 'no')} bytes, expected {s['size']}"
              for s in interface["structs"] if sizes.get(s["name"]) != s["size"]]
    for line in wrong:
        print(line)
    print(f"{len(values)} constants, {len(functions)} functions, {len(sizes)} structs found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
