#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Second lists of one thing do not drift apart: lists.py [--root DIR] [--most PYTHON,TRAIN,RANGES,WRAPPERS,OPERATORS].

- Options of learners (learners.hpp) can be set from Python and, for the learners that it has, by `hearth train`; those
  that are numbers have a range (hyperparameters.hpp).
- The C++ wrappers call each function that the C headers declare.
- Operators are matched by name only in compiler/ops, not in passes, code generation or import.

What one list has and another lacks is printed. --most says how many may lack; the defaults are the counts of the day on
which this check was written: lower them with every list that is completed."""

import re
import sys

import tree

LEARNERS = "sdk/include/hearth/agents/learners.hpp"
PYTHON = "sdk/support/workbench/agents_options.cpp"
TRAIN = "demos/train/config.cpp"
RANGES = "sdk/src/model/agents/hyperparameters.hpp"
WRAPPERS = (("sdk/include/hearth/hearth.h", "sdk/include/hearth/hearth_runtime.hpp"),
            ("sdk/include/hearth/hearth_agents.h", "sdk/include/hearth/agents.hpp"))
NO_OPERATOR_NAMES = tuple(f"sdk/src/{folder}/" for folder in (
    "compiler/fusion", "compiler/passes", "compiler/codegen", "compiler/autodiff", "import"))
OPERATOR = re.compile(r'(op->name|op\.name|\bop)\s*(==|!=)\s*("|k[A-Z])|op->name\.substr')
LEARNER = re.compile(r"\bbuild_\w+_graphs\([^;]*?const (\w+)& \w+,\s*uint64_t seed")
MOST = (3, 10, 2, 10, 51)


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def structs_of(header):
    """{struct: [(type, member)]} of the structs of a header that have data members only."""
    found = {}
    for name, body in re.findall(r"^struct (\w+) \{(.*?)^\};", header, re.M | re.S):
        members = []
        for statement in re.sub(r"\{[^{}]*\}|<[^<>]*>", "", body).split(";"):
            without_values = re.sub(r"=[^,]*", "", statement)
            declared = without_values.split()
            if declared and "(" not in statement.partition("=")[0] and declared[0] not in ("using", "static"):
                members += [(declared[0], part.split()[-1]) for part in without_values.split(",")]
        found[name] = members
    return found


def lacking(structs, learners, names, source, every):
    """Options that the source cannot set, of the learners that `names` has. every: one it lacks counts as one."""
    for learner in learners:
        if not re.search(rf"\b{learner}\b", names):
            if every:
                yield f"{learner} (all of it)"
            continue
        pending = [learner]
        while pending:
            owner = pending.pop()
            for kind, member in structs[owner]:
                if kind in structs:
                    pending.append(kind)
                elif member != "n_agents" and not re.search(rf'\(\w+, {member}\)|"{member}"|\.{member}\b', source):
                    yield f"{owner}::{member}"


def options_of_learners(root, structs, learners):
    text = {path: without_comments(tree.read(root, path)) for path in (PYTHON, TRAIN, RANGES)}
    for source, options, every, lacks in ((PYTHON, text[PYTHON] + text[RANGES], True, "Python cannot set"),
                                          (TRAIN, text[TRAIN], False, "hearth train cannot set"),
                                          (RANGES, text[RANGES], True, "there is no range of")):
        missing = sorted(set(lacking(structs, learners, text[source], options, every)))
        yield [f"{lacks} {option} ({source})" for option in missing]


def functions_without_wrapper(root):
    found = []
    for header, wrapper in WRAPPERS:
        functions = re.findall(r"^HEARTH_API\b[^;()]*?\b(\w+)\(", without_comments(tree.read(root, header)), re.M)
        text = without_comments(tree.read(root, wrapper))
        found += [f"{wrapper} does not call {f}" for f in sorted(set(functions)) if not re.search(rf"\b{f}\b", text)]
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
    absent = [path for path in (LEARNERS, PYTHON, TRAIN, RANGES, *sum(WRAPPERS, ())) if not (options.root / path).is_file()]
    if absent:
        print(f"lists: there is no {', '.join(absent)}: name the new place at the head of {__file__}")
        return 1
    header = without_comments(tree.read(options.root, LEARNERS))
    learners = LEARNER.findall(header)
    if not learners:
        print(f"lists: no learner found in {LEARNERS}: name the functions that take one at the head of {__file__}")
        return 1
    found = [*options_of_learners(options.root, structs_of(header), learners)]
    found += [functions_without_wrapper(options.root), operators_by_name(options.root)]
    is_wrong = False
    for name, lines, most in zip(("options in Python", "options of hearth train", "ranges", "wrappers", "operators"), found,
                                 map(int, options.most.split(","))):
        print("".join(f"{line}\n" for line in lines), end="")
        print(f"lists: {name}: {len(lines)} lack, expected at most {most}")
        is_wrong |= len(lines) > most
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
