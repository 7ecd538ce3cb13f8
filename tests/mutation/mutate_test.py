# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""mutate.py finds the checks of a source and changes nothing else; tell_skips.py finds the reasons."""

import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "sdk" / "support"))
import mutate  # noqa: E402
import tell_skips  # noqa: E402


def mutants_of(text):
    """The mutants of a source and the source with them in."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "source.cpp"
        path.write_text(text)
        mutants = []
        source = mutate.mutate(path, "sdk/src/x/source.cpp", mutants)
    return mutants, source.split("#line 1\n", 1)[1]


class Mutants(unittest.TestCase):
    def whats(self, text):
        return [m.what for m in mutants_of(text)[0]]

    def test_a_check_is_switched_off_whole_by_conditions_and_by_bounds(self):
        self.assertEqual(self.whats("if (a < b || c) return error();"),
                         ["'<' becomes '<=' in: a < b || c", "without: a < b", "without: c"])
        self.assertEqual(self.whats("if (a && b) return error();"),
                         ["without: a", "without: b", "never: a && b"])
        self.assertEqual(self.whats("if (!ok) {\n    return false;\n}"), ["never: !ok"])
        self.assertEqual(self.whats("HEARTH_TRY(check_shape(s));"), ["never: HEARTH_TRY(check_shape(s))"])

    def test_what_is_declared_in_the_condition_stays(self):
        self.assertEqual(self.whats("if (const auto r = f(); r != OK) return r;"), ["never: r != OK"])
        self.assertEqual(self.whats("if (const auto* p = find()) return p;"), [])

    def test_comments_and_literals_are_no_code(self):
        self.assertEqual(self.whats('// if (a) return b;\nf("if (a) return b;");'), [])
        self.assertEqual(self.whats("if (c == '(') return error();"), ["never: c == '('"])

    def test_what_returns_nothing_is_no_check(self):
        self.assertEqual(self.whats("if (a < b) ++count;"), [])

    def test_lines_and_numbers_tell_where_and_which(self):
        mutants, source = mutants_of("int x;\n\nif (a)\n    return 1;\nif (b > 2) return 2;\n")
        self.assertEqual([(m.id, m.line) for m in mutants], [(1, 3), (2, 5), (3, 5)])
        self.assertEqual(source.count("\n"), 5)
        self.assertEqual(sorted(re.findall(r"is\((\d)\)", source)), ["1", "2", "3"])

    def test_a_sample_is_the_same_after_lines_have_moved(self):
        mutants = [mutate.Mutant("sdk/src/%s/f.cpp" % folder, line, "never: a%d" % line)
                   for folder in ("import/onnx", "compiler/plan") for line in range(50)]
        first = mutate.sample(mutants, 10)
        self.assertEqual([m.path for m in first], ["sdk/src/import/onnx/f.cpp"] * 10 +
                         ["sdk/src/compiler/plan/f.cpp"] * 10)
        for m in mutants:
            m.line += 7
        self.assertEqual(mutate.sample(mutants[::-1], 10)[10:], first[:10])

    def test_without_a_mutant_the_source_means_what_it_did(self):
        text = "if (a < b || (c && d >= e)) return error();\nif (x) HEARTH_TRY(check(y)); else z();\n"
        _, source = mutants_of(text)
        # What remains where no mutant is active.
        plain = re.sub(r"!hearth_mutation::is\(\d+\) && ", "", source)
        while "?" in plain:
            plain = re.sub(r"hearth_mutation::is\(\d+\) \? bool\([^?]*?\) : ", "", plain, count=1)
        plain = re.sub(r"if \(!hearth_mutation::is\(\d+\)\) ", "", plain).replace("bool", "")
        self.assertEqual(re.sub(r"[\s(){}]", "", plain), re.sub(r"[\s(){}]", "", text))


class Skips(unittest.TestCase):
    def test_are_counted_by_the_place_that_skips(self):
        root = xml.etree.ElementTree.fromstring("""<testsuite>
            <testcase name="a" status="notrun"><skipped/><system-out>/x/tests/u/a.cpp:7: Skipped
no device
</system-out></testcase>
            <testcase name="b" status="run"><system-out>/x/tests/u/a.cpp:7: Skipped
no other device

/x/tests/u/b.cpp:3: Skipped
no data
</system-out></testcase>
            <testcase name="c" status="disabled"/>
            <testcase name="d" status="run"><system-out>OK</system-out></testcase></testsuite>""")
        reasons, silent = tell_skips.reasons_of(root)
        self.assertEqual(dict(reasons), {"tests/u/a.cpp:7": [2, "no device"], "tests/u/b.cpp:3": [1, "no data"]})
        self.assertEqual(silent, ["c"])


if __name__ == "__main__":
    unittest.main()
