#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Compares docs/reference/embedding.md with the tests: embedding_test.py REPOSITORY.

Every rule is there once and in order; the tests that it names exist; one that is said to hold names
tests, and one that holds in part says what is missing.
"""

import pathlib
import re
import sys

RULES = {"A": 6, "B": 4, "C": 5, "D": 7, "E": 7, "F": 6, "G": 8, "H": 7, "I": 3, "J": 4, "K": 5,
         "L": 2, "M": 7, "N": 3, "O": 2, "P": 2}


def tests_of(repository):
    """Names of GoogleTest's and CTest's tests."""
    names = set()
    for path in (repository / "tests").rglob("*.cpp"):
        for suite, name in re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)",
                                      path.read_text(encoding="utf-8"), re.M):
            names.add(f"{suite}.{name}")
    for path in (repository / "tests").rglob("CMakeLists.txt"):
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r"add_test\(NAME ([\w.]+)", text))
        names |= {f"fuzz.{name}" for name in re.findall(r"^\s*hearth_fuzz\((\w+)", text, re.M)}
        for values, prefix in re.findall(
                r"foreach\(test ([^)]*)\)\s*add_test\(NAME (\w+)\.\$\{test\}", text):
            names |= {f"{prefix}.{value}" for value in values.split()}
    return names


def problems(page, known):
    expected = [f"{group}{i + 1}" for group, count in RULES.items() for i in range(count)]
    found = []
    # "- **A1** holds: the rule. Tests: `Suite.Name`, ... Missing: what is."
    for item in re.findall(r"^- (.*(?:\n  .*)*)", page, re.M):
        rule, state = re.match(r"\*\*(\w+)\*\* ([a-z ]+): ", item).groups()
        tests = re.search(r"\sTests:\s([^.]|\.\w)*\.", item)
        remark = re.search(r"\s(Missing|Why):\s", item)
        found.append(rule)
        named = re.findall(r"`([^`]+)`", tests.group()) if tests else []
        for test in named:
            if test not in known:
                yield f"{rule}: there is no test {test}"
        if state not in ("holds", "in part", "open", "not here"):
            yield f"{rule}: unknown state '{state}'"
        if state in ("holds", "in part") and not named:
            yield f"{rule}: '{state}' without a test"
        if state in ("in part", "not here") and not remark:
            yield f"{rule}: '{state}' without a reason"
    if found != expected:
        yield f"rules are {' '.join(found)}, expected {' '.join(expected)}"


def main():
    repository = pathlib.Path(sys.argv[1])
    known = tests_of(repository)
    if len(known) < 1000:
        print(f"only {len(known)} tests found under {repository}")
        return 1
    page = (repository / "docs/reference/embedding.md").read_text(encoding="utf-8")
    wrong = list(problems(page, known))
    for problem in wrong:
        print("docs/reference/embedding.md:", problem)
    # The check itself: a page with a wrong name or without a rule is not accepted.
    for broken in (page.replace("`abi.c_host`", "`abi.c_hosts`"), page.replace("**P2**", "**P3**"),
                   page.replace("**E3** open", "**E3** done"),
                   page.replace("**E3** open", "**E3** holds")):
        if not list(problems(broken, known)):
            print("a broken page was accepted")
            return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
