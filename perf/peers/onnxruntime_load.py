#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""The peer of the rows load_... of hearth_perf: times how long ONNX Runtime takes to create a session
of a model on the CPU, from the file and from the file written by its optimizer.

    pip install onnxruntime        # into any environment; nothing else of Hearth needs it
    perf/peers/onnxruntime_load.py MODEL.onnx ...

Prints one line for each model: milliseconds, the median of --count sessions after a first one, which
reads the file and initializes the library and is printed separately.
"""

import argparse
import os
import statistics
import tempfile
import time

import onnxruntime


def session_ms(path: str, options: onnxruntime.SessionOptions) -> float:
    begin = time.perf_counter()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    taken = 1e3 * (time.perf_counter() - begin)
    del session
    return taken


def options_of(level: onnxruntime.GraphOptimizationLevel, saved: str = "") -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 3
    if saved:
        options.optimized_model_filepath = saved
    return options


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--count", type=int, default=20)
    arguments = parser.parse_args()
    levels = onnxruntime.GraphOptimizationLevel
    print(f"onnxruntime {onnxruntime.__version__}, CPU, ms")
    print(f"{'first':>9}{'cold':>9}{'min':>9}{'saved':>9}{'min':>9}  model")
    for path in arguments.models:
        whole = options_of(levels.ORT_ENABLE_ALL)
        first = session_ms(path, whole)
        cold = [session_ms(path, whole) for _ in range(arguments.count)]
        with tempfile.TemporaryDirectory() as folder:
            saved = os.path.join(folder, "saved.ort")
            session_ms(path, options_of(levels.ORT_ENABLE_ALL, saved))
            plain = options_of(levels.ORT_DISABLE_ALL)
            loaded = [session_ms(saved, plain) for _ in range(arguments.count + 1)][1:]
        figures = (first, statistics.median(cold), min(cold), statistics.median(loaded), min(loaded))
        print("".join(f"{value:9.2f}" for value in figures) + f"  {path}")


if __name__ == "__main__":
    main()
