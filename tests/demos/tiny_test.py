#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The programs of demos/tiny on a Cortex-M4F and a Cortex-M7 of QEMU, beside the same on this machine.

tiny_test.py OUT HEARTH [UNITTEST ARGUMENTS]
  OUT     what demos/tiny/build.sh made
  HEARTH  the tool
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

OUT = pathlib.Path(sys.argv[1]).resolve()
HEARTH = pathlib.Path(sys.argv[2]).resolve()
CASES = pathlib.Path(__file__).resolve().parents[1] / "data/torch/digits"
MACHINES = {"m4": "mps2-an386", "m7": "mps2-an500"}
TRAINED_ON, ASKED = 1437, 40


def digits():
    """Those behind the ones that the network learned from, as read_digits takes them."""
    lines = [line for line in (CASES / "digits.csv").read_text().splitlines() if line and line[0] != "#"]
    return b"".join(bytes(map(int, line.split(","))) for line in lines[TRAINED_ON:TRAINED_ON + ASKED])


def ordered(number):
    """An f32 as a whole number: neighbours are one apart."""
    bits = struct.unpack("<i", struct.pack("<f", number))[0]
    return bits if bits >= 0 else -(bits & 0x7FFFFFFF)


class Tiny(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="hearth_tiny_"))
        self.addCleanup(shutil.rmtree, self.work)

    def run_on(self, where, program, code=0, **files):
        """{what it printed of numbers}, and the folder in which it ran."""
        folder = self.work / where
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            (folder / name.replace("_", ".")).write_bytes(content)
        command = [OUT / where / program]
        if where in MACHINES:
            command = ["qemu-system-arm", "-M", MACHINES[where], "-nographic", "-monitor", "none", "-serial", "none",
                       "-icount", "shift=0", "-semihosting-config", "enable=on,target=native", "-kernel", *command]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, text)
        if code != 0:
            return text, folder
        return re.findall(r"^(.*) (\d+)$", text, re.M), folder

    def tell(self, where, program, said):
        size = subprocess.run(["arm-none-eabi-size", OUT / where / program], capture_output=True, text=True, check=True)
        text, data, bss = map(int, size.stdout.splitlines()[1].split()[:3])
        numbers = ", ".join(f"{name} {number}" for name, number in said if "instr" in name or name == "stack")
        # The most that cortex_m.ld has room for; all of it would mean that it was more.
        self.assertLess(int(dict(said)["stack"]), 8192)
        print(f"\n  {program} on {where}: flash {text + data}, RAM {data + bss} and the stack; {numbers}")
        return text + data, data + bss

    def test_a_policy_goes_on_learning_and_its_brain_has_the_bits_of_this_machine(self):
        _, host = self.run_on("host", "learn_policy")
        expected = (host / "policy.brain").read_bytes()
        for where in MACHINES:
            said, folder = self.run_on(where, "learn_policy")
            falls = [int(number) for name, number in said if name.startswith("falls")]
            self.assertGreater(falls[0], 0, "it learned nothing: it could do it before")
            self.assertEqual(falls[1:], [0, 0])
            self.assertEqual((folder / "policy.brain").read_bytes(), expected, where)
            flash, ram = self.tell(where, "learn_policy", said)
            self.assertLess(flash, 26000)
            self.assertLess(ram, 20000)
        shown = subprocess.run([HEARTH, "brain", "show", folder / "policy.brain"], capture_output=True, text=True)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("policy.0.weight.m", shown.stdout)

    def test_digits_are_read_as_on_this_machine_and_as_pytorch_does(self):
        asked = digits()
        _, host = self.run_on("host", "read_digits", digits_bin=asked)
        count = ASKED * 10
        expected = struct.unpack(f"<{count}f", (host / "scores.bin").read_bytes())
        lines = (CASES / "logits_test.csv").read_text().splitlines()
        pytorch = [float(n) for line in lines if line[0] != "#" for n in line.split(",")][:count]
        for where in MACHINES:
            said, folder = self.run_on(where, "read_digits", digits_bin=asked)
            scores = struct.unpack(f"<{count}f", (folder / "scores.bin").read_bytes())
            # Of gelu's erf the last bits depend on the library of mathematics.
            apart = [abs(a - b) for a, b in zip(scores, expected)]
            self.assertLess(max(apart), 2e-5)
            exact = sum(a == b for a, b in zip(scores, expected))
            far = max(abs(ordered(a) - ordered(b)) for a, b in zip(scores, expected))
            # Weights of 8 bits move scores of -20 to 20 by less than 0.5.
            self.assertLess(max(abs(a - b) for a, b in zip(scores, pytorch)), 0.5)
            for i in range(0, count, 10):
                self.assertEqual(max(range(10), key=lambda d: scores[i + d]), max(range(10), key=lambda d: pytorch[i + d]))
            flash, ram = self.tell(where, "read_digits", said)
            print(f"  of {count} scores {exact} have the bits of this machine; the farthest is {far} floats and "
                  f"{max(apart):.1e} away; PyTorch's f32 are within "
                  f"{max(abs(a - b) for a, b in zip(scores, pytorch)):.2f}")
            self.assertLess(flash, 34000)
            self.assertLess(ram, 36000)

    def test_digits_that_are_missing_are_a_sentence(self):
        for where in MACHINES:
            text, _ = self.run_on(where, "read_digits", code=1)
            self.assertIn("digits.bin: expected digits of 65 bytes, found none", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
