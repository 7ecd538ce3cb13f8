#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares two result files of hearth_perf: ratios of medians, slower rows marked.

Rows that hearth_perf marked (taken at a low clock, or bimodal) are not compared.  Exits with 1 if a row got slower,
failed, or could not be compared.
"""

import argparse
import json
import sys

# What stands in a row, and how it is called here.
FIGURES = (("gpu", "repeated_us"), ("single", "single_us"), ("record", "record_us"), ("process", "process_us"))


def read(path):
    with open(path) as file:
        document = json.load(file)
    if document.get("program") != "hearth_perf":
        raise ValueError(f"{path} was not written by hearth_perf")
    return document


def spread(statistics):
    """Half of what lies between the 10th and the 90th percentile, relative to the median."""
    return (statistics["p90"] - statistics["p10"]) / 2 / statistics["median"]


def mark(row):
    """Why the row's figures cannot be compared: "low clock", "bimodal", or nothing."""
    return row.get("clock", {}).get("mark", "")


def compare_rows(name, old, new, threshold):
    """One line of text, and whether the new row is slower by more than threshold and noise."""
    if new["state"] == "FAILED" or old["state"] == "FAILED":
        return f"{name:22} {old['state']} -> {new['state']}", new["state"] == "FAILED"
    cells, is_slower = [], False
    for title, key in FIGURES:
        a, b = old[key], new[key]
        if not a["median"] or not b["median"]:
            cells.append(f"{'-':>24}")
            continue
        ratio = b["median"] / a["median"]
        noise = spread(a) + spread(b)
        slower = ratio > 1 + max(threshold, noise)
        # A single run beside a median, or the host's clock, flags nothing.
        is_slower |= slower and title == "gpu"
        mark = "+" if slower else "-" if ratio < 1 - max(threshold, noise) else " "
        cells.append(f"{a['median']:9.4g} {b['median']:9.4g} {ratio:4.2f}{mark}")
    return f"{name:22}" + " ".join(cells), is_slower


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--threshold", type=float, default=0.05,
                        help="relative difference that counts, if it is beyond the spread of both (default 0.05)")
    options = parser.parse_args()
    try:
        old, new = read(options.old), read(options.new)
    except (OSError, ValueError) as error:
        sys.exit(f"compare.py: {error}")
    if old["device"] != new["device"]:
        print(f"different devices: {old['device']} and {new['device']}")
    elif old["driver"] != new["driver"]:
        print(f"different drivers: {old['driver']} and {new['driver']}")
    print(f"{'us: old, new, new/old':22}" + " ".join(f"{title:>24}" for title, _ in FIGURES))
    old_rows = {row["name"]: row for row in old["rows"]}
    slower, refused = [], []
    for row in new["rows"]:
        if row["name"] not in old_rows:
            print(f"{row['name']:22} new")
            continue
        marks = [f"{which} {mark(r)}" for which, r in (("old:", old_rows[row["name"]]), ("new:", row)) if mark(r)]
        if marks:
            print(f"{row['name']:22} not compared: {', '.join(marks)}")
            refused.append(row["name"])
            continue
        text, is_slower = compare_rows(row["name"], old_rows[row["name"]], row, options.threshold)
        print(text)
        if is_slower:
            slower.append(row["name"])
    missing = set(old_rows) - {row["name"] for row in new["rows"]}
    if missing:
        print("not measured again: " + ", ".join(sorted(missing)))
    if slower:
        print("slower or failed: " + ", ".join(slower))
    if refused:
        print("marked, so not compared; take them again: " + ", ".join(refused))
    return 1 if slower or refused else 0


if __name__ == "__main__":
    sys.exit(main())
