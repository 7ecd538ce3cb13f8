# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""The Windows program does what Linux's does: packages have the same bytes but for their notes, which name the compiler
that built the tool; runs give the same results, bit by bit.

    windows_test.py WINE HEARTH_EXE LINUX_HEARTH WORK_FOLDER MODEL_FOLDER...

A model folder has model.onnx and test_data_set_*; more are taken from the folder HEARTH_CASES, where it is set.
Exit code 77: there is no Linux program to compare with.
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys

# Not ASCII: names of files are UTF-8 on the way in, and Windows' own on the way to the disk.
FOLDER = "h\u00e9 \u4f60"
CASES = ["policies/3DCarParking_onnx_model", "policies/AirHockey_onnx_model", "nets/unet_script", "nets/rnn_dynamo",
         "nets/gpt_script"]


NOTES = 4


def sections(package):
    """Of docs/reference/package_format.md: kinds and contents, without the notes."""
    graph_hash, count = struct.unpack_from("<QI", package, 24)
    found = [graph_hash]
    for i in range(count):
        kind, offset, size = struct.unpack_from("<I4xQQ", package, 40 + 32 * i)
        if kind != NOTES:
            found.append((kind, package[offset:offset + size]))
    return found


def contents(path):
    data = path.read_bytes() if path.exists() else None
    return sections(data) if data and path.suffix == ".hearth" else data


def main():
    wine, windows, linux, work, *models = sys.argv[1:]
    if not pathlib.Path(linux).exists():
        print(f"skipped: no {linux} (./dev build)")
        return 77
    cases = pathlib.Path(os.environ.get("HEARTH_CASES", "/nowhere"))
    models = [pathlib.Path(m) for m in models] + [cases / c for c in CASES if (cases / c).is_dir()]
    folder = pathlib.Path(work) / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    for system in ("linux", "windows"):
        (folder / system).mkdir(parents=True)
    programs = {"linux": [linux], "windows": [wine, windows]}
    wrong = []

    def run(system, *arguments):
        return subprocess.run([*programs[system], *map(str, arguments)], capture_output=True, text=True, check=False,
                              encoding="utf-8")

    def compare(what, arguments, *, output=False):
        """Runs both, with output to be equal or not.  Returns Linux's exit code."""
        done = {system: run(system, *arguments(system)) for system in programs}
        codes = {system: d.returncode for system, d in done.items()}
        if codes["linux"] != codes["windows"] or (output and done["linux"].stdout != done["windows"].stdout):
            wrong.append(f"{what}: " + "".join(f"\n  {s}: {d.returncode}\n{d.stdout}{d.stderr}" for s, d in done.items()))
        return codes["linux"]

    def same_bytes(what, name):
        one, other = (folder / system / name for system in programs)
        files = [(one, other)]
        if one.is_dir():
            files = [(f, other / f.relative_to(one)) for f in sorted(one.rglob("*")) if f.is_file()]
        for a, b in files:
            if contents(a) is None or contents(a) != contents(b):
                wrong.append(f"{what}: {b.name} differs from Linux's or is missing")
        return len(files)

    compared = 0
    for model in models:
        name = model.name
        onnx = model / "model.onnx"
        cook = lambda system: ["cook", onnx, "-o", folder / system / f"{name}.hearth", "--no-measure", "--header",
                               folder / system / f"{name}.h", "--name", "net"]
        if compare(f"cook {name}", cook) == 0:
            compared += same_bytes(f"cook {name}", f"{name}.hearth") + same_bytes(f"cook {name}", f"{name}.h")
            for device in ("program", "gpu"):
                if compare(f"run {name} on {device}", lambda system: [
                        "run", folder / system / f"{name}.hearth", "--device", device, "--seed", 3, "-o",
                        folder / system / f"{name}_{device}"]) == 0:
                    compared += same_bytes(f"run {name} on {device}", f"{name}_{device}")
        compare(f"verify {name}", lambda system: ["verify", "--device", "both", "--cooked", model], output=True)
    # Backslashes, and a path beyond the 260 units that Windows' older functions take.
    deep = folder / "/".join(["long" * 15] * 5)
    deep.mkdir(parents=True)
    for target in (deep / "windows.hearth", folder / "back.hearth"):
        path = str(target) if "long" in str(target) else "Z:" + str(target).replace("/", "\\")
        done = run("windows", "cook", models[0] / "model.onnx", "-o", path, "--no-measure")
        if done.returncode != 0 or not target.exists():
            wrong.append(f"cook to {path}: {done.stdout}{done.stderr}")
    for line in wrong:
        print(line)
    print(f"{len(models)} models, {compared} files compared, {len(wrong)} wrong")
    return 1 if wrong or compared == 0 else 0


sys.exit(main())
