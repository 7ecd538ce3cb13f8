# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""check_layers.py must find planted violations: each test builds a small tree and reads the report."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[2] / "sdk" / "support"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SUPPORT))
import check_layers  # noqa: E402


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.table = SUPPORT / "layers.txt"
        self.write("sdk/src/core/status.hpp", "")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def check(self):
        """Runs the check on the tree; returns (exit code, what it printed)."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = check_layers.main(["--root", str(self.root), "--table", str(self.table)])
        return code, printed.getvalue()

    def assert_accepts(self, path, text):
        self.write(path, text)
        code, printed = self.check()
        self.assertEqual(code, 0, printed)

    def assert_rejects(self, path, text, report):
        """`report` is the beginning of the line that must be printed."""
        self.write(path, text)
        code, printed = self.check()
        self.assertEqual(code, 1, printed)
        self.assertTrue(any(line.startswith(report) for line in printed.splitlines()), printed)

    def test_downward_includes_public_headers_and_outside_headers_pass(self):
        self.assert_accepts("sdk/src/compiler/plan/plan.cpp", '''
            #include "compiler/plan/plan.hpp"
            #include "core/status.hpp"
            #include "compiler/codegen/lowered_program.hpp"
            #include <hearth/types.hpp>
            #include <vector>
            ''')

    def test_upward_include_is_reported_with_file_line_and_rule(self):
        self.assert_rejects("sdk/src/core/status.cpp", '\n#include "compiler/ir/graph.hpp"\n',
                            "sdk/src/core/status.cpp:2: core may not include compiler/ir;")

    def test_every_folder_pair_follows_the_table(self):
        table = check_layers.Table.read(self.table)
        for area in table.folders:
            for target in table.folders - {area}:
                self.write("sdk/src/core/status.hpp", "")
                self.write(f"sdk/src/{area}/probe.hpp", f'#include "{target}/any.hpp"\n')
                code, printed = self.check()
                is_allowed = target in table.allowed(area)
                self.assertEqual(code, 0 if is_allowed else 1, f"{area} -> {target}: {printed}")
                (self.root / f"sdk/src/{area}/probe.hpp").unlink()

    def test_the_columns_meet_in_program_only(self):
        table = check_layers.Table.read(self.table)
        self.assertEqual(table.allowed("device/session"), {"core", "program", "device/vulkan", "device/native"})
        self.assertEqual(table.allowed("program"), {"core"})
        for area in table.folders - {"device/session", "device/capi", "device/vulkan", "device/native"}:
            self.assertNotIn("device/vulkan", table.allowed(area))
            self.assertNotIn("device/session", table.allowed(area))

    def test_angle_brackets_do_not_hide_an_upward_include(self):
        self.assert_rejects("sdk/src/device/vulkan/device.cpp", "#include <compiler/plan/emit.hpp>\n",
                            "sdk/src/device/vulkan/device.cpp:1: device/vulkan may not include compiler/plan;")

    def test_odd_spacing_does_not_hide_an_upward_include(self):
        self.assert_rejects("sdk/src/device/vulkan/device.cpp", '  #  include"compiler/plan/emit.hpp"\n',
                            "sdk/src/device/vulkan/device.cpp:1: device/vulkan may not include compiler/plan;")

    def test_paths_through_parent_folders_are_rejected(self):
        self.assert_rejects("sdk/src/core/status.cpp", '#include "../ir/graph.hpp"\n',
                            "sdk/src/core/status.cpp:1: write includes relative to sdk/src")

    def test_quoted_include_without_folder_is_rejected(self):
        self.assert_rejects("sdk/src/core/status.cpp", '#include "status.hpp"\n',
                            "sdk/src/core/status.cpp:1: a quoted include is")

    def test_include_through_a_macro_is_rejected(self):
        self.assert_rejects("sdk/src/core/status.cpp", "#include HEADER\n",
                            "sdk/src/core/status.cpp:1: an include through a macro")

    def test_unknown_folder_is_rejected(self):
        self.assert_rejects("sdk/src/helpers/any.hpp", "", "sdk/src/helpers: unknown folder helpers")

        self.assert_rejects("sdk/src/compiler/helpers/any.hpp", "",
                            "sdk/src/compiler/helpers: unknown folder compiler/helpers")

    def test_source_file_outside_the_folders_is_rejected(self):
        for path in ("sdk/src/any.hpp", "sdk/src/compiler/any.hpp"):
            self.assert_rejects(path, "", f"{path}: a source file belongs into a folder")

    def test_vulkan_stays_in_the_device_column(self):
        self.assert_accepts("sdk/src/device/vulkan/vulkan.hpp", "#include <vulkan/vulkan_core.h>\n")
        self.assert_rejects("sdk/src/compiler/codegen/lower.cpp", "#include <vulkan/vulkan.h>\n",
                            "sdk/src/compiler/codegen/lower.cpp:1: compiler/codegen may not include vulkan/ headers;")

    def test_public_headers_include_neither_vulkan_nor_the_inside(self):
        self.assert_rejects("sdk/include/hearth/device.hpp", "#include <vulkan/vulkan.h>\n",
                            "sdk/include/hearth/device.hpp:1: sdk/include/hearth may not include vulkan/")
        self.assert_rejects("sdk/include/hearth/tensor.hpp", '#include "compiler/ir/graph.hpp"\n',
                            "sdk/include/hearth/tensor.hpp:1: sdk/include/hearth may not include compiler/ir;")

    def test_shader_compiler_stays_out_of_the_device_column(self):
        self.assert_rejects("sdk/src/device/session/record.cpp", "#include <glslang/Public/ShaderLang.h>\n",
                            "sdk/src/device/session/record.cpp:1: device/session may not include glslang/ headers;")

    def test_demos_use_their_own_files_and_the_public_headers_only(self):
        self.write("demos/host/window.hpp", "")
        self.assert_accepts("demos/ghost_lap/main.cpp", '''
            #include "host/window.hpp"
            #include <hearth/session.hpp>
            #include <vulkan/vulkan.h>
            ''')
        self.assert_rejects("demos/ghost_lap/main.cpp", '#include "core/status.hpp"\n',
                            "demos/ghost_lap/main.cpp:1: demos may not include core;")

    def test_engine_bridge_sees_only_the_c_header(self):
        self.assert_accepts("engine_bridge/vulkan_minimal/main.c", "#include <hearth/hearth.h>\n")
        self.assert_rejects("engine_bridge/vulkan_minimal/main.c", "#include <hearth/session.hpp>\n",
                            "engine_bridge/vulkan_minimal/main.c:1: engine_bridge may include only "
                            "hearth/agents/plain_words.hpp hearth/hearth.h hearth/hearth_agents.h")

    def test_includes_in_comments_and_strings_do_not_count(self):
        self.assert_accepts("sdk/src/core/status.cpp", '''
            // #include "compiler/ir/graph.hpp"
            /*
            #include "compiler/ir/graph.hpp"
            */
            const char* kShader = R"glsl(
            #include "compiler/plan/emit.hpp"
            )glsl";
            const int kMany = 1'000'000;  // the mark in the number opens no character
            ''')

    def test_an_include_after_comments_and_strings_still_counts(self):
        self.assert_rejects("sdk/src/core/status.cpp",
                            'const char* a = "/*"; // "\nconst char b = \'"\';\n#include "compiler/ir/graph.hpp"\n',
                            "sdk/src/core/status.cpp:3: core may not include compiler/ir;")

    def test_an_empty_tree_is_an_error_and_not_a_pass(self):
        (self.root / "sdk/src/core/status.hpp").unlink()
        self.assertEqual(self.check()[0], 2)

    def test_a_table_with_a_circle_is_an_error(self):
        self.table = self.root / "layers.txt"
        self.table.write_text("[sdk/src]\ncore: ir\nir: core\n")
        code, printed = self.check()
        self.assertEqual(code, 2, printed)
        self.assertIn("the table has a circle", printed)

    def test_a_table_naming_an_unknown_folder_is_an_error(self):
        self.table = self.root / "layers.txt"
        self.table.write_text("[sdk/src]\ncore: nowhere\n")
        code, printed = self.check()
        self.assertEqual(code, 2, printed)
        self.assertIn("unknown area: nowhere", printed)


if __name__ == "__main__":
    unittest.main()
