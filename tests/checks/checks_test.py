#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each check of sdk/support/checks passes on a small sound tree and finds the fault that is seeded into it; the
dispatcher `dev` finds its scripts and enables the hooks."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "sdk/support/checks"))
import claims  # noqa: E402
import comments  # noqa: E402
import functions  # noqa: E402
import lists  # noqa: E402
import renames  # noqa: E402
import subjects  # noqa: E402
import tags  # noqa: E402
import tree  # noqa: E402

NEEDS_CTAGS = unittest.skipUnless(tags.is_there(), tags.MISSING)


class CheckTest(unittest.TestCase):
    """A temporary tree, and a check that runs on it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def check(self, check, *arguments):
        """(exit status, output) of a check."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = check.main(["--root", str(self.root), *arguments])
        return status, printed.getvalue()

    def assert_passes(self, check, *arguments):
        status, printed = self.check(check, *arguments)
        self.assertEqual(status, 0, printed)
        return printed

    def assert_finds(self, check, what, *arguments):
        status, printed = self.check(check, *arguments)
        self.assertEqual(status, 1, printed)
        self.assertIn(what, printed)


class Comments(CheckTest):
    PLAIN = "// Returns the offset of a block in bytes.\nint f();\n\n"

    def test_a_few_riddles_pass_and_many_fail(self):
        self.write("sdk/src/core/a.cpp", self.PLAIN * 50 + "// What reads of numbers are.\n")
        self.assert_passes(comments)
        self.write("sdk/src/core/a.cpp", self.PLAIN * 50 + "// What reads of numbers are.\nint g();\n" * 2)
        self.assert_finds(comments, "sdk/src/core: 2 of 52", "--list")

    def test_a_folder_above_the_bar_fails_in_a_large_tree_that_is_below(self):
        self.write("sdk/src/core/a.cpp", self.PLAIN * 500)
        self.assert_passes(comments)
        self.write("demos/host/a.cpp", "// Whether a block is free or not.\nint g();\n" * 2)
        self.assert_finds(comments, "demos/host: 2 of 2, 100.0% (above)")

    def test_each_kind_of_comment_counts(self):
        for text in ("// Of all blocks the last one.\n", "/// How an index moves with its element.\n",
                     "/* The same of a bound that is a number. */\n", "/**\n * Which of them is read first.\n */\n",
                     "int f();  ///< Where blocks of memory lie.\n"):
            self.assertTrue(comments.RIDDLE.match(comments.blocks(text)[0][1]), text)

    def test_code_strings_labels_and_later_lines_do_not_count(self):
        for text in ('const char* a = "// What is in a string is not a comment";\n', "#include <a>\n",
                     "// Offsets are in bytes, of\n// What was allocated.\n", "// What?\n", "}  // namespace Of::all\n",
                     "// Which is this thing?\n"):
            self.assertFalse([t for _, t in comments.blocks(text) if comments.RIDDLE.match(t)], text)

    def test_generators_of_code_are_exempt(self):
        self.write("sdk/src/core/a.cpp", self.PLAIN)
        self.write("sdk/src/compiler/codegen/a.cpp", "// What reads of numbers are.\n\n" * 9)
        self.assert_passes(comments)

    def test_a_tree_without_comments_is_a_fault(self):
        self.assert_finds(comments, "no comments found")


class Subjects(CheckTest):
    def git(self, *words):
        subprocess.run(["git", "-C", str(self.root), "-c", "user.name=Test", "-c", "user.email=test@example.com",
                        "-c", "core.hooksPath=/nowhere", *words], check=True, capture_output=True)

    def history(self, *messages):
        self.git("init", "-q")
        for message in ("start", *messages):
            self.git("commit", "-q", "--allow-empty", "-m", message)
        self.git("tag", "start", f"HEAD~{len(messages)}")

    def message(self, text):
        self.write("message", text)
        return self.check(subjects, "--message", str(self.root / "message"))

    def assert_refuses(self, text, what):
        status, printed = self.message(text)
        self.assertEqual(status, 1, text)
        self.assertIn(what, printed)

    def test_good_messages_pass(self):
        for text in ("plan: Let in-place ops reuse their input's bytes\n\nWhy.\n", "# a comment\n\ndocs: Add a page\n",
                     "ops, tests: Reorder\n", "sdk/core: De-duplicate hashes\n", 'Revert "docs: What is"\n',
                     "Merge branch 'a'\n", "fixup! docs: What is\n", "\n"):
            status, printed = self.message(text)
            self.assertEqual(status, 0, printed)

    def test_bad_messages_are_refused_with_what_to_do(self):
        self.assert_refuses("docs: What the suite takes\n", "expected a verb in the imperative first")
        self.assert_refuses("codegen: Terms are parted\n", "found 'Terms'")
        self.assert_refuses("docs: Adds a page\n", "found 'Adds'")
        self.assert_refuses("Add a page\n", "found no area")
        self.assert_refuses(f"docs: Add {'x' * 63}\n", "expected at most 72 columns, found 73")

    def test_the_hook_refuses_a_commit_and_lets_a_good_one_pass(self):
        self.git("init", "-q")
        for message, status in (("docs: What the suite takes", 1), ("docs: Measure the suite", 0)):
            done = subprocess.run(
                ["git", "-C", str(self.root), "-c", "user.name=Test", "-c", "user.email=test@example.com",
                 "-c", f"core.hooksPath={ROOT / '.githooks'}", "commit", "-q", "--allow-empty", "-m", message],
                capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, status, done.stderr)

    def test_one_long_subject_in_the_history_fails(self):
        self.history("docs: Add a page", f"docs: Add {'x' * 63}")
        self.assert_finds(subjects, "expected at most 72 columns, found 73", "--since", "start")

    def test_nine_in_ten_are_imperative(self):
        self.history(*["docs: Add a page"] * 9, "docs: What the suite takes", "Revert \"docs: What\"")
        self.assert_passes(subjects, "--since", "start")
        self.git("commit", "-q", "--allow-empty", "-m", "docs: The suite")
        self.assert_finds(subjects, "found 'The'", "--since", "start")

    def test_without_the_history_it_is_skipped_with_a_reason(self):
        status, printed = self.check(subjects)
        self.assertEqual(status, tree.SKIPPED)
        self.assertIn("is not a git checkout", printed)
        self.history("docs: Add a page")
        status, printed = self.check(subjects, "--since", "a" * 40)
        self.assertEqual(status, tree.SKIPPED)
        self.assertIn("does not descend from", printed)


class Claims(CheckTest):
    def setUp(self):
        super().setUp()
        self.write("sdk/support/dev/test.sh", "# test: Test.\n")
        self.write("sdk/support/dev/mutate.sh", "# mutate: Mutate.\n")
        self.write("sdk/src/core/hash.hpp",
                   "// See core/hash.cpp.\nint hearth_hash();\nclass RowHash {\n    int bits;\n};\n")
        self.write("sdk/src/core/hash.cpp", "// Nothing.\n")
        self.write("docs/README.md", "[a](reference/a.md) [1](design/0001-one.md)\n")
        self.write("docs/reference/a.md", "")
        self.write("docs/design/0001-one.md", "")

    def test_true_claims_pass(self):
        self.write("docs/reference/a.md", """
            `sdk/src/core/hash.cpp`, `core/hash.hpp`, `sdk/src/core/`, `sdk/src/core/*.hpp`, `hash.cpp`,
            `core/NAME.cpp`, `hearth_hash()`, `hearth_*`, `RowHash`, `RowHash::bits`, `VkDevice`, `./dev test`,
            `./dev mutate --sample 5 core`

            <!-- from sdk/src/core/hash.cpp -->
            """.replace("    ", "") + "```cpp\n//   Nothing.\n```\n")
        self.assert_passes(claims)

    def test_each_false_claim_is_found(self):
        for text, what in (
                ("`sdk/src/core/hash.c`", "names sdk/src/core/hash.c, which does not exist"),
                ("`core/crash.hpp`", "names core/crash.hpp, which does not exist"),
                ("`sdk/src/crash/`", "names sdk/src/crash, which does not exist"),
                ("`crash.cpp`", "names crash.cpp; no file has that name"),
                ("`hearth_crash()`", "names hearth_crash; no source has that symbol"),
                ("in prose HEARTH_CRASH", "names HEARTH_CRASH; no source has that symbol"),
                ("`hearth_cra*`", "names hearth_cra; no source has that symbol"),
                ("`RowCrash`", "names RowCrash; no source has that symbol"),
                ("`RowHash::width`", "names RowHash::width; no source has all of it"),
                ("`hearth::crash`", "names hearth::crash; no source has all of it"),
                ("run ./dev crash", "there is no ./dev crash"),
                ("`./dev mutate crash`", "there is no sdk/src/crash"),
                ("<!-- from sdk/src/core/hash.cpp -->\n```cpp\nint other;\n```\n", "the block below is not in"),
                ("<!-- from sdk/crash.cpp -->\n```cpp\nint other;\n```\n", "quotes sdk/crash.cpp, which does not")):
            with self.subTest(text):
                self.write("docs/reference/a.md", f"\n{text}\n")
                self.assert_finds(claims, what)
                self.assertIn("docs/reference/a.md:2: ", self.check(claims)[1])

    def test_comments_name_files_that_exist(self):
        self.write("sdk/src/core/hash.cpp", "\nint f();  // see core/crash.hpp\n")
        self.assert_finds(claims, "sdk/src/core/hash.cpp:2: names core/crash.hpp, which does not exist")
        self.write("sdk/src/core/hash.cpp", "// see docs/reference/crash.md.\n")
        self.assert_finds(claims, "names docs/reference/crash.md, which does not exist")

    def test_pages_are_listed_and_decisions_linked_and_numbered(self):
        self.write("docs/reference/b.md", "")
        self.assert_finds(claims, "docs/README.md: does not link reference/b.md")
        self.write("docs/design/0001-two.md", "")
        self.assert_finds(claims, "docs/design: 2 decisions have the number 0001")
        self.assert_finds(claims, "docs/design/0001-two.md: no page links it")

    def test_pages_agree_on_numbers(self):
        self.write("docs/reference/a.md", "the 438 calls of two frames")
        self.assert_passes(claims)
        self.write("docs/README.md", "[a](reference/a.md) [1](design/0001-one.md) each of 439 calls of\ntwo frames")
        self.assert_finds(claims, "pages disagree on the calls of two frames")


@NEEDS_CTAGS
class Functions(CheckTest):
    def test_long_functions_are_listed_and_limited(self):
        body = "    f();\n" * 98
        self.write("sdk/src/core/a.cpp", f"int f() {{\n{body}}}\nint g() {{\n    f();\n{body}}}\n")
        printed = self.assert_passes(functions, "--most", "1")
        self.assertIn("sdk/src/core/a.cpp:101: g has 101 lines", printed)
        self.assert_finds(functions, "1 of 2 have over 100 lines, expected at most 0", "--most", "0")

    def test_raw_strings_do_not_count(self):
        self.write("sdk/src/core/a.cpp", 'const char* f() {\n    return R"(' + "text\n" * 200 + ')";\n}\n')
        self.assert_passes(functions, "--most", "0")

    def test_a_tree_without_functions_is_a_fault(self):
        self.assert_finds(functions, "no functions found")


class Lists(CheckTest):
    def setUp(self):
        super().setUp()
        self.write(lists.LEARNERS, """
template <class Learner>
const LearnerDef& learner_def() = delete;
template <>
const LearnerDef& learner_def<Ppo>();
template <>
const LearnerDef& learner_def<Dqn>();
""")
        self.write(lists.LEARNER_LIST, "all[] = {&learner_def<Ppo>(), &learner_def<Dqn>()};")
        for header, *wrappers in lists.WRAPPERS:
            self.write(header, "HEARTH_API hearth_result hearth_run(int x,\n    int y);\n/* HEARTH_API int old(); */\n")
            for wrapper in wrappers:
                self.write(wrapper, "void run() { hearth_run(1, 2); }")
        self.write("sdk/src/import/a.cpp", 'return op->name == other;\n')

    def assert_lacks(self, what):
        self.assert_finds(lists, what, "--most", "0,0,0")

    def test_equal_lists_pass(self):
        self.assert_passes(lists, "--most", "0,0,0")

    def test_a_learner_that_is_not_listed_is_found(self):
        self.write(lists.LEARNER_LIST, "all[] = {&learner_def<Ppo>()};")
        self.assert_lacks(f"{lists.LEARNER_LIST} does not list Dqn")

    def test_a_header_without_learners_is_a_fault(self):
        self.write(lists.LEARNERS, "struct Ppo {\n    double clip = 0.2;\n};\n")
        self.assert_finds(lists, "no learner found")

    def test_a_function_without_wrapper_is_found(self):
        self.write(lists.WRAPPERS[0][1], "// hearth_run")
        self.assert_lacks(f"{lists.WRAPPERS[0][1]} does not call hearth_run")

    def test_an_operator_matched_by_name_is_found(self):
        self.write("sdk/src/import/a.cpp", 'if (op->name == "add") return;\n')
        self.assert_lacks("sdk/src/import/a.cpp:1: matches an operator by name")

    def test_a_list_that_moved_is_a_fault(self):
        (self.root / lists.LEARNER_LIST).unlink()
        self.assert_finds(lists, f"there is no {lists.LEARNER_LIST}")


@NEEDS_CTAGS
class Renames(CheckTest):
    HEADER = "sdk/include/hearth/a.hpp"

    def setUp(self):
        super().setUp()
        self.write(self.HEADER,
                   "namespace hearth::agents {\nstruct Limits {\n    double norm = 1;\n};\nint pick(int x);\n}\n")
        self.write("sdk/include/hearth/a.h",
                   "#define HEARTH_MOST 1\ntypedef enum kind { HEARTH_A } kind;\nHEARTH_API int hearth_run(int x);\n")

    def table(self, *rows):
        lines = ["# kind, file, old, new", *("\t".join(row) for row in rows)]
        self.write("sdk/support/renames.tsv", "\n".join(lines) + "\n")

    def test_names_that_are_gone_pass(self):
        self.table(("struct", self.HEADER, "hearth::agents::Rails", "Limits"),
                   ("member", self.HEADER, "hearth::agents::Rails::gradient_norm", "norm"),
                   ("function", self.HEADER, "hearth::agents::keep", "-", "the field's word"),
                   ("option", "demos/train/config.cpp", "norm", "max_norm"))
        self.assertIn("0 of 2 old", self.assert_passes(renames))

    def test_each_kind_of_old_name_is_found(self):
        for kind, old in (("struct", "hearth::agents::Limits"), ("member", "hearth::agents::Limits::norm"),
                          ("function", "hearth::agents::pick"), ("macro", "HEARTH_MOST"), ("enumerator", "HEARTH_A"),
                          ("typedef", "kind"), ("function", "hearth_run")):
            with self.subTest(old):
                self.table((kind, self.HEADER, old, "other"))
                self.assert_finds(renames, f"{old} is still declared, expected")

    def test_an_old_member_of_a_renamed_struct_is_found(self):
        self.table(("struct", self.HEADER, "hearth::agents::Rails", "Limits"),
                   ("member", self.HEADER, "hearth::agents::Rails::norm", "max_norm"))
        self.assert_finds(renames, "hearth::agents::Limits::norm is still declared")

    def test_deleted_functions_and_names_given_to_others_pass(self):
        self.write(self.HEADER,
                   "namespace hearth {\nint gather(int x,\n           int y) = delete;\nint pick(int x);\n}\n")
        self.table(("function", self.HEADER, "hearth::gather", "index_select"),
                   ("function", self.HEADER, "hearth::pick", "take"),
                   ("function", self.HEADER, "hearth::choose", "pick"))
        self.assert_passes(renames)
        self.write(self.HEADER, "namespace hearth {\nint gather(int x);\nint gather(long x) = delete;\n}\n")
        self.assert_finds(renames, "hearth::gather is still declared")

    def test_a_malformed_table_is_a_fault(self):
        self.table(("struct", self.HEADER, "hearth::Rails"))
        self.assert_finds(renames, "expected kind, file, old, new")
        self.table(("struct", self.HEADER, "hearth::Rails", "-"))
        self.assert_finds(renames, "is refused without a reason")
        os.remove(self.root / "sdk/support/renames.tsv")
        self.assert_finds(renames, "found no file")


class Dev(CheckTest):
    """`dev` and its scripts, in a copy that is a checkout of its own."""

    def setUp(self):
        super().setUp()
        self.root = self.root.resolve()
        shutil.copy(ROOT / "dev", self.root / "dev")
        shutil.copytree(ROOT / "sdk/support/dev", self.root / "sdk/support/dev")
        self.scripts = sorted(p for p in (self.root / "sdk/support/dev").glob("*.sh") if p.stem != "common")

    def dev(self, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return subprocess.run([self.root / "dev", *arguments], capture_output=True, text=True, check=False, cwd="/",
                              env=environment | {"HOME": str(self.root), "GIT_CONFIG_NOSYSTEM": "1"})

    def hooks(self, folder):
        return (tree.git(folder, "config", "--local", "core.hooksPath") or "").strip()

    def test_help_has_each_script_with_its_usage_and_sentence(self):
        printed = self.dev("help").stdout
        self.assertGreater(len(self.scripts), 20)
        for script in self.scripts:
            comments_of = [x[2:] for x in script.read_text().splitlines() if x.startswith("# ") and "SPDX" not in x]
            usage, _, sentence = comments_of[0].partition(": ")
            self.assertEqual(usage.split(" ")[0], script.stem)
            self.assertRegex(sentence, r"^[A-Z].*\.$", script.name)
            self.assertRegex(printed, rf"\n  {script.stem}\b")
            self.assertIn(f"  {sentence}\n", printed)
        self.assertEqual(self.dev().stdout, printed)

    def test_what_is_no_command_is_refused(self):
        for name in ("nonsense", "common", "../dev/build", "Build", ""):
            done = self.dev(name)
            self.assertEqual(done.returncode, 1 if name else 0, name)
            if name:
                self.assertTrue(done.stderr.endswith(f"dev: unknown command: {name}\n"), done.stderr)

    def test_a_wrong_argument_shows_the_usage_of_the_script(self):
        self.assertEqual(self.dev("fuzz", "long").stderr, "dev: usage: ./dev fuzz [SECONDS]\n")

    def test_hooks_are_enabled_in_a_checkout_that_has_none(self):
        self.assertEqual(self.dev("help").stderr, "")  # no checkout
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.assertEqual(self.dev("help").stderr, "")
        self.assertEqual(self.hooks(self.root), ".githooks")

    def test_hooks_of_others_stay_as_they_are(self):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write(".git/hooks/pre-commit", "#!/bin/sh\n")
        self.dev("help")
        self.assertEqual(self.hooks(self.root), "")
        subprocess.run(["git", "-C", self.root, "config", "core.hooksPath", "mine"], check=True)
        self.dev("help")
        self.assertEqual(self.hooks(self.root), "mine")

    def test_a_repository_around_it_stays_as_it_is(self):
        outer, self.root = self.root, self.root / "third_party/hearth"
        self.root.mkdir(parents=True)
        shutil.move(outer / "dev", self.root / "dev")
        shutil.move(outer / "sdk", self.root / "sdk")
        subprocess.run(["git", "init", "-q", outer], check=True)
        self.assertEqual(self.dev("help").returncode, 0)
        self.assertEqual(self.hooks(outer), "")


if __name__ == "__main__":
    unittest.main()
