#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Tells how many tests of a run were skipped and why: one line for each reason.

usage: tell_skips.py RESULTS.xml     as `ctest --output-junit RESULTS.xml` writes it

A reason is a place in the tests that skips; of what it says for several tests one is shown.
"""

import collections
import re
import sys
import xml.etree.ElementTree


def reasons_of(root):
    """{place: [how many tests, what one of them said]} and the names of skips that say nothing."""
    reasons, silent = collections.OrderedDict(), []
    for case in root.iter("testcase"):
        output = case.findtext("system-out") or ""
        # "FILE:LINE: Skipped", then what the test said.
        said = re.findall(r"^(\S+:\d+): Skipped\n(.*)$", output, re.M)
        for place, message in said:
            place = re.sub(r"^.*/(?=tests/)", "", place)
            reasons.setdefault(place, [0, message.strip()])[0] += 1
        if not said and (case.find("skipped") is not None or case.get("status") == "disabled"):
            silent.append(case.get("name"))
    return reasons, silent


def main():
    root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
    reasons, silent = reasons_of(root)
    count = sum(n for n, _ in reasons.values()) + len(silent)
    print("%d skipped%s" % (count, ":" if count else ""))
    for place, (n, message) in sorted(reasons.items(), key=lambda reason: -reason[1][0]):
        print("%6d  %s%s (%s)" % (n, message, "" if n == 1 else ", and the like", place))
    if silent:
        print("%6d  did not run: %s" % (len(silent), ", ".join(silent[:5]) + (" ..." if silent[5:] else "")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
