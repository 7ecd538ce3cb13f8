#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""ember_kill.py EMBER FOLDER KILLS: kills the game with SIGKILL at random moments, without a window and at 60 frames a
second. Each start must go on within two seconds of where the one before was, and a full disk must leave what was kept.

The game says once a second where it is (--out), so a kill comes up to a second after the last line.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

SECOND = 60  # frames


class Game:
    def __init__(self, program, folder, **options):
        self.log = os.path.join(folder, "seconds.jsonl")
        if os.path.exists(self.log):
            os.remove(self.log)
        self.process = subprocess.Popen(
            [program, "--headless", "--device", "cpu", "--draw-every", "1000000", "--frames", "1000000",
             "--nest", os.path.join(folder, "nest"), "--out", self.log,
             "--screenshots", os.path.join(folder, "pictures")],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)

    def seconds(self):
        """The frame at each second so far."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as log:
            return [json.loads(line)["frame"] for line in log if line.endswith("\n")]

    def wait_for_seconds(self, count, timeout=120):
        end = time.monotonic() + timeout
        while len(self.seconds()) < count:
            if self.process.poll() is not None:
                sys.exit(f"the game ended by itself: {self.process.stderr.read()}")
            if time.monotonic() > end:
                sys.exit(f"{len(self.seconds())} seconds of play in {timeout} s, expected {count}")
            time.sleep(0.01)
        return self.seconds()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        return self.seconds()


def play_and_kill(program, folder, kills):
    """Returns the most frames that a kill has cost."""
    before, most = 0, 0
    for index in range(kills):
        game = Game(program, folder)
        first = game.wait_for_seconds(1)[0]
        begun = first - SECOND  # the first line comes after a second
        # A kill comes up to a second after the last line, and the player may lose two.
        if begun < before - SECOND:
            sys.exit(f"kill {index}: the game was at frame {before} and went on from {begun}")
        most = max(most, before - begun)
        time.sleep(random.uniform(0, 2))
        before = game.kill()[-1]
    return most


def fill_disk(program, folder):
    """Plays with files limited to 10 kB: the creature of before remains."""
    nest = os.path.join(folder, "nest")
    kept = {name: open(os.path.join(nest, name), "rb").read() for name in os.listdir(nest)}

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    game = Game(program, folder, preexec_fn=limit)
    game.wait_for_seconds(3)
    game.process.kill()
    complaint = game.process.stderr.read()
    game.kill()
    if "could not be kept" not in complaint:
        sys.exit(f"the game did not say that it could not keep its creature: {complaint}")
    for name, was in kept.items():
        with open(os.path.join(nest, name), "rb") as file:
            if file.read() != was:
                sys.exit(f"{name} changed on a full disk")


def main():
    program, folder, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    random.seed(os.environ.get("HEARTH_TEST_SEED", "44"))
    most = play_and_kill(program, folder, kills)
    fill_disk(program, folder)
    left = os.listdir(os.path.join(folder, "nest"))
    if len(left) > 3:  # the creature, a day's version, and a file that the last kill left
        sys.exit(f"files were left: {left}")
    print(f"{kills} kills, at most {max(most, 0)} frames between the last second told and the one gone on from")


if __name__ == "__main__":
    main()
