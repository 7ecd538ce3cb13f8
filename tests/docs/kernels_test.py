# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""The kernels of docs/how-to/custom_kernels.md are those of tests/ops/kernel_examples.cpp, which the tests of operators
compile and run, and each is written in at most 30 lines.  Usage: kernels_test.py ROOT"""

import pathlib
import re
import sys

MOST_LINES = 30


def main():
    root = pathlib.Path(sys.argv[1])
    page = (root / "docs/how-to/custom_kernels.md").read_text()
    source = (root / "tests/ops/kernel_examples.cpp").read_text()
    blocks = re.findall(r"```cpp\n(.*?)```", page, re.S)
    faults = [] if len(blocks) == 3 else [f"the page has {len(blocks)} examples, expected 3"]
    for block in blocks:
        name = re.search(r"OpDef (\w+)", block)[1]
        if block not in source:
            faults.append(f"{name} differs from tests/ops/kernel_examples.cpp; copy it from there")
        lines = re.search(r"^    \.kernel = .*?^    },$", block, re.S | re.M)[0].count("\n") + 1
        if lines > MOST_LINES:
            faults.append(f"the kernel of {name} has {lines} lines, expected at most {MOST_LINES}")
    print("\n".join(faults) or f"{len(blocks)} kernels are as tested")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
