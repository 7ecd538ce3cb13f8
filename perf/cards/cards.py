#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compiles kernels with the drivers of players' cards and compares what the drivers say with the record.

    cards.py --programs build/release/bin [--rows mlp,gemm] [--write] [CARD...]
    cards.py --page

For each card hearth_cards runs on its driver (with_card.sh), for the device target that the card gets of a package and
for its own limits.  Fails on a spill to memory or scratch that the record does not have, on fewer than four waves where
the record has more, on a tenth more registers or instructions, on a kernel that no longer compiles, and on one whose
compile time, as a multiple of a fixed kernel's in the same run, is above that of two seconds when the record was made.
Each module is also given to the validator of the same root, if it has one (spirv-val of a newer SPIRV-Tools).
A row of f16 fails, too, if the driver expects its kernels to take longer than those of the same row of f32.  --page
writes the section of docs/reference/devices.md that the records make.
Exit codes: 0, 1 (failed), 77 (no driver of the cards is there)."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RECORDS = HERE.parent / "results" / "cards"
PAGE = HERE.parents[1] / "docs" / "reference" / "devices.md"
SECTION = "## What drivers of players' cards make of the kernels"
CARDS = ("radv:navi21", "radv:navi31", "radv:gfx1201", "radv:vangogh", "radv:polaris10", "anv:dg2", "anv:bmg", "anv:tgl",
         "nvk:172", "turnip:740", "honeykrisp")
TARGETS = ("class", "device")

# Ours: what drivers call it.  The first name that a driver reports counts.
FIGURES = {
    "registers": ("VGPRs", "Number of GPRs", "Registers used", "GPRs", "Max live registers"),
    "spills": ("Spilled VGPRs", "Spills to memory", "STP Count", "Spills", "Spill count"),
    "scratch": ("Scratch size", "SLM size", "Scratch", "Scratch Memory Size"),
    "shared": ("LDS size", "Workgroup Memory Size"),
    "waves": ("Subgroups per SIMD", "Max warps/SM", "Max Waves Per Core", "Threads"),
    "instructions": ("Instructions", "Instruction count", "Instruction Count"),
    "cycles": ("Inverse Throughput",),  # an estimate of RADV's compiler, for one subgroup
}
PRODUCTS = ("matmul", "conv", "attention", "fused_network")
PREFACE = """Every kernel of the benchmark's programs and of the learners, as the card's own compiler builds it; nothing was run. Mesa's
drivers run over kernel interfaces that do nothing (`./dev cards`), once for the device target that the card gets of a
package and once for its own limits; the figures of each kernel are in `perf/results/cards`. What is not known of these
cards: whether their drivers compute the right numbers, and how fast. Not compiled at all: NVIDIA's, AMD's and Intel's own
drivers for Windows, Qualcomm's and Arm's for Android, and Apple's through MoltenVK."""
MOST_COMPILE_S = 2.0
FEW_WAVES = 4
GROWTH = 1.1


def row_of(kernel):
    """A kernel's figures in our words."""
    figures = kernel.get("figures", {})
    row = {"compile_s": round(kernel.get("compile_s", 0), 3)}
    for ours, theirs in FIGURES.items():
        value = next((figures[name] for name in theirs if name in figures), None)
        if value is not None:
            row[ours] = int(value)
    if "Threads" in figures:  # of a core, in subgroups of 32
        row["waves"] = int(figures["Threads"]) // 32
    if "error" in kernel:
        row["error"] = kernel["error"].splitlines()[0][:160]
    return row


def rows_of(document):
    """{"program/kernel": row}; kernels of one name are numbered."""
    rows = {}
    for kernel in document["kernels"]:
        name = f"{kernel['subject']}/{kernel['kernel']}"
        count = sum(1 for known in rows if known == name or known.startswith(name + "#"))
        rows[name if count == 0 else f"{name}#{count + 1}"] = row_of(kernel)
    return rows


def invalid_modules(folder):
    """What the newest validator says of the SPIR-V in a folder."""
    root = pathlib.Path(os.environ["HEARTH_CARDS_ROOT"])
    lib, validator = root / "usr/lib/x86_64-linux-gnu", root / "usr/bin/spirv-val"
    if not validator.exists():
        return
    for path in sorted(folder.glob("*.spv")):
        done = subprocess.run([lib / "ld-linux-x86-64.so.2", "--library-path", lib, validator, "--target-env", "vulkan1.3",
                               "--scalar-block-layout", path], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            yield f"{path.stem}: {done.stderr.strip().splitlines()[0]}"


def compile_for(card, target, programs, words, tile=None):
    """The document that hearth_cards writes with what the validator says, or None without a driver."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "kernels.json"
        command = [HERE / "with_card.sh", card, programs / "hearth_cards", path, "--target", target, "--modules", folder]
        if words:
            command += ["--rows", words]
        if tile:
            command += ["--tile", tile]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode == 77:
            print(done.stderr.strip())
            return None
        if done.returncode != 0 or not path.exists():
            raise RuntimeError(f"{card}: hearth_cards ended with {done.returncode}: {done.stderr.strip()[-400:]}")
        return {**json.loads(path.read_text()), "invalid": list(invalid_modules(pathlib.Path(folder)))}


def faults_of(name, row, old, reference_s, old_reference_s):
    """What is worse than in the record."""
    if "error" in row:
        if "error" not in old:
            yield f"{name}: {row['error']}"
        return
    for figure in ("spills", "scratch"):
        if row.get(figure, 0) > old.get(figure, 0):
            yield f"{name}: {figure} {row[figure]}, was {old.get(figure, 0)}"
    if row.get("waves", FEW_WAVES) < FEW_WAVES and old.get("waves", FEW_WAVES) > row["waves"]:
        yield f"{name}: waves {row['waves']}, was {old.get('waves', 'more')}"
    for figure in ("registers", "instructions"):
        if figure in old and row.get(figure, 0) > old[figure] * GROWTH:
            yield f"{name}: {figure} {row[figure]}, was {old[figure]}"
    most_s = max(MOST_COMPILE_S, old.get("compile_s", 0) * 1.5) * reference_s / old_reference_s
    if row["compile_s"] > most_s:
        yield f"{name}: took {row['compile_s']:.2f} s of CPU to compile, expected at most {most_s:.2f}"


def slow_halves(rows):
    """Rows of f16 whose products are expected to take longer than those of the same row of f32."""
    cycles = {}
    for name, row in rows.items():
        program, kernel = name.split("/", 1)
        if "cycles" in row and kernel.startswith(PRODUCTS):
            cycles[program] = cycles.get(program, 0) + row["cycles"]
    for program, of_f16 in cycles.items():
        of_f32 = cycles.get(program.replace("_f16", "")) or cycles.get(program.replace("_f16", "_f32"))
        if "_f16" in program and of_f32 is not None and of_f16 > of_f32:
            yield f"{program}: {of_f16} cycles by the driver's estimate, with f32 {of_f32}"


def section_of_page():
    """The section that the records make."""
    lines = ["| card | driver | compiled for | kernels | not compiled | spilling | most registers | under four waves | "
             "slowest, CPU s | all, CPU s |", "|" + "---|" * 10]
    for path in sorted(RECORDS.glob("*.json")):
        record = json.loads(path.read_text())
        summary = summary_of(record["kernels"])
        target = record["target"] if path.stem.endswith(".class") else "its own limits"
        lines.append(f"| {record['device']} | {record['driver']} | {target} | " + " | ".join(
            str(summary[name]) for name in ("kernels", "not compiled", "spilling", "registers", "few waves", "slowest, s",
                                            "CPU s")) + " |")
    return "\n".join([SECTION, "", PREFACE, "", *lines]) + "\n"


def page_with(section, page):
    """The page with this section in place of the one of the same heading, or at its end."""
    before, found, rest = page.partition(SECTION)
    if not found:
        return page.rstrip("\n") + "\n\n" + section
    after = rest.find("\n## ")
    return before + section + ("" if after < 0 else rest[after:])


def summary_of(rows):
    compiled = [row for row in rows.values() if "error" not in row]
    slowest = max((row["compile_s"] for row in compiled), default=0)
    return {
        "kernels": len(compiled),
        "not compiled": len(rows) - len(compiled),
        "spilling": sum(row.get("spills", 0) > 0 for row in compiled),
        "spills": max((row.get("spills", 0) for row in compiled), default=0),
        "scratch": sum(row.get("scratch", 0) > 0 for row in compiled),
        "few waves": sum(row.get("waves", FEW_WAVES) < FEW_WAVES for row in compiled),
        "registers": max((row.get("registers", 0) for row in compiled), default=0),
        "instructions": max((row.get("instructions", 0) for row in compiled), default=0),
        "slowest, s": round(slowest, 2),
        "CPU s": round(sum(row["compile_s"] for row in compiled), 1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, help="folder of hearth_cards")
    parser.add_argument("--rows", default="", help="only programs whose name contains one of these words")
    parser.add_argument("--tile", help="'kernel = variant' in place of the shipped one, which shows that faults are found")
    parser.add_argument("--write", action="store_true", help="make the record anew")
    parser.add_argument("--page", action="store_true", help="write the section of docs/reference/devices.md")
    parser.add_argument("cards", nargs="*", metavar="CARD", default=[], help=", ".join(CARDS))
    options = parser.parse_args()
    if options.page:
        PAGE.write_text(page_with(section_of_page(), PAGE.read_text()))
        return 0
    if options.programs is None:
        parser.error("--programs is needed")
    faults, lines, absent = [], [], []
    cards = options.cards or CARDS
    for card in cards:
        for target in TARGETS:
            document = compile_for(card, target, options.programs, options.rows, options.tile)
            if document is None:
                absent.append(card)
                break
            rows, reference_s = rows_of(document), document["reference_s"]
            faults += [f"{card}, {target}: {fault}" for fault in [*document["invalid"], *slow_halves(rows)]]
            path = RECORDS / f"{card.replace(':', '-')}.{target}.json"
            record = json.loads(path.read_text()) if path.exists() else None
            if options.write:
                path.parent.mkdir(parents=True, exist_ok=True)
                heading = {key: document[key] for key in ("device", "driver", "target", "reference_s")}
                body = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
                path.write_text(json.dumps(heading, indent=1)[:-2] + ',\n "kernels": {\n' + body + "\n }\n}\n")
            elif record is None:
                faults.append(f"{card}: no record {path.name}; make one with --write")
            else:
                for name, row in rows.items():
                    if name in record["kernels"]:
                        faults += [f"{card}, {target}: {fault}" for fault in faults_of(
                            name, row, record["kernels"][name], reference_s, record["reference_s"])]
                    elif row.get("spills", 0) > 0 or row.get("scratch", 0) > 0 or row["compile_s"] > MOST_COMPILE_S:
                        faults.append(f"{card}, {target}: {name}: new, and spills or is slow to compile: {row}")
            lines.append((card, target if target == "device" else document["target"], summary_of(rows)))
    if lines:
        names = list(lines[0][2])
        print("| card | compiled for | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 2))
        for card, target, summary in lines:
            print(f"| {card} | {target} | " + " | ".join(str(summary[name]) for name in names) + " |")
    print("".join(f"cards: {fault}\n" for fault in faults), end="")
    if absent:
        print(f"cards: not compiled: {', '.join(absent)}")
    if faults:
        return 1
    return 77 if len(absent) == len(cards) else 0


if __name__ == "__main__":
    sys.exit(main())
