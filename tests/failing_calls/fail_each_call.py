# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Runs a program again and again; in each run another Vulkan call fails.

    fail_each_call.py [--with RESULT] [--of-each N] [--otherwise CODE] LAYER_FOLDER PROGRAM [ARGUMENTS...]

However a call fails, the program ends by itself, without a signal and within a minute: with an error if it cannot do
without.  Without a failing call its exit code is 0, or CODE.  --of-each N: only the first N calls of each function,
for programs with many.
"""

import argparse
import collections
import os
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--with", dest="result", default="-1")
    parser.add_argument("--of-each", type=int, default=0)
    parser.add_argument("--otherwise", type=int, default=0)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    given = parser.parse_args()

    def run(**settings):
        environment = dict(os.environ, VK_ADD_LAYER_PATH=given.folder, ASAN_OPTIONS="detect_leaks=0",
                           VK_INSTANCE_LAYERS="VK_LAYER_HEARTH_failing_calls", **settings)
        done = subprocess.run(given.program, env=environment, capture_output=True, timeout=60, check=False)
        text = done.stderr.decode(errors="replace")
        told = re.findall(r"^failing_layer: call (\d+), (\w+)$", text, re.MULTILINE)
        words = len(text.splitlines()) + len(done.stdout.splitlines()) - len(told)
        return done.returncode, [(int(call), function) for call, function in told], words, text

    code, calls, _, text = run(HEARTH_LIST_CALLS="1")
    if code != given.otherwise:
        print(f"without a failing call it ends with {code}: {text}")
        return 1
    by_function = collections.defaultdict(list)
    for call, function in calls:
        by_function[function].append(call)
    chosen = [call for call, _ in calls]
    if given.of_each:
        chosen = sorted(call for of_one in by_function.values() for call in of_one[:given.of_each])

    wrong, errors = [], 0
    for at in chosen:
        try:
            code, failed, words, text = run(HEARTH_FAIL_AT=str(at), HEARTH_FAIL_WITH=given.result)
        except subprocess.TimeoutExpired:
            wrong.append(f"call {at}: the program did not end")
            continue
        if not failed:  # threads make no two runs the same
            continue
        errors += code != given.otherwise
        if code < 0:
            wrong.append(f"{failed[0]}: ended by signal {-code}")
        elif code > 0 and words <= 0:
            wrong.append(f"{failed[0]}: exit code {code} without a word")
    print(f"{len(calls)} calls of {len(by_function)} functions, {len(chosen)} of which failed in turn; "
          f"{errors} runs ended with an error")
    if errors == 0:
        wrong.append("no failure made a difference: is the layer loaded?")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
