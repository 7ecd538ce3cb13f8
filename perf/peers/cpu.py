#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Times the networks of hearth_perf_native in ONNX Runtime and ncnn, on one core.

    pip install onnxruntime ncnn pnnx      # into any environment; nothing else of Hearth needs them
    hearth_perf_native --rows infer,policy,mobilenet,squeezenet --onnx FOLDER
    perf/peers/cpu.py FOLDER

Prints one line for each model: the median and the least CPU time of one run in microseconds. Peers take
turns, so that a busy machine affects both equally. pnnx converts the ONNX files for ncnn; the results of
both peers are compared before timing.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import ncnn
import numpy as np
import onnxruntime


def onnxruntime_run(path: str, x: np.ndarray):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs = {session.get_inputs()[0].name: x}
    return lambda: session.run(None, inputs)[0]


def ncnn_run(path: str, x: np.ndarray):
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.onnx")
        os.symlink(os.path.abspath(path), model)
        shape = f"inputshape=[{','.join(map(str, x.shape))}]f32"
        # A virtual environment that is not activated: its programs lie beside its interpreter.
        pnnx = shutil.which("pnnx") or os.path.join(os.path.dirname(sys.executable), "pnnx")
        subprocess.run([pnnx, model, shape, "fp16=0"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        net = ncnn.Net()
        net.opt.num_threads = 1
        for kind in ("packed", "storage", "arithmetic"):
            setattr(net.opt, f"use_fp16_{kind}", False)
            if hasattr(net.opt, f"use_bf16_{kind}"):
                setattr(net.opt, f"use_bf16_{kind}", False)
        if net.load_param(os.path.join(folder, "model.ncnn.param")) != 0:
            raise RuntimeError(f"{path}: ncnn cannot load the output of pnnx")
        net.load_model(os.path.join(folder, "model.ncnn.bin"))
    # ncnn has batches of vectors, the rows of a matrix, but not of images.
    held = x[0] if x.ndim == 4 else x
    given = ncnn.Mat(held)

    def run() -> np.ndarray:
        extractor = net.create_extractor()
        extractor.input("in0", given)
        return np.array(extractor.extract("out0")[1])

    run.net = net  # Alive as long as its extractors.
    return run


def sample_us(run) -> float:
    """Returns the CPU time of one run, from a sample far above the clock's resolution."""
    count = 1
    while True:
        begin = time.process_time_ns()
        for _ in range(count):
            run()
        taken = 1e-3 * (time.process_time_ns() - begin)
        if taken > 500:
            return taken / count
        count *= 2


def shape_of(path: str, batch_size: int) -> list:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return [d if isinstance(d, int) else batch_size for d in session.get_inputs()[0].shape]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="with the ONNX files of hearth_perf_native")
    parser.add_argument("--budget", type=float, default=3, help="seconds for each peer of a row")
    parser.add_argument("--json", help="also write the results to this file")
    arguments = parser.parse_args()
    paths = sorted(entry.path for entry in os.scandir(arguments.folder)
                   if entry.name.endswith(".onnx"))
    if not paths:
        parser.error(f"{arguments.folder} has no .onnx file")
    print(f"us of CPU time, one thread; onnxruntime {onnxruntime.__version__}, ncnn {ncnn.__version__}")
    print(f"{'row':24}{'onnxruntime':>12}{'least':>10}{'ncnn':>12}{'least':>10}")
    results = []
    for path in paths:
        name = os.path.basename(path)[:-len(".onnx")]
        batch = re.search(r"_b(\d+)", name)
        batch_size = int(batch[1]) if batch else 1
        x = np.random.default_rng(0).standard_normal(shape_of(path, batch_size)).astype(np.float32)
        runs = {"onnxruntime": onnxruntime_run(path, x), "ncnn": ncnn_run(path, x)}
        expected, found = (run().reshape(-1) for run in runs.values())
        error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
        if not error < 1e-3:
            raise SystemExit(f"{name}: ncnn differs from ONNX Runtime by {error:.1e}")
        times = {peer: [] for peer in runs}
        end = time.monotonic() + arguments.budget * len(runs)
        while time.monotonic() < end or len(times["ncnn"]) < 5:
            for peer, run in runs.items():
                times[peer].append(sample_us(run))
        row = {"name": name}
        line = f"{name:24}"
        for peer, samples in times.items():
            row[peer] = statistics.median(samples)
            line += f"{row[peer]:12.2f}{min(samples):10.2f}"
        print(line, flush=True)
        results.append(row)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(results, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
