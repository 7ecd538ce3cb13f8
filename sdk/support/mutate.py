#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Switches off single checks of the sources, one by one, and tells which of them no test misses.

usage: mutate.py [--list] [--build-only] [--only ID,ID] [--sample N] [--longest S] [--seconds N] [--jobs N] [PATH...]

PATH: files or folders of sdk/src, by default those that read foreign bytes, record and plan (TESTS).
--list only prints the mutants, --sample tries N of each folder, --longest leaves out tests of more than S
seconds, --seconds stops after so long (what is left is reported as not tried).

A check is an `if` whose body returns, or a HEARTH_TRY of a call that checks.  Its mutants: the check never
fails; if it is several conditions joined by || or &&, each of them alone is left out; each < > <= >= in it
takes in one value more or less.

All mutants of a run are compiled at once, into a copy of the tree in out/mutate: each asks whether it is
the one that the environment variable HEARTH_MUTANT names.  A first run of each test with HEARTH_MUTANT_SEEN
records which mutants the test reaches; a mutant is then run against those tests alone, the quickest first,
until one fails, crashes or hangs.  What none notices is a survivor: printed with file and line, and listed in
out/mutate/survivors.txt.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "out" / "mutate"
TREE = OUT / "tree"
BUILD = TREE / "build" / "release"  # as in the checkout, so that ccache knows what has no mutants

# For each folder of sdk/src the test programs that are nearest to it.  hearth_test_replay notices a decision about
# speed: the kernels are others then.
TESTS = {
    "program": ["program_test", "hearth_test_agent_driver", "runtime_test"],
    "device/agents": ["hearth_test_agent_driver", "hearth_test_learners"],
    "device/session": ["runtime_test"],
    "device/vulkan": ["runtime_test"],
    "device/capi": ["runtime_test"],
    "import/onnx": ["io_test"],
    "import/torch": ["weights_test"],
    "import/safetensors": ["weights_test"],
    "import/weights": ["weights_test"],
    "compiler/plan": ["plan_test"],
    "compiler/codegen": ["hearth_test_compile", "hearth_test_replay"],
    "compiler/driver": ["hearth_test_compile"],
    "compiler/fusion": ["hearth_test_compile", "hearth_test_cpu", "hearth_test_replay"],
    "compiler/passes": ["hearth_test_compile", "hearth_test_cpu", "hearth_test_replay"],
    "compiler/ir": ["hearth_test_ir", "hearth_test_replay"],
    "compiler/interpreter": ["hearth_test_cpu"],
    "compiler/autodiff": ["hearth_test_autodiff"],
    "core": ["core_test", "hearth_test_ir", "weights_test", "program_test", "runtime_test"],
}
DEFAULT = ["program", "device/session", "import", "compiler/plan"]

# Of these programs, only tests of this GoogleTest filter.
FILTERS = {"hearth_test_learners": "Driver*:SavedGame*-*TheQueuesOverlap*"}

# The environment of the tests that have a device: both binding models, and just what is required; of agents, the CPU.
HOSTS = {"hearth_test_learners": [{"HEARTH_TEST_DEVICE": "cpu", "XDG_CACHE_HOME": str(OUT / "native_cache")}],
         "runtime_test": [{"HEARTH_TEST_BINDING": "address"}, {"HEARTH_TEST_BINDING": "descriptor"},
                          {"HEARTH_TEST_BINDING": "descriptor", "HEARTH_TEST_FEATURES": "required"}]}

HEADER = """\
// Made by sdk/support/mutate.py.
#pragma once
// Nobody would write such conditions.
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wnull-dereference"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations"
#include <cstdio>
#include <cstdlib>
#include <type_traits>
namespace hearth_mutation {
inline constexpr int kCount = %d;
struct State {
    int active = 0;
    unsigned char seen[kCount + 1] = {};
    State() {
        if (const char* id = std::getenv("HEARTH_MUTANT")) active = std::atoi(id);
    }
    ~State() {
        const char* const path = std::getenv("HEARTH_MUTANT_SEEN");
        std::FILE* const file = path ? std::fopen(path, "a") : nullptr;
        if (!file) return;
        for (int id = 1; id <= kCount; ++id)
            if (seen[id]) std::fprintf(file, "%%d\\n", id);
        std::fclose(file);
    }
};
inline State state;
/// Whether this mutant is the one that is tried.
constexpr bool is(int id) {
    if (std::is_constant_evaluated()) return false;
    state.seen[id] = 1;
    return state.active == id;
}
}  // namespace hearth_mutation
"""


class Mutant:
    def __init__(self, path, line, what):
        self.path, self.line, self.what = path, line, what
        self.id = 0


# --- Sources ---

def blanked(text):
    """The text with comments and the contents of literals as spaces, of the same length."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def closing(text, at):
    """Where the bracket that opens at `at` closes; -1 if it does not."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i
    return -1


def parts(text, first, last, separator):
    """The pieces of [first, last) between `separator` outside of brackets."""
    found, depth, begin, i = [], 0, first, first
    while i < last:
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith(separator, i):
            found.append((begin, i))
            i += len(separator)
            begin = i
            continue
        i += 1
    return found + [(begin, last)]


def guards(code):
    """The conditions, as ranges, of each `if` whose body returns."""
    done = 0
    for match in re.finditer(r"\bif \(", code):
        opening = match.end() - 1
        end = closing(code, opening)
        if end < 0 or not re.match(r"\s*(\{\s*)?(return\b|HEARTH_TRY\b|goto\b)", code[end + 1:end + 80]):
            continue
        begin = parts(code, opening + 1, end, ";")[-1][0]  # behind what is declared
        if begin < done:  # in a condition
            continue
        condition = code[begin:end]
        # A declaration as condition, or a lambda in it, stays as it is.
        if re.search(r"[^=!<>]=[^=]|\breturn\b|\[&\]|\[=\]", condition):
            continue
        done = end
        yield begin, end


def mutate(path, name, mutants):
    """The source with all its mutants; these are appended."""
    text = path.read_text()
    code = blanked(text)
    edits = []  # (begin, end, replacement)

    def add(at, what):
        mutants.append(Mutant(name, code.count("\n", 0, at) + 1, what))
        mutants[-1].id = len(mutants)
        return "hearth_mutation::is(%d)" % len(mutants)

    def shown(begin, end):
        return " ".join(text[begin:end].split())

    for begin, end in guards(code):
        result = "(" + text[begin:end].strip() + ")"
        inner = begin + len(code[begin:end]) - len(code[begin:end].lstrip())
        # Bounds, each within the whole condition.
        for match in re.finditer(r" (<=|>=|<|>) ", code[begin:end]):
            if re.search(r"\btemplate\b|_cast<", code[begin:end][max(0, match.start() - 14):match.start()]):
                continue
            changed = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[match[1]]
            at = begin + match.start(1)
            other = text[begin:at] + changed + text[at + len(match[1]):end]
            result = "(%s ? bool(%s) : bool%s)" % (
                add(at, "'%s' becomes '%s' in: %s" % (match[1], changed, shown(begin, end))),
                other.strip(), result)
        for joint, neutral in (("||", "false"), ("&&", "true")):
            pieces = parts(code, begin, end, joint)
            if len(pieces) < 2:
                continue
            for first, last in pieces:
                other = text[begin:first] + " " + neutral + " " + text[last:end]
                result = "(%s ? bool(%s) : bool%s)" % (
                    add(first + 1, "without: " + shown(first, last)), other.strip(), result)
            break
        if not (len(parts(code, begin, end, "||")) > 1):
            result = "(!%s && bool%s)" % (add(inner, "never: " + shown(begin, end)), result)
        edits.append((begin, end, (" " if text[begin] == " " else "") + result))
    for match in re.finditer(r"\bHEARTH_TRY\((\w*(?:check|valid|verify|expect|limit|count)\w*)\(", code):
        end = closing(code, match.start() + len("HEARTH_TRY"))
        taken = any(begin < end and match.start() < last for begin, last, _ in edits)
        if code[end + 1:end + 2] != ";" or taken:
            continue
        whole = text[match.start():end + 2]
        edits.append((match.start(), end + 2, "{ if (!%s) { %s } }" % (
            add(match.start(), "never: " + shown(match.start(), end + 1)), whole)))

    edits.sort()
    result, at = [], 0
    for begin, end, replacement in edits:
        result += [text[at:begin], replacement]
        at = end
    return '#include "%s"\n#line 1\n' % (OUT / "mutation.hpp") + "".join(result) + text[at:]


def sources_of(paths):
    files = []
    for path in paths:
        path = pathlib.Path(path)
        path = path if path.exists() else ROOT / "sdk" / "src" / path
        if not path.exists():
            sys.exit("mutate: there is no " + str(path))
        path = path.resolve()
        files += [path] if path.is_file() else sorted(
            p for p in path.rglob("*") if p.suffix in (".cpp", ".hpp"))
    return files


def folder_of(name):
    return str(pathlib.PurePosixPath(name).relative_to("sdk/src").parent)


def write_if_changed(path, contents):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != contents:
        path.write_bytes(contents)


def make_tree(files):
    """Copies the repository with the mutants in; returns them."""
    mutants, mutated = [], {}
    for path in files:
        name = str(path.relative_to(ROOT))
        mutated[name] = mutate(path, name, mutants)
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], check=True, capture_output=True).stdout
    for name in listed.decode().split("\0"):
        source = ROOT / name
        if not name or not source.is_file():
            continue
        contents = mutated[name].encode() if name in mutated else source.read_bytes()
        write_if_changed(TREE / name, contents)
        os.chmod(TREE / name, source.stat().st_mode)
    write_if_changed(OUT / "mutation.hpp", (HEADER % len(mutants)).encode())
    return mutants


def build(targets, jobs):
    if not (BUILD / "build.ninja").exists():
        options = ["-D", "CMAKE_CXX_COMPILER_LAUNCHER=ccache"] if which("ccache") else []
        subprocess.run(["cmake", "--preset", "release", *options], cwd=TREE, check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--parallel", str(jobs), "--target", *targets], check=True,
                   stdout=subprocess.DEVNULL)


def which(program):
    return any(os.access(os.path.join(p, program), os.X_OK) for p in os.environ["PATH"].split(":"))


# --- Tests ---

class Test:
    """One test of a program, on one host."""

    def __init__(self, program, host, name):
        self.program, self.host, self.name = program, host, name
        self.seconds, self.reached = 0, set()


def run(program, host, names, environment, limit):
    """Whether these tests pass."""
    command = [BUILD / "bin" / program, "--gtest_brief=1", "--gtest_fail_fast",
               "--gtest_filter=" + ":".join(names)]
    try:
        return subprocess.run(command, env={**os.environ, **host, **environment}, timeout=limit,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, cwd=OUT).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def names_of(program):
    text = subprocess.run([BUILD / "bin" / program, "--gtest_list_tests",
                           "--gtest_filter=" + FILTERS.get(program, "*")], check=True, capture_output=True,
                          text=True).stdout
    names, suite = [], ""
    for line in text.splitlines():
        if line.startswith("  "):
            names.append(suite + line.split("#")[0].strip())
        else:
            suite = line.split("#")[0].strip()
    return [n for n in names if "DISABLED_" not in n]


def sample(mutants, count):
    """So many mutants of each folder: the same ones whenever they are there, wherever their lines are."""
    folders = collections.defaultdict(list)
    for m in mutants:
        folders[folder_of(m.path)].append(m)
    key = lambda m: hashlib.sha256((m.path + m.what).encode()).digest()
    return [m for folder in folders.values() for m in sorted(folder, key=key)[:count]]


def survey(programs, jobs, longest):
    """Runs each test once and records what it reaches; those that fail without a mutant, or take longer, are
    left out."""
    tests = [Test(program, host, name) for program in programs for host in HOSTS.get(program, [{}])
             for name in names_of(program)]

    def look(numbered):
        number, test = numbered
        seen = OUT / ("seen%d" % number)
        seen.unlink(missing_ok=True)
        begin = time.monotonic()
        passes = run(test.program, test.host, [test.name], {"HEARTH_MUTANT_SEEN": str(seen)}, 120)
        test.seconds = time.monotonic() - begin
        if passes and seen.exists():
            test.reached = {int(line) for line in seen.read_text().split()}
        seen.unlink(missing_ok=True)
        return passes

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        passed = list(pool.map(look, enumerate(tests)))
    for test, passes in zip(tests, passed):
        if not passes:
            print("mutate: left out, for it fails as it is: %s %s" % (test.program, test.name))
        elif test.seconds > longest:
            print("mutate: left out, for it takes %.0f s: %s %s" % (test.seconds, test.program, test.name))
    return [test for test in tests if test.reached and test.seconds <= longest]


def is_killed(mutant, tests):
    """Tries the tests that reach the mutant, all of a program at a time."""
    groups = collections.defaultdict(list)
    for test in tests:
        if mutant.id in test.reached:
            groups[test.program, tuple(test.host.items())].append(test)
    ordered = sorted(groups.items(), key=lambda group: sum(t.seconds for t in group[1]))
    for (program, host), group in ordered:
        group.sort(key=lambda t: t.seconds)
        limit = 20 + 10 * sum(t.seconds for t in group)
        if not run(program, dict(host), [t.name for t in group], {"HEARTH_MUTANT": str(mutant.id)}, limit):
            return True
    return False


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--longest", type=float, default=float("inf"))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()

    OUT.mkdir(parents=True, exist_ok=True)
    files = sources_of(options.paths or DEFAULT)
    mutants = make_tree(files)
    if options.list:
        for m in mutants:
            print("%d %s:%d: %s" % (m.id, m.path, m.line, m.what))
        return 0
    programs = sorted({program for f in files
                       for program in TESTS.get(folder_of(str(f.relative_to(ROOT))), [])})
    if not programs or not mutants:
        sys.exit("mutate: no mutants, or no tests are near: see TESTS in " + __file__)
    print("mutate: %d mutants in %d files; building %s" % (len(mutants), len(files), ", ".join(programs)))
    sys.stdout.flush()
    build(programs, options.jobs)
    if options.build_only:
        return 0
    tests = survey(programs, options.jobs, options.longest)
    reached = set().union(*(t.reached for t in tests)) if tests else set()
    chosen = [m for m in mutants if not options.only or str(m.id) in options.only.split(",")]
    if options.sample:
        chosen = sample(chosen, options.sample)
    print("mutate: %d tests reach %d of %d mutants" % (len(tests), len(reached), len(mutants)))
    sys.stdout.flush()

    begin, outcome = time.monotonic(), {}

    def attempt(mutant):
        if time.monotonic() - begin > options.seconds:
            return
        killed = mutant.id in reached and is_killed(mutant, tests)
        outcome[mutant.id] = killed
        if not killed:
            print("%s:%d: survives%s [%d]: %s" % (
                mutant.path, mutant.line, "" if mutant.id in reached else ", for no test comes here",
                mutant.id, mutant.what))
            sys.stdout.flush()

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(attempt, chosen))
    tried, killed = collections.Counter(), collections.Counter()
    for m in chosen:
        if m.id in outcome:
            tried[folder_of(m.path)] += 1
            killed[folder_of(m.path)] += outcome[m.id]
    with open(OUT / "survivors.txt", "w") as file:
        for m in chosen:
            if outcome.get(m.id) is False:
                file.write("%s:%d: %s\n" % (m.path, m.line, m.what))
    json.dump({f: [killed[f], tried[f]] for f in tried}, open(OUT / "score.json", "w"))
    for folder in sorted(tried):
        print("mutate: %s: %d of %d killed (%.0f %%)" % (folder, killed[folder], tried[folder],
                                                         100 * killed[folder] / tried[folder]))
    if len(outcome) < len(chosen):
        print("mutate: %d not tried: out of time" % (len(chosen) - len(outcome)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
