#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Training by several processes on this machine.

    mpi_test.py HEARTH_TRAIN [HEARTH_TRAIN_MPI HEARTH_MPI_TEST] [TEST...]
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

if len(sys.argv) < 4:
    print("tests/train/mpi_test.py:1: Skipped\nbuilt without MPI: ./dev mpi")
    sys.exit(77)
TRAIN, TRAIN_MPI, MPI_TEST = sys.argv[1:4]
del sys.argv[1:4]
CONFIG = {
    "task": "CartPole", "seed": 1, "steps": 1024, "network": [8], "checkpoint_windows": 9,
    "ppo": {"n_agents": 4, "n_steps": 8, "n_minibatches": 2, "n_epochs": 2},
}
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def command(ranks, *arguments):
    return ["mpirun", "--oversubscribe", "-np", str(ranks), *map(str, arguments)]


def run(ranks, *arguments):
    return subprocess.run(command(ranks, *arguments), capture_output=True, text=True, timeout=900, env=ENVIRONMENT)


class Ranks(unittest.TestCase):
    def setUp(self):
        self.keeps = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.keeps.name)

    def tearDown(self):
        self.keeps.cleanup()

    def write(self, name, config):
        path = self.root / f"{name}.json"
        path.write_text(json.dumps(config))
        return path

    def train(self, ranks, config, folder, *more):
        result = run(ranks, TRAIN_MPI, "train", self.write("config", config), "-o", self.root / folder, *more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.root / folder

    def expect_equal(self, a, b):
        for name in ("last.brain", "run.jsonl"):
            self.assertEqual((a / name).read_bytes(), (b / name).read_bytes(), name)


class Mpi(Ranks):
    def test_sums_are_gradients_of_all_samples_and_what_was_not_broadcast_is_found(self):
        for ranks in (2, 4):
            result = run(ranks, MPI_TEST, "--gtest_brief=1")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    # Each hundred steps, and for each checkpoint, weights are compared; ranks that differ end the run.
    def test_ranks_stay_of_one_mind_and_go_on_from_a_checkpoint_to_the_same_bits(self):
        self.train(4, CONFIG, "four")
        whole = self.train(2, CONFIG, "whole")
        self.train(2, CONFIG | {"steps": 512}, "half")
        self.expect_equal(whole, self.train(2, CONFIG, "half", "--resume"))
        self.assertEqual(json.loads((whole / "run.jsonl").read_text().splitlines()[-1])["at"], 1024)

    def test_one_rank_is_as_without_mpi(self):
        with_mpi = self.train(1, CONFIG, "one")
        alone = self.root / "alone"
        result = subprocess.run([TRAIN, "train", self.root / "config.json", "-o", alone], timeout=300)
        self.assertEqual(result.returncode, 0)
        self.expect_equal(with_mpi, alone)

    def test_ranks_of_a_program_without_mpi_are_refused(self):
        result = run(2, TRAIN, "train", self.write("config", CONFIG), "-o", self.root / "refused")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("built without MPI; start hearth_train_mpi", result.stderr)

    def test_worlds_that_cannot_be_divided_and_another_number_of_ranks_are_named(self):
        odd = self.write("odd", CONFIG | {"ppo": {"n_agents": 3}})
        result = run(2, TRAIN_MPI, "train", odd, "-o", self.root / "odd")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("3 agents cannot be divided among 2 ranks", result.stderr)
        folder = self.train(1, CONFIG | {"steps": 32}, "of_one")
        result = run(2, TRAIN_MPI, "train", self.write("more", CONFIG), "-o", folder, "--resume")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("is of 1 ranks, found 2", result.stderr)

    def test_killed_rank_ends_the_job_and_leaves_a_young_checkpoint(self):
        folder = self.root / "killed"
        # So many steps that it does not end, and checkpoints by the clock would do.
        config = self.write("long", CONFIG | {"steps": 1 << 30})
        job = subprocess.Popen(command(2, TRAIN_MPI, "train", config, "-o", folder), env=ENVIRONMENT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while not (folder / "last.brain").exists() and time.monotonic() < deadline:
            self.assertIsNone(job.poll(), "it ended by itself")
            time.sleep(0.01)
        children = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
        ranks = [pid for pid in children if "hearth_train_mpi" in pathlib.Path(f"/proc/{pid}/cmdline").read_text()]
        self.assertEqual(len(ranks), 2)
        os.kill(int(ranks[1]), signal.SIGKILL)
        self.assertNotEqual(job.wait(timeout=60), 0)
        self.assertLess(time.time() - (folder / "last.brain").stat().st_mtime, 60)
        played = subprocess.run([TRAIN, "evaluate", folder / "last.brain", "--episodes", "2"], capture_output=True)
        self.assertEqual(played.returncode, 0, played.stderr)
        self.assertEqual(list(folder.glob("*.tmp")), [])


@unittest.skipUnless(os.environ.get("HEARTH_NIGHTLY"), "takes long: ./dev mpi learn")
class MpiNightly(Ranks):
    def steps_to_bar(self, ranks, seed, bar=475):
        """Samples until 20 episodes return so much on average."""
        example = pathlib.Path(__file__).parents[2] / "demos/train/cart_pole.json"
        config = json.loads(example.read_text()) | {"seed": seed, "checkpoint_windows": 1000}
        folder = self.root / f"{ranks}_{seed}"
        # On the CPU as a device, where this takes a tenth of the time that a software driver does.
        job = subprocess.Popen(command(ranks, TRAIN_MPI, "train", self.write(folder.name, config), "-o", folder,
                                       "--device", "cpu", "--threads", 1), env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while True:
                has_ended = job.poll() is not None
                log = folder / "run.jsonl"
                for line in log.read_text().splitlines(keepends=True) if log.exists() else []:
                    if line.endswith("\n") and json.loads(line).get("mean_return", 0) >= bar:
                        return json.loads(line)["at"]
                self.assertFalse(has_ended, f"{ranks} ranks, seed {seed}: never reached {bar}")
                time.sleep(1)
        finally:
            job.terminate()
            job.wait()

    # As many worlds, divided: what is learned is the same but for rounding and seeds.
    def test_two_ranks_need_no_more_samples_than_one(self):
        steps = {1: [], 2: []}
        for seed in range(int(os.environ.get("HEARTH_SEEDS", "3"))):
            for ranks in steps:
                steps[ranks].append(self.steps_to_bar(ranks, seed))
                print(f"samples to a 20-episode mean of 475: {steps}", flush=True)
        self.assertLessEqual(sum(steps[2]), 1.3 * sum(steps[1]))


if __name__ == "__main__":
    assert shutil.which("mpirun"), "hearth_train_mpi is built, but there is no mpirun"
    unittest.main()
