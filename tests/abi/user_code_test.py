#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What users write compiles under the warnings that they build with: user_code_test.py HEADERS VULKAN_HEADERS COMPILER...

The docs' own style, every header by itself, and all public names under `using namespace` of both namespaces, in C++20 and,
where a header has it, in C++17; headers that need C++20 say so."""

import pathlib
import re
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wmissing-field-initializers", "-Werror"]
STYLE = """#include <hearth/agents.hpp>
#include <hearth/agents/learners.hpp>
#include <hearth/compile.hpp>
#include <hearth/nn.hpp>
using namespace hearth;
using namespace hearth::agents;
int main() {
    const AgentSpec spec(ObservationSpec().box("speed").entities("foes", 4, ObservationSpec().position("at", 2, 50)),
                         ActionSpec().continuous("steer", 2).discrete("jump", 2));
    Ppo ppo{.n_agents = 16, .n_steps = 64};
    const Dqn dqn{.replay = {.n_agents = 8}, .double_q = false};
    const Sac sac{.replay = {.batch_size = 64}};
    const CompileOptions options{.max_batch_size = 16};
    const CookOptions cook_options{.max_batch_size = 16};
    const RecordOptions record{.learning_budget_us = 500};
    const AgentsOptions agents{.frames_in_flight = 2};
    const nn::LinearOptions linear{.seed = 1};
    (void)spec, (void)ppo, (void)dqn, (void)sac, (void)options, (void)cook_options, (void)record, (void)agents, (void)linear;
}
"""
NEEDS_20 = "#include <hearth/core/cpp20.hpp>"


def failures(compiler, flags, text):
    """The compiler's words if `text` does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "user.cpp")
        source.write_text(text, encoding="utf-8")
        command = [compiler, *flags, "-fsyntax-only", str(source)]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        return "" if made.returncode == 0 else f"{' '.join(command)}\n{text[:400]}\n{made.stdout}{made.stderr}"[:6000]


def types_of(headers):
    """Names of the classes and enumerations of hearth and hearth::agents, once each, without templates."""
    found = set()
    for header in headers.rglob("*.hpp"):
        text = re.sub(r"//[^\n]*", "", header.read_text(encoding="utf-8"))
        if header.parent.name in ("op", "core") or "namespace hearth" not in text:
            continue
        scope = None
        for line in text.splitlines():
            opened = re.match(r"namespace (hearth(?:::agents)?) \{", line)
            if opened:
                scope = opened.group(1)
            elif re.match(r"namespace |\}  // namespace|^\}$", line) and not line.startswith(" "):
                scope = scope if line.startswith("}") and scope else None
            declared = re.match(r"(?:class|struct|enum class)(?: \[\[nodiscard\]\])? (\w+)[ :;{]", line)
            if declared and scope:
                found.add((header, declared.group(1)))
    return found


def main():
    headers, vulkan, compilers = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    names = sorted({name for _, name in types_of(headers)} - {"Result", "NoStages"})
    assert len(names) > 100, f"only {len(names)} public types found"
    includes = "".join(f"#include <{h.relative_to(headers)}>\n" for h in sorted(headers.rglob("*.hpp")))
    both = includes + "using namespace hearth;\nusing namespace hearth::agents;\n" + \
        "".join(f"static_assert(sizeof({name}*) > 0);\n" for name in names) + "int main() {}\n"
    wrong = []
    for compiler in compilers:
        base = [f"-I{headers}", "-idirafter", vulkan]
        wrong.append(failures(compiler, ["-std=c++20", *WARNINGS, *base], STYLE))
        wrong.append(failures(compiler, ["-std=c++20", *base], both))
        for header in sorted(headers.rglob("*.hpp")):
            text = f"#include <{header.relative_to(headers)}>\nint main() {{}}\n"
            wrong.append(failures(compiler, ["-std=c++20", *WARNINGS, *base], text))
            if header.name == "cpp20.hpp":
                continue
            refused = failures(compiler, ["-std=c++17", *WARNINGS, *base], text)
            if NEEDS_20 in header.read_text(encoding="utf-8"):
                wrong.append("" if "needs C++20" in refused else f"{header}: expected '#error ... needs C++20' in C++17\n{refused}")
            else:
                wrong.append(refused)
    # That a warning is found at all.
    seeded = failures(compilers[0], ["-std=c++20", *WARNINGS], "struct A { int a; int b; };\nA a{.a = 1};\nint main() {}\n")
    wrong.append("" if seeded else "a missing initializer was not found")
    wrong = [w for w in wrong if w]
    print("\n".join(wrong))
    print(f"{len(names)} public types, {len(compilers)} compilers: {len(wrong)} failures")
    sys.exit(1 if wrong else 0)


main()
