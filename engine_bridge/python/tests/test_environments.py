# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What reaches the learner of each kind of environment: every transition, compared with what should."""

import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="needs the package gymnasium")
from gymnasium import spaces  # noqa: E402
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv  # noqa: E402
from scripted import PLANS, Scripted, mask_of, parallel_env, reward_of, transitions  # noqa: E402

import hearth  # noqa: E402
from hearth._environments import make_batch  # noqa: E402
from hearth._spaces import Action, Observation, batch, pick, space_from_json, space_to_json  # noqa: E402

WORLDS, STEPS = len(PLANS), 40
MASKS = [None, "method", "info", "key"]


@pytest.fixture(scope="module")
def device():
    with hearth.Device("cpu") as device:
        yield device


def scripted_env(kind, masks):
    makers = [lambda world=world: Scripted(world, masks) for world in range(WORLDS)]
    if kind == "Env":
        return [make() for make in makers]
    if kind == "ParallelEnv":
        pettingzoo = pytest.importorskip("pettingzoo", reason="needs the package pettingzoo")
        return parallel_env(pettingzoo.ParallelEnv)(masks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SyncVectorEnv(makers, autoreset_mode=AutoresetMode[kind])


def test_the_scripted_parallel_environment_passes_pettingzoos_check():
    parallel_test = pytest.importorskip("pettingzoo.test", reason="needs the package pettingzoo").parallel_api_test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parallel_test(scripted_env("ParallelEnv", None), num_cycles=50)


def replayed(model):
    """Rows of the replay buffer, oldest first, by world: the first number of an observation is world + 1."""
    agents = model.agents
    count = int(agents.read("replay.size"))
    names = ["observation", "decision", "reward", "end", "next_observation"]
    names += [name for name in ("mask", "next_mask") if "replay." + name in agents.variables]
    columns = {name: agents.read("replay." + name)[:count] for name in names}
    rows = {world: [] for world in range(WORLDS)}
    for i in range(count):
        row = {name: values[i] for name, values in columns.items()}
        rows[int(row["observation"][0]) - 1].append(row)
    return rows


@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("kind", ["Env", "NEXT_STEP", "SAME_STEP", "DISABLED", "ParallelEnv"])
def test_each_transition_reaches_the_learner_as_it_happened(kind, masks, device):
    if kind == "ParallelEnv" and masks == "method":
        pytest.skip("PettingZoo has no method for masks")
    model = hearth.DQN(scripted_env(kind, masks), device=device, seed=1, buffer_size=512, learning_starts=512,
                       exploration_initial_eps=0.7, exploration_fraction=1e9)
    stop_after = STEPS * WORLDS
    model.learn(10**6, callback=lambda m: m.num_timesteps < stop_after)
    rows = replayed(model)
    assert sum(map(len, rows.values())) == model.num_timesteps
    for world in range(WORLDS):
        assert len(rows[world]) > 10
        for row, (seen, mask, end, next_seen, next_mask, t) in zip(rows[world], transitions(world)):
            action = int(row["decision"][0])
            assert np.array_equal(row["observation"], seen)
            assert row["reward"] == reward_of(world, t, action)
            # Only a terminal state has no value; "end" of the buffer is 1 there.
            assert (row["end"] == 1) == (end == 1), (seen, row["end"], end)
            if end != 1:
                assert np.array_equal(row["next_observation"], next_seen)
            if masks is not None:
                assert mask[action] == 1
                if end != 1 and (kind, masks, end) not in UNKNOWN_FINAL_MASKS:
                    assert np.array_equal(row["next_mask"], next_mask), (kind, masks, end)
    model.close()


#: A vector with SAME_STEP has reset the environment before action_masks() can be asked: all options are available.
UNKNOWN_FINAL_MASKS = {("SAME_STEP", "method", 2)}


@pytest.mark.parametrize("masks", [None, "method"])
def test_environments_of_other_processes_are_asked_for_masks_only_if_they_have_them(masks):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        envs = AsyncVectorEnv([lambda world=world: Scripted(world, masks) for world in range(WORLDS)])
    vector = make_batch(envs, 1, 0)
    assert vector.action.mask_size == (0 if masks is None else 3)
    outcome = vector.step(np.zeros((WORLDS, 1), np.float32))  # option 0 is always available
    assert outcome.rewards.tolist() == [0, 100, 200]
    if masks is not None:
        assert np.array_equal(outcome.masks, [mask_of(world, 0, 1) for world in range(WORLDS)])
    vector.close()


def test_a_rollout_of_ppo_has_holes_where_an_agent_waited(device):
    """NEXT_STEP: the step that resets an environment is none of an agent's."""
    model = hearth.PPO(scripted_env("NEXT_STEP", None), device=device, seed=1, n_steps=64, batch_size=192)
    model.learn(10**6, callback=lambda m: m.agents.status["decisions"] < 41)
    steps = int(model.agents.read("rollout.step"))
    valid = model.agents.read("rollout.valid").reshape(64, WORLDS)[:steps]
    seen = model.agents.read("rollout.observation").reshape(64, WORLDS, 3)[:steps]
    ends = model.agents.read("rollout.end").reshape(64, WORLDS)[:steps]
    assert valid.sum() == model.num_timesteps and valid.min() == 0
    for world in range(WORLDS):
        expected = transitions(world)
        for step in range(steps):
            if valid[step, world]:
                observation, _, end, _, _, _ = next(expected)
                assert np.array_equal(seen[step, world], observation) and ends[step, world] == end
            else:  # the one step after an end
                assert ends[step - 1, world] > 0
    model.close()


SPACES = [
    spaces.Box(-2, 3, (2, 2), np.float32), spaces.Box(0, 255, (2, 3), np.uint8), spaces.Discrete(4),
    spaces.Discrete(3, start=-1), spaces.MultiDiscrete([3, 2]), spaces.MultiDiscrete([2, 3], start=[5, -2]),
    spaces.MultiBinary(3), spaces.MultiBinary((2, 2)),
    spaces.Dict({"b": spaces.Box(-1, 1, (2,)), "a": spaces.Tuple([spaces.Discrete(3), spaces.MultiBinary(2)])}),
    spaces.Tuple([spaces.Box(0, 1, (1,)), spaces.Dict({"x": spaces.MultiDiscrete([2, 2])})]),
    spaces.Box(np.array([-1, -1, 0], np.float32), np.array([1, 1, 5], np.float32)),
]


def equal(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    return np.array_equal(a, b)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_values_of_all_spaces_are_encoded_and_decoded(space):
    space.seed(7)
    values = [space.sample() for _ in range(5)]
    assert space_from_json(space_to_json(space)) == space
    action = Action(space)
    for value in values:
        decoded = action.decode(action.encode(value))
        assert space.contains(decoded) and equal(decoded, value)
    observation = Observation(space)
    one_by_one = np.empty((5, observation.size), np.float32)
    for value, out in zip(values, one_by_one):
        observation.encode(value, out)
    together = batch(space, values)
    assert observation.batch_size(together) == 5 and observation.batch_size(values[0]) is None
    assert all(equal(pick(space, together, i), value) for i, value in enumerate(values))
    assert np.array_equal(observation.encode_batch(together, 5), one_by_one)


class Sampled(gymnasium.Env):
    """Observations of any space; a reward for the action that `wanted` accepts."""

    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self._t = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self._t += 1
        return self.observation_space.sample(), 1.0, self._t == 5, False, {}


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_agents_act_and_learn_in_all_spaces(space, device):
    model = hearth.PPO(Sampled(space, space), device=device, seed=0, n_steps=8, batch_size=8, n_epochs=1,
                       network={"kind": "mlp", "hidden_sizes": [4]})
    model.learn(16)
    assert model.agents.status["gradient_steps"] >= 1  # as of the last decision, before the second rollout's
    # The learner encodes the floats: a box as it is, bytes of images divided by 255, the others one-hot.
    value = space.sample()
    action, state = model.predict(value, deterministic=True)
    assert space.contains(action) and state is None
    actions, _ = model.predict(batch(space, [value] * 3), deterministic=True)
    assert all(equal(pick(space, actions, i), action) for i in range(3))
    model.close()


def test_errors_name_what_was_expected(device):
    box, unbounded = spaces.Box(-1, 1, (1,)), spaces.Box(-np.inf, np.inf, (1,))
    for env, message in [
        (Sampled(box, unbounded), "have no bounds, expected finite ones: wrap .*RescaleAction"),
        (Sampled(spaces.Text(3), box), "Text.*expected Box, Discrete, MultiDiscrete"),
        (42, "is a int, expected an id, a function"),
    ]:
        with pytest.raises(hearth.HearthError, match=message):
            make_batch(env, 1, 0)
    with pytest.raises(hearth.HearthError, match="n_envs is 4 for one environment"):
        hearth.PPO(Scripted(0), n_envs=4, device=device)
    with pytest.raises(hearth.HearthError, match="has 2 elements, expected 3"):
        env = Scripted(0, "method")
        env.action_masks = lambda: np.ones(2)
        make_batch(env, 1, 0)
    envs = gymnasium.vector.SyncVectorEnv([lambda: Scripted(0), lambda: Scripted(1)])
    grown, batch_of_two = envs.step, make_batch(envs, 1, 0)
    for i, message in [(0, r"observations have shape \[4, 3\], expected \[2, 3\]"),
                       (1, r"rewards of shape \[4\], expected \[2\], its num_envs"),
                       (3, r"truncations of shape \[4\], expected \[2\]")]:
        envs.step = lambda actions, i=i: tuple(
            np.concatenate([v, v]) if k == i else v for k, v in enumerate(grown(actions)))
        with pytest.raises(hearth.HearthError, match=message):
            batch_of_two.step(np.zeros((2, 1), np.float32))
    for wrong in ([0, -1e9, 0], [1, np.nan, 0]):
        env = Scripted(0, "method")
        env.action_masks = lambda wrong=wrong: np.array(wrong)
        with pytest.raises(hearth.HearthError, match="the action mask has .*, expected 1 .*available.* and 0"):
            make_batch(env, 1, 0)
