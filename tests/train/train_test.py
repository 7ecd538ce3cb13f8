#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What becomes of a training run that is interrupted, killed, or out of disk space.

    train_test.py HEARTH_TRAIN
"""

import json
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv.pop(1)
CONFIG = {
    "task": "CartPole", "seed": 1, "steps": 512, "network": [8], "checkpoint_windows": 3,
    "ppo": {"n_agents": 4, "n_steps": 8, "n_minibatches": 1, "n_epochs": 2, "normalize_rewards": False},
}


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def tensors_of(path):
    """The bytes of each tensor of a .safetensors file."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    return {name: data[begin + t["data_offsets"][0]:begin + t["data_offsets"][1]] for name, t in header.items()}


class Train(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keeps = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.keeps.name)
        cls.config = cls.write("whole", CONFIG)
        cls.whole = cls.root / "out_whole"
        result = run("train", cls.config, "-o", cls.whole)
        assert result.returncode == 0, result.stderr

    @classmethod
    def tearDownClass(cls):
        cls.keeps.cleanup()

    @classmethod
    def write(cls, name, config):
        path = cls.root / f"{name}.json"
        path.write_text(json.dumps(config))
        return path

    def expect_as_whole(self, folder):
        for name in ("last.brain", "run.jsonl"):
            self.assertEqual((folder / name).read_bytes(), (self.whole / name).read_bytes(), name)

    def test_resumed_run_ends_with_the_same_bits(self):
        half = self.root / "out_half"
        self.assertEqual(run("train", self.write("half", CONFIG | {"steps": 224}), "-o", half).returncode, 0)
        self.assertNotEqual((half / "last.brain").read_bytes(), (self.whole / "last.brain").read_bytes())
        result = run("train", self.config, "-o", half, "--resume")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.expect_as_whole(half)

    # The order of so many epochs is a tensor of 1.3 MB: more than is read back at a time.
    def test_large_window_is_kept_in_a_checkpoint(self):
        large = {"n_agents": 1024, "n_steps": 8, "n_epochs": 40, "n_minibatches": 1}
        folder = self.root / "out_large"
        config = self.write("large", CONFIG | {"steps": 8192, "network": [4], "ppo": CONFIG["ppo"] | large})
        result = run("train", config, "-o", folder, "--device", "cpu")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater((folder / "last.brain").stat().st_size, 40 * 8192 * 4)

    def test_another_seed_is_another_first_weight_everywhere(self):
        still = CONFIG | {"steps": 32, "ppo": CONFIG["ppo"] | {"learning_rate": 0}}
        weights = []
        for seed in (1, 2):
            folder = self.root / f"out_seed{seed}"
            result = run("train", self.write("still", still | {"seed": seed}), "-o", folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            weights.append(tensors_of(folder / "weights.safetensors"))
        matrices = [name for name in weights[0] if name.endswith(".weight")]
        self.assertEqual(len(matrices), 4)  # two layers of actor and critic each
        for name in matrices:
            self.assertFalse(weights[0][name] == weights[1][name], name)

    def expect_resumed_as_whole(self, config, agents):
        """Returns the folder of the run that was not interrupted."""
        config = CONFIG | config | {"ppo": {"n_agents": agents, "n_steps": 8, "n_minibatches": 1, "n_epochs": 1}}
        whole, half = self.root / config["task"], self.root / f"half_{config['task']}"
        for folder, steps, more in ((whole, 16 * agents, []), (half, 8 * agents, []),
                                    (half, 16 * agents, ["--resume"])):
            result = run("train", self.write("game", config | {"steps": steps}), "-o", folder, *more)
            self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("last.brain", "run.jsonl", "weights.safetensors"):
            self.assertEqual((whole / name).read_bytes(), (half / name).read_bytes(), name)
        return whole

    def test_resumed_run_of_hatchlings_ends_with_the_same_bits(self):
        whole = self.expect_resumed_as_whole({"task": "Hatchlings", "varies_rules": True}, 32)
        found = json.loads(run("evaluate", whole / "last.brain", "--episodes", 1, "--json").stdout)
        self.assertEqual(sum(found["actions"]), 900 * 16 * 2)  # sixteen agents in a world

    def test_resumed_run_of_ghost_lap_ends_with_the_same_bits(self):
        whole = self.expect_resumed_as_whole({"task": "GhostLap"}, 8)
        found = json.loads(run("evaluate", whole / "last.brain", "--episodes", 10, "--json").stdout)
        self.assertEqual(len(found["returns"]), 10)
        self.assertLessEqual(sum(found["actions"]), 10 * 400 * 2)  # fewer where a car is put back
        self.assertLess(max(found["returns"]), 371)  # it has learned nothing to speak of

    def test_worlds_that_agents_do_not_fill_are_refused(self):
        config = self.write("odd", CONFIG | {"task": "Hatchlings", "ppo": {"n_agents": 24, "n_steps": 8}})
        result = run("train", config, "-o", self.root / "odd")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("24 agents are not a multiple of the agents per world, 16", result.stderr)
        config = self.write("rules", CONFIG | {"varies_rules": True})
        self.assertIn("varies_rules", run("train", config, "-o", self.root / "rules").stderr)

    def test_killed_run_leaves_a_checkpoint_from_which_it_goes_on(self):
        folder = self.root / "out_killed"
        # So many steps that it is killed in the middle, and a checkpoint in each window.
        long = self.write("long", CONFIG | {"steps": 1 << 30, "checkpoint_windows": 1})
        process = subprocess.Popen([PROGRAM, "train", long, "-o", folder], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 240
        while not (folder / "last.brain").exists() and time.monotonic() < deadline:
            self.assertIsNone(process.poll(), "it ended by itself")
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.wait(), -signal.SIGKILL)
        played = run("evaluate", folder / "last.brain", "--episodes", 2, "--json")
        self.assertEqual(played.returncode, 0, played.stderr)
        result = run("train", self.config, "-o", folder, "--resume")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.expect_as_whole(folder)
        self.assertEqual(list(folder.glob("*.tmp")), [])

    def test_full_disk_is_an_error_and_leaves_the_last_checkpoint(self):
        folder = self.root / "out_full"
        self.assertEqual(run("train", self.write("some", CONFIG | {"steps": 224}), "-o", folder).returncode, 0)
        before = (folder / "last.brain").read_bytes()

        def no_room():  # files end in the middle of a checkpoint
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, resource.RLIM_INFINITY))

        result = run("train", self.config, "-o", folder, "--resume", preexec_fn=no_room)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("cannot write", result.stderr)
        self.assertEqual((folder / "last.brain").read_bytes(), before)
        self.assertEqual(list(folder.glob("*.tmp")), [])

    def test_a_folder_with_a_run_is_not_written_over(self):
        result = run("train", self.config, "-o", self.whole)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("resume it, or take another folder", result.stderr)

    def test_a_run_does_not_go_on_with_another_configuration(self):
        result = run("train", self.write("other", CONFIG | {"network": [16]}), "-o", self.whole, "--resume")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("of another configuration", result.stderr)

    def test_evaluation_depends_on_the_seed_alone(self):
        brain = self.whole / "last.brain"
        found = [json.loads(run("evaluate", brain, "--episodes", n, "--json").stdout) for n in (9, 3)]
        self.assertEqual(found[0]["returns"][:3], found[1]["returns"])
        self.assertEqual(len(found[0]["returns"]), 9)
        self.assertEqual(sum(found[0]["actions"]), sum(found[0]["returns"]))  # a step is a point
        other = json.loads(run("evaluate", brain, "--episodes", 9, "--seed", 5, "--json").stdout)
        self.assertNotEqual(other["returns"], found[0]["returns"])
        table = run("evaluate", brain, "--episodes", 3, "--log", self.root / "episodes.jsonl")
        self.assertIn("worst", table.stdout)
        self.assertEqual(len((self.root / "episodes.jsonl").read_text().splitlines()), 4)

    def test_league_rates_equal_brains_alike(self):
        brain = self.whole / "last.brain"
        league = json.loads(run("league", brain, brain, "--episodes", 4, "--json").stdout)
        self.assertEqual([round(one["elo"]) for one in league["brains"]], [1500, 1500])

    def test_league_rates_evaluations_of_equal_seeds(self):
        def told(name, returns, seeds):
            path = self.root / name
            path.write_text(json.dumps({"environment": "Race", "returns": returns, "seeds": seeds}))
            return path
        one, two = told("one.json", [1, 5, 2], [7, 8, 9]), told("two.json", [2, 4, 3], [7, 8, 9])
        league = json.loads(run("league", one, two, "--json").stdout)
        self.assertEqual([pathlib.Path(b["brain"]).name for b in league["brains"]], ["two.json", "one.json"])
        self.assertEqual((league["task"], league["episodes"]), ("Race", 3))
        result = run("league", one, told("other.json", [2, 4, 3], [1, 2, 3]))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("other seeds than the first one: 3 from 1, expected 3 from 7", result.stderr)
        result = run("league", one, self.config)
        self.assertIn("is no evaluation", result.stderr)

    def test_what_is_no_brain_is_named(self):
        for path in (self.config, self.root / "missing.brain"):
            result = run("evaluate", path)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(str(path), result.stderr)


if __name__ == "__main__":
    unittest.main()
