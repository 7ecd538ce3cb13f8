#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""perf/compare.py on small files: what it compares, and what it refuses."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPARE = pathlib.Path(__file__).resolve().parents[3] / "perf" / "compare.py"


def row(name, median, mark=""):
    figure = {"median": median, "p10": median, "p90": median}
    return {"name": name, "state": "ok", "clock": {"mark": mark}, "repeated_us": figure, "single_us": figure,
            "record_us": figure, "process_us": figure}


class Compare(unittest.TestCase):
    def compare(self, old, new):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, rows in (("old", old), ("new", new)):
                paths.append(pathlib.Path(folder) / name)
                document = {"program": "hearth_perf", "device": "d", "driver": "d", "rows": rows}
                paths[-1].write_text(json.dumps(document))
            return subprocess.run([sys.executable, COMPARE, *paths], capture_output=True, text=True)

    def test_equal_rows_pass(self):
        self.assertEqual(self.compare([row("a", 5)], [row("a", 5)]).returncode, 0)

    def test_a_slower_row_fails(self):
        done = self.compare([row("a", 5)], [row("a", 6)])
        self.assertEqual(done.returncode, 1)
        self.assertIn("slower or failed: a", done.stdout)

    def test_marked_rows_are_refused_on_either_side(self):
        for old, new in ((row("a", 5, "low clock"), row("a", 5)), (row("a", 5), row("a", 5, "bimodal"))):
            done = self.compare([old], [new])
            self.assertEqual(done.returncode, 1)
            self.assertIn("not compared", done.stdout)
            self.assertNotIn("1.00", done.stdout)


if __name__ == "__main__":
    unittest.main()
