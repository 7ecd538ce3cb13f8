# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""The programs of docs/how-to/regression_and_memory.md are those of demos/hello_learners, which the tests compile and
run.  Usage: programs_test.py ROOT"""

import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    blocks = re.findall(r"```cpp\n(.*?)```", (root / "docs/how-to/regression_and_memory.md").read_text(), re.S)
    names = ("regression.cpp", "memory.cpp")
    faults = [] if len(blocks) == len(names) else [f"the page has {len(blocks)} programs, expected {len(names)}"]
    for name, block in zip(names, blocks):
        licence, program = (root / "demos/hello_learners" / name).read_text().split("\n\n", 1)
        if block != program:
            faults.append(f"the page's program differs from demos/hello_learners/{name}; copy it from there")
    print("\n".join(faults) or f"{len(blocks)} programs are as tested")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
