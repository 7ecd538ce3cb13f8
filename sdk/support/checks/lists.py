#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Second lists of one thing do not drift apart: lists.py [--root DIR] [--most LEARNERS,WRAPPERS,OPERATORS].

- Each learner that learners.hpp declares is in the list of all learners.  (Their hyperparameters have one list, the
  records, which the compiler holds against the structs.)
- The C++ wrappers call each function that the C headers declare.
- Operators are matched by name in compiler/ops, hardly in passes, code generation or import.

What one list has and another lacks is printed. --most says how many may lack; the defaults are the counts of the day on
which this check was written: lower them with every list that is completed."""

import re
import sys

import tree

LEARNERS = "sdk/include/hearth/agents/learners.hpp"
LEARNER_LIST = "sdk/src/model/agents/learner_def.cpp"
WRAPPERS = (("sdk/include/hearth/hearth.h", "sdk/include/hearth/hearth_runtime.hpp"),
            ("sdk/include/hearth/hearth_agents.h", "sdk/include/hearth/agents.hpp", "sdk/include/hearth/agents/demo.hpp"))
NO_OPERATOR_NAMES = tuple(f"sdk/src/{folder}/" for folder in (
    "compiler/fusion", "compiler/passes", "compiler/codegen", "compiler/autodiff", "import"))
OPERATOR = re.compile(r'(op->name|op\.name|\bop)\s*(==|!=)\s*("|k[A-Z])|op->name\.substr')
LEARNER = re.compile(r"\blearner_def<(\w+)>")
# Operators by name: OpTraits (hearth/op/op_def.hpp) say what passes ask for.  What is left, and why:
# - fragments.cpp and onnx_export_groups.cpp, `add`: a pattern of two operators, of which this is one.
# - onnx_export_groups.cpp, `extent`: the pattern that divides by a count of rows.
# - onnx_export.cpp, `normalize` and `attention`: the choice between an ONNX operator and a decomposition.
MOST = (0, 0, 5)


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def unlisted_learners(root):
    declared, listed = (LEARNER.findall(without_comments(tree.read(root, path))) for path in (LEARNERS, LEARNER_LIST))
    return [f"{LEARNER_LIST} does not list {name}" for name in sorted({*declared} - {*listed, "Learner"})]


def functions_without_wrapper(root):
    found = []
    for header, *wrappers in WRAPPERS:
        functions = re.findall(r"^HEARTH_API\b[^;()]*?\b(\w+)\(", without_comments(tree.read(root, header)), re.M)
        text = "".join(without_comments(tree.read(root, wrapper)) for wrapper in wrappers)
        found += [f"{wrappers[0]} does not call {f}" for f in sorted(set(functions)) if not re.search(rf"\b{f}\b", text)]
    return found


def operators_by_name(root):
    found = []
    for path in tree.files(root):
        if path.startswith(NO_OPERATOR_NAMES):
            lines = enumerate(tree.read(root, path).splitlines(), 1)
            found += [f"{path}:{n}: matches an operator by name" for n, line in lines if OPERATOR.search(line)]
    return found


def main(argv=None):
    settings = {"default": ",".join(map(str, MOST)), "help": "how many may lack"}
    options = tree.arguments(__doc__, most=settings).parse_args(argv)
    absent = [path for path in (LEARNERS, LEARNER_LIST, *sum(WRAPPERS, ())) if not (options.root / path).is_file()]
    if absent:
        print(f"lists: there is no {', '.join(absent)}: name the new place at the head of {__file__}")
        return 1
    if not LEARNER.search(without_comments(tree.read(options.root, LEARNERS))):
        print(f"lists: no learner found in {LEARNERS}: name what declares one at the head of {__file__}")
        return 1
    found = [unlisted_learners(options.root), functions_without_wrapper(options.root), operators_by_name(options.root)]
    is_wrong = False
    for name, lines, most in zip(("learners", "wrappers", "operators"), found, map(int, options.most.split(","))):
        print("".join(f"{line}\n" for line in lines), end="")
        print(f"lists: {name}: {len(lines)} lack, expected at most {most}")
        is_wrong |= len(lines) > most
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
