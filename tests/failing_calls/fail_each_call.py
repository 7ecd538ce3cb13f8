# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Runs a program again and again; in each run another Vulkan call fails.

    fail_each_call.py [--with RESULT] [--every N] [--otherwise CODE] LAYER_FOLDER PROGRAM [ARGUMENTS...]

However a call fails, the program ends by itself, without a signal and within a minute: with an error if it cannot do
without.  In the run in which no call is left to fail its exit code is 0, or CODE.  --every N: each N-th call, for
programs with many.
"""

import argparse
import os
import subprocess
import sys

MOST_CALLS = 20000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--with", dest="result", default="-1")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--otherwise", type=int, default=0)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    wrong, errors = [], 0
    for at in range(0, MOST_CALLS, given.every):
        environment = dict(os.environ, VK_ADD_LAYER_PATH=given.folder, HEARTH_FAIL_AT=str(at),
                           VK_INSTANCE_LAYERS="VK_LAYER_HEARTH_failing_calls", HEARTH_FAIL_WITH=given.result,
                           ASAN_OPTIONS="detect_leaks=0")
        try:
            done = subprocess.run(given.program, env=environment, capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            wrong.append(f"call {at}: the program did not end")
            continue
        text = done.stderr.decode(errors="replace")
        failed = [line for line in text.splitlines() if line.startswith("failing_layer:")]
        if not failed:
            if done.returncode != given.otherwise:
                wrong.append(f"without a failing call it ends with {done.returncode}: {text}")
            break
        errors += done.returncode != given.otherwise
        if done.returncode < 0:
            wrong.append(f"{failed[0]}: ended by signal {-done.returncode}")
        elif done.returncode > 0 and len(text.splitlines()) + len(done.stdout.splitlines()) <= len(failed):
            wrong.append(f"{failed[0]}: exit code {done.returncode} without a word")
    else:
        wrong.append(f"more than {MOST_CALLS} calls")
    print(f"{at} calls, each {given.every}. of which failed in turn; {errors} runs ended with an error")
    if errors == 0:
        wrong.append("no failure made a difference: is the layer loaded?")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
