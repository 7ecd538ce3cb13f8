# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Kernels that come compiled beside libhearth.so, as in the wheel: without a C compiler."""

import os
import re
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason="needs the package gymnasium")

import hearth  # noqa: E402
from hearth._library import lib  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
RUN = """
import sys, hearth
kind, task, settings = sys.argv[1], sys.argv[2], eval(sys.argv[3])
try:
    model = {"ppo": hearth.PPO, "dqn": hearth.DQN}[kind](task, seed=3, **settings).learn(300)
    print("learned", model.agents.status["gradient_steps"])
except hearth.HearthError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """libhearth.so with the kernels of two settings beside it."""
    if platform.machine() != "x86_64" or shutil.which("cc") is None:
        pytest.skip("needs x86-64 and a C compiler to make kernels with")
    named = os.environ.get("HEARTH_LIBRARY")
    if not named or not (Path(named).parent.parent / "bin/hearth").exists():
        pytest.skip("needs the tool beside HEARTH_LIBRARY in a build folder")
    sys.path.insert(0, str(ROOT / "sdk/support"))
    import wheel_kernels
    isa = ["", "", "", "x86-64-v3", "x86-64-v4"][min(lib().hearth_detect_cpu_isa(), 4)]
    if not isa:
        pytest.skip("needs a machine with AVX2")
    folder = tmp_path_factory.mktemp("library")
    (folder / "kernels").mkdir()
    (folder / "libhearth.so").symlink_to(Path(named).resolve())
    observations, actions = wheel_kernels.DISCRETE["CartPole-v1"]
    patch = pytest.MonkeyPatch()
    patch.setattr(wheel_kernels, "TARGETS", (isa,))
    patch.setattr(wheel_kernels, "FLAGS", [flag if flag != "-O3" else "-O1" for flag in wheel_kernels.FLAGS])
    patch.setattr(wheel_kernels, "settings", lambda: [(kind, 1, observations, actions, None, {})
                                                      for kind in ("ppo", "dqn")])
    sources = tmp_path_factory.mktemp("sources")
    assert wheel_kernels.cook(Path(named).parent.parent, sources) == 2
    assert "kernels" in wheel_kernels.compile_table(isa, sources, folder / "kernels")
    patch.undo()
    return folder / "libhearth.so"


def run(library, tmp_path, kind, task, settings):
    environment = {**os.environ, "HEARTH_LIBRARY": str(library), "CC": "no_such_compiler",
                   "XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    return subprocess.run([sys.executable, "-c", RUN, kind, task, repr(settings)], env=environment, capture_output=True,
                          text=True, timeout=600)


@pytest.mark.parametrize(("kind", "settings"), [
    ("ppo", {}), ("dqn", {}),
    # Values that are no constants of kernels.
    ("ppo", {"learning_rate": 1e-3, "clip_range": 0.1, "ent_coef": 0.01}), ("dqn", {"learning_rate": 1e-3})])
def test_default_networks_learn_without_a_compiler(library, tmp_path, kind, settings):
    done = run(library, tmp_path, kind, "CartPole-v1", settings)
    assert done.stdout.splitlines()[-1].startswith("learned ")
    assert "interpreting" not in done.stderr
    assert not list((tmp_path / "cache").rglob("*.so"))


def test_other_networks_learn_slowly_and_say_why(library, tmp_path):
    done = run(library, tmp_path, "ppo", "CartPole-v1", {"network": {"kind": "mlp", "hidden_sizes": [24]}})
    assert done.stdout.splitlines()[-1].startswith("learned "), done.stdout
    assert re.search(r"^hearth: no C compiler 'no_such_compiler': interpreting \d+ kernels, which is some 34 times slower",
                     done.stderr, re.M), done.stderr
