# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Environments whose every observation, mask, reward and end is written down, and the transitions that follow."""

import gymnasium
import numpy as np
from gymnasium import spaces

#: Lengths of the episodes of a world, in turn, and how each ends.
PLANS = [[(3, "terminated"), (2, "truncated"), (4, "terminated")],
         [(2, "truncated"), (1, "terminated"), (5, "truncated")],
         [(1, "truncated"), (1, "truncated"), (2, "terminated")]]
OPTIONS = 3


def observed(world, episode, t):
    return np.array([world + 1, episode, t], np.float32)


def mask_of(world, episode, t):
    """The options that are available; never none."""
    return np.array([1, (world + t) % 2, (episode + t) % 2], np.int8)


def reward_of(world, t, action):
    return float(100 * world + 10 * t + action)


class Scripted(gymnasium.Env):
    """World `world` of PLANS.  masks: None, "method" (action_masks), "info" or "key" (of a Dict)."""

    metadata = {"render_modes": []}

    def __init__(self, world, masks=None):
        self._world, self._masks, self._episode, self._t = world, masks, -1, 0
        box = spaces.Box(0, 100, (3,), np.float32)
        self.observation_space = box if masks != "key" else spaces.Dict(
            {"observation": box, "action_mask": spaces.MultiBinary(OPTIONS)})
        self.action_space = spaces.Discrete(OPTIONS)
        if masks == "method":
            self.action_masks = self._mask

    def _mask(self):
        return mask_of(self._world, self._episode, self._t)

    def _seen(self):
        seen = observed(self._world, self._episode, self._t)
        info = {"action_mask": self._mask()} if self._masks == "info" else {}
        return ({"observation": seen, "action_mask": self._mask()} if self._masks == "key" else seen), info

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._episode += 1
        self._t = 0
        return self._seen()

    def step(self, action):
        assert self._masks is None or self._mask()[action], "an option that the mask denies"
        reward = reward_of(self._world, self._t, int(action))
        self._t += 1
        length, end = PLANS[self._world][self._episode % 3]
        has_ended = self._t == length
        seen, info = self._seen()
        return seen, reward, has_ended and end == "terminated", has_ended and end == "truncated", info


def transitions(world):
    """Yields what a learner is to see of a world, but for the actions: observation, mask, end (0, 1: terminated, 2:
    truncated), next observation and its mask, t."""
    episode = 0
    while True:
        length, end = PLANS[world][episode % 3]
        for t in range(length):
            kind = (1 if end == "terminated" else 2) if t + 1 == length else 0
            yield (observed(world, episode, t), mask_of(world, episode, t), kind, observed(world, episode, t + 1),
                   mask_of(world, episode, t + 1), t)
        episode += 1


def parallel_env(base):
    """Makes the class of a pettingzoo.ParallelEnv of three agents; base: pettingzoo.ParallelEnv."""

    class ScriptedParallel(base):
        """Agents "0", "1", "2" are the first episodes of PLANS; who has ended is gone until all have."""

        metadata = {"name": "scripted_v0"}

        def __init__(self, masks=None):
            self.possible_agents, self.agents = ["0", "1", "2"], []
            self._masks, self._episode = masks, -1
            self._spaces = {name: (Scripted(0, masks).observation_space, spaces.Discrete(OPTIONS)) for name in "012"}

        def observation_space(self, agent):
            return self._spaces[agent][0]

        def action_space(self, agent):
            return self._spaces[agent][1]

        def reset(self, seed=None, options=None):
            self._episode += 1
            self.agents = list(self.possible_agents)
            self._worlds = {name: Scripted(int(name), self._masks) for name in self.agents}
            for world in self._worlds.values():
                world._episode = self._episode - 1
            first = {name: world.reset() for name, world in self._worlds.items()}
            return {n: o for n, (o, _) in first.items()}, {n: i for n, (_, i) in first.items()}

        def step(self, actions):
            assert set(actions) == set(self.agents)
            all_of = {name: self._worlds[name].step(action) for name, action in actions.items()}
            self.agents = [name for name in self.agents if not (all_of[name][2] or all_of[name][3])]
            return tuple({name: values[i] for name, values in all_of.items()} for i in range(5))

    return ScriptedParallel
