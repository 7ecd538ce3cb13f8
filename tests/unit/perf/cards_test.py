# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests perf/cards/cards.py: figures of several drivers are read alike, and what got worse is found."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "perf" / "cards"))
import cards  # noqa: E402

ROW = {"compile_s": 0.1, "registers": 100, "spills": 0, "scratch": 0, "waves": 8, "instructions": 1000}


def faults(old=None, reference_s=1.0, **changes):
    return [*cards.faults_of("k", {**ROW, **changes}, {**ROW, **(old or {})}, reference_s, 1.0)]


class Rows(unittest.TestCase):
    def test_drivers_are_read_alike(self):
        for figures in ({"VGPRs": 96, "Spilled VGPRs": 2, "Scratch size": 64, "Subgroups per SIMD": 5, "Instructions": 7},
                        {"Number of GPRs": 96, "Spills to memory": 2, "SLM size": 64, "Max warps/SM": 5,
                         "Instruction count": 7},
                        {"GPRs": 96, "Spills": 2, "Scratch": 64, "Threads": 160, "Instructions": 7}):
            row = cards.row_of({"compile_s": 0.5, "figures": figures})
            self.assertEqual(row, {"compile_s": 0.5, "registers": 96, "spills": 2, "scratch": 64, "waves": 5,
                                   "instructions": 7})

    def test_kernels_of_one_name_are_numbered(self):
        kernel = {"subject": "mlp", "kernel": "k"}
        rows = cards.rows_of({"kernels": [kernel, kernel, {"subject": "mlp", "kernel": "k2"}, kernel]})
        self.assertEqual([*rows], ["mlp/k", "mlp/k#2", "mlp/k2", "mlp/k#3"])


class Faults(unittest.TestCase):
    def test_an_equal_row_has_none(self):
        self.assertEqual(faults(), [])
        self.assertEqual(faults(registers=110, instructions=1100, waves=4), [])

    def test_spills_and_scratch_are_found(self):
        self.assertEqual(faults(spills=1), ["k: spills 1, was 0"])
        self.assertEqual(faults(scratch=16), ["k: scratch 16, was 0"])
        self.assertEqual(faults(old={"spills": 5}, spills=5), [])

    def test_a_larger_tile_is_found(self):
        # As a tile of twice the rows shows itself.
        self.assertEqual(faults(registers=190, instructions=1900, waves=3),
                         ["k: waves 3, was 8", "k: registers 190, was 100", "k: instructions 1900, was 1000"])
        self.assertEqual(faults(old={"waves": 2}, waves=2), [])

    def test_slow_compilation_is_measured_against_the_reference(self):
        self.assertEqual(faults(compile_s=3), ["k: took 3.00 s of CPU to compile, expected at most 2.00"])
        self.assertEqual(faults(compile_s=3, reference_s=2.0), [])

    def test_f16_that_is_slower_than_f32_is_found(self):
        def rows(f16, f32):
            return {"gemm_f16_64/matmul_0": {"cycles": f16}, "gemm_f32_64/matmul_0": {"cycles": f32},
                    "layer_8_f16/matmul_0": {"cycles": f16}, "layer_8/matmul_0": {"cycles": f32},
                    "layer_8_f16/copy": {"cycles": 1000}, "alone_f16/matmul_0": {"cycles": 1000}}
        self.assertEqual([*cards.slow_halves(rows(10, 10))], [])
        self.assertEqual([*cards.slow_halves(rows(11, 10))],
                         ["gemm_f16_64: 11 cycles by the driver's estimate, with f32 10",
                          "layer_8_f16: 11 cycles by the driver's estimate, with f32 10"])

    def test_what_no_longer_compiles_is_found(self):
        self.assertEqual(faults(error="VkResult -3"), ["k: VkResult -3"])
        self.assertEqual(faults(old={"error": "x"}, error="x"), [])


class Drivers(unittest.TestCase):
    """With the drivers themselves: HEARTH_CARDS_ROOT, and HEARTH_CARDS_PROGRAMS with hearth_cards."""

    TILE = "matmul 1024x1024x1024 b1 a f32/k b f32/n fours = vector 256x128x8 of 16x8, 2 stages, 0 threads"

    def cards(self, *arguments):
        root, programs = os.environ.get("HEARTH_CARDS_ROOT"), os.environ.get("HEARTH_CARDS_PROGRAMS")
        if not root or not programs or not (pathlib.Path(programs) / "hearth_cards").exists():
            self.skipTest("HEARTH_CARDS_ROOT or HEARTH_CARDS_PROGRAMS/hearth_cards is missing")
        return subprocess.run([sys.executable, "-B", cards.__file__, "--programs", programs, "--rows", "gemm_f32_1024",
                               *arguments, "radv:vangogh"], capture_output=True, text=True, check=False)

    def test_a_tile_that_is_enlarged_on_purpose_is_found(self):
        shipped = self.cards()
        self.assertEqual(shipped.returncode, 0, shipped.stdout + shipped.stderr)
        enlarged = self.cards("--tile", self.TILE)
        self.assertEqual(enlarged.returncode, 1, enlarged.stdout + enlarged.stderr)
        self.assertRegex(enlarged.stdout, r"gemm_f32_1024/matmul_0: registers \d+, was \d+")


class Page(unittest.TestCase):
    def test_shows_the_records(self):
        page = cards.PAGE.read_text()
        self.assertEqual(page, cards.page_with(cards.section_of_page(), page), "write it with `./dev cards --page`")

    def test_sections_around_it_stay(self):
        section = cards.SECTION + "\n\nnew\n"
        self.assertEqual(cards.page_with(section, "# A\n"), "# A\n\n" + section)
        self.assertEqual(cards.page_with(section, f"# A\n\n{cards.SECTION}\n\nold\n\n## B\n"),
                         f"# A\n\n{section}\n## B\n")


if __name__ == "__main__":
    unittest.main()
