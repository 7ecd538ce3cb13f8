# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Converts policies of Stable-Baselines3 and CleanRL to brains, and back.

    checkpoint = hearth.checkpoints.load("ppo_cartpole.zip")       # or CleanRL's .pt / .cleanrl_model
    package = checkpoint.cook(n_agents=16)
    brain = checkpoint.brain(package)                              # for the game, and for Agents.load_brain
    checkpoint.verify(package, brain)                              # 1,000 forward passes
    ... training continues in the game ...
    checkpoint.save("back.zip", checkpoint.export(package, brain))

Supports policies over flat observations: PPO and A2C (multilayer perceptrons), recurrent PPO (one LSTM), DQN.
Adam's moments are not converted: they are reset.  Files are read by torch with weights_only=True.
"""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ._cook import cook_agents
from ._device import Device
from ._library import HearthError
from ._model import Array, Model, Package, read_bytes

State = dict[str, Array]

_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
}
# The recurrent state of a network is h and c concatenated; that of the entry "policy" is the actor's, then the
# critic's.


@dataclass(frozen=True)
class _Link:
    """A tensor of the checkpoint, with its name and scale in a brain."""

    theirs: str  #: name in the checkpoint
    ours: str  #: name in the brain
    # ours = (theirs - shift) / scale; for log_std: theirs - log(scale).
    scale: Array | None = None
    shift: Array | None = None
    is_log: bool = False

    def to_ours(self, x: Array) -> Array:
        if self.scale is None:
            return x
        scale = self.scale.reshape(-1, *[1] * (x.ndim - 1))
        if self.is_log:
            return (x.reshape(-1) - np.log(self.scale)).astype(np.float32)
        return ((x - (0 if self.shift is None else self.shift)) / scale).astype(np.float32)

    def to_theirs(self, x: Array, shape: tuple[int, ...]) -> Array:
        if self.scale is not None:
            scale = self.scale.reshape(-1, *[1] * (x.ndim - 1))
            x = x + np.log(self.scale) if self.is_log else x * scale + (0 if self.shift is None else self.shift)
        return np.asarray(x, np.float32).reshape(shape)


@dataclass(repr=False)
class Checkpoint:
    """A policy trained elsewhere: its tensors, and their mapping to a brain."""

    origin: str  #: "stable-baselines3" or "cleanrl"
    learner: str  #: "ppo" or "dqn"
    observations: list[dict[str, Any]]  #: as for `cook_agents`, like actions and network
    actions: list[dict[str, Any]]
    network: dict[str, Any]
    state: State  #: by the names of the checkpoint
    source: bytes | None = None  #: the file, for `save`
    links: list[_Link] = field(default_factory=list)

    def __repr__(self) -> str:
        network = {key: value for key, value in self.network.items() if key != "kind"}
        actions = ", ".join(f"{a['name']} ({a['kind']} {a.get('n', a.get('size', 1))})" for a in self.actions)
        size = sum(field.get("size", 1) for field in self.observations)
        return (f"<{self.learner.upper()} of {self.origin}: {size} observations, {actions}, "
                f"{self.network['kind']} {network}, {sum(v.size for v in self.state.values()):,} weights>")

    def cook(self, *, n_agents: int = 16, device: Device | None = None, learner: Mapping[str, Any] | None = None,
             **options: Any) -> bytes:
        """Returns a package with the checkpoint's network.  learner, options: as for `cook_agents`."""
        hyperparameters: dict[str, Any] = {"kind": self.learner, "normalize_observations": False}
        if self.learner == "ppo":
            hyperparameters.update(normalize_rewards=False, log_std_min=-20.0, log_std_max=2.0)
        else:
            hyperparameters.update(dueling=False)
        # Policies of Stable-Baselines3 and CleanRL do not clip observations: the limit is too high to have an effect.
        hyperparameters.update({"clip_obs": 1e4, **(learner or {})})
        return cook_agents(self.observations, self.actions, n_agents=n_agents, network=self.network,
                           learner=hyperparameters, device=device, **options)

    def brain(self, package: Package, device: Device | None = None) -> bytes:
        """Returns a brain that acts like the checkpoint.  Errors: HearthError for a package of another network."""
        with Model(package, device) as model:
            variables = model.variables
            values: State = {}
            for link in self.links:
                value = link.to_ours(self.state[link.theirs])
                for name in (link.ours, "published.param." + link.ours, "target." + link.ours):
                    # Stable-Baselines3 also stores DQN's target network, whose links come first.
                    if name in variables and name not in values:
                        values[name] = value
                if link.ours not in values:
                    raise HearthError(f"the package has no variable '{link.ours}' for the checkpoint's "
                                      f"'{link.theirs}'", -15, "HEARTH_ERROR_INCOMPATIBLE")
            model.write(values)
            return model.save_brain()

    def export(self, package: Package, brain: Package, device: Device | None = None) -> State:
        """Returns the brain's weights with the names and in the units of the checkpoint.

        Error: HearthError if networks that share weights in the checkpoint have diverged.
        """
        state = {name: value.copy() for name, value in self.state.items()}
        taken: dict[str, Array] = {}
        with Model(package, device) as model:
            model.load_brain(brain)
            for link in self.links:
                value = link.to_theirs(model.read(link.ours), self.state[link.theirs].shape)
                if link.theirs in taken and not np.array_equal(taken[link.theirs], value):
                    raise HearthError(f"actor and critic share '{link.theirs}' in the checkpoint, but their weights "
                                      "differ in the brain", -15, "HEARTH_ERROR_INCOMPATIBLE")
                taken[link.theirs] = state[link.theirs] = value
        return state

    def forward(self, observation: Array,
                recurrent_state: Array | None = None) -> tuple[Array, Array | None, Array | None]:
        """Evaluates the checkpoint's policy in NumPy in double precision.

        observation: [batch, size].  recurrent_state: [batch, 4 * hidden size], of a recurrent policy: h and c of the
        actor, then of the critic.
        Returns the output of the policy head (logits and means, or Q values), the value and the next recurrent state.
        """
        return _Reference(self).forward(np.asarray(observation, np.float64), recurrent_state)

    def verify(self, package: Package, brain: Package, *, passes: int = 1000, tolerance: float = 1e-5, seed: int = 0,
               device: Device | None = None) -> float:
        """Compares forward passes on random observations; the recurrent state persists between passes.

        Returns the largest difference, relative to max(1, |expected|).  Error: HearthError if it exceeds `tolerance`.
        """
        random = np.random.default_rng(seed)
        size = sum(f.get("size", 1) for f in self.observations)
        worst = 0.0
        with Model(package, device) as model:
            model.load_brain(brain)
            batch_size = min(model.max_batch_size, passes)
            hidden_size = self.network["hidden_size"] if self.network["kind"] == "lstm" else 0
            our_state = their_state = np.zeros((batch_size, 4 * hidden_size), np.float32)
            scale, shift = _units(self.actions)
            for _ in range(-(-passes // batch_size)):
                observation = random.normal(size=(batch_size, size)).astype(np.float32)
                inputs = {"observation": observation, **({"recurrent_state": our_state} if hidden_size else {})}
                ours = model.run("policy", inputs)
                head, value, their_state = self.forward(observation, their_state if hidden_size else None)
                pairs = [(ours["q_values" if self.learner == "dqn" else "logits_and_means"] * scale + shift, head)]
                if value is not None:
                    pairs.append((ours["value"], value))
                if hidden_size:
                    our_state = ours["next_recurrent_state"]
                    pairs.append((our_state, their_state))
                for a, b in pairs:
                    worst = max(worst, float((np.abs(a - b) / np.maximum(1, np.abs(b))).max()))
        if not worst <= tolerance:
            raise HearthError(f"{passes} forward passes differ by up to {worst:.3g}, expected at most {tolerance:.3g}",
                              -15, "HEARTH_ERROR_INCOMPATIBLE")
        return worst

    def save(self, path: str | os.PathLike[str], state: Mapping[str, Array]) -> None:
        """Writes a checkpoint file like the one that was read, with these tensors and the old optimizer state."""
        torch = _torch()
        if self.source is None:
            raise HearthError("this checkpoint was made from tensors, not from a file: use torch.save")
        stored = io.BytesIO()
        tensors = {name: torch.from_numpy(np.array(value)) for name, value in state.items()}
        torch.save(tensors, stored)
        if self.origin == "cleanrl":
            Path(path).write_bytes(stored.getvalue())
            return
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(self.source)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as new:
            for name in old.namelist():
                new.writestr(name, stored.getvalue() if name == "policy.pth" else old.read(name))
        Path(path).write_bytes(out.getvalue())


class _Reference:
    """An independent implementation of the checkpoint's policy, for comparison."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.state = {name: value.astype(np.float64) for name, value in checkpoint.state.items()}
        self.checkpoint = checkpoint
        self.activation = _ACTIVATIONS[checkpoint.network.get("activation", "tanh")]

    def dense(self, names: Sequence[str], x: Array) -> Array:
        for name in names:
            x = self.activation(x @ self.state[name + ".weight"].T + self.state[name + ".bias"])
        return x

    def linear(self, name: str, x: Array) -> Array:
        return x @ self.state[name + ".weight"].T + self.state[name + ".bias"]

    def lstm(self, name: str, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
        s = self.state
        gates = (x @ s[name + ".weight_ih_l0"].T + s[name + ".bias_ih_l0"] + h @ s[name + ".weight_hh_l0"].T
                 + s[name + ".bias_hh_l0"])
        i, f, g, o = np.split(gates, 4, axis=-1)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        return np.tanh(c) / (1 + np.exp(-o)), c

    def forward(self, x: Array, recurrent_state: Array | None) -> tuple[Array, Array | None, Array | None]:
        nets = _nets(self.checkpoint.origin, self.checkpoint.learner, self.state)
        results, states = [], []
        for i, net in enumerate(nets):
            y = self.dense(net.before, x)
            if net.lstm:
                assert recurrent_state is not None
                h, c = np.split(np.split(np.asarray(recurrent_state, np.float64), 2, axis=-1)[i], 2, axis=-1)
                h, c = self.lstm(net.lstm, y, h, c)
                states += [h, c]
                y = h
            results.append(self.linear(net.head, self.dense(net.after, y)))
        value = results[1][:, 0] if len(results) > 1 else None
        return results[0], value, np.concatenate(states, 1) if states else None


@dataclass(frozen=True)
class _Net:
    """A network of a checkpoint: names of its dense layers, its LSTM and its output layer."""

    ours: str  #: "actor", "critic" or "q"
    before: list[str]
    lstm: str
    after: list[str]
    head: str


def _layers(state: Mapping[str, Array], prefix: str) -> list[str]:
    """Returns the names of the dense layers prefix.0, prefix.2, ... in order."""
    found = [(int(m[1]), name[:-7]) for name in state
             if (m := re.fullmatch(re.escape(prefix) + r"\.(\d+)\.weight", name))]
    return [name for _, name in sorted(found)]


def _nets(origin: str, learner: str, state: Mapping[str, Array]) -> list[_Net]:
    """Groups the checkpoint's tensors into networks, the actor first."""
    if learner == "dqn":
        layers = _layers(state, "q_net.q_net" if origin == "stable-baselines3" else "network")
        return [_Net("q", layers[:-1], "", [], layers[-1])]
    if origin == "stable-baselines3":
        actor, critic = _layers(state, "mlp_extractor.policy_net"), _layers(state, "mlp_extractor.value_net")
        if "lstm_actor.weight_ih_l0" in state:
            critic_lstm = "lstm_critic" if "lstm_critic.weight_ih_l0" in state else "lstm_actor"
            if "critic.weight" in state:
                raise HearthError("the critic has no LSTM; expected enable_critic_lstm or shared_lstm", -3,
                                  "HEARTH_ERROR_UNSUPPORTED")
            return [_Net("actor", [], "lstm_actor", actor, "action_net"),
                    _Net("critic", [], critic_lstm, critic, "value_net")]
        return [_Net("actor", actor, "", [], "action_net"), _Net("critic", critic, "", [], "value_net")]
    if "lstm.weight_ih_l0" in state:
        before = _layers(state, "network")
        return [_Net("actor", before, "lstm", [], "actor"), _Net("critic", before, "lstm", [], "critic")]
    actor = _layers(state, "actor_mean") or _layers(state, "actor")
    critic = _layers(state, "critic")
    return [_Net("actor", actor[:-1], "", [], actor[-1]), _Net("critic", critic[:-1], "", [], critic[-1])]


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise HearthError("checkpoints are read with torch, which is not installed: pip install torch") from None
    return torch


def _tensors(stored: bytes) -> State:
    loaded = _torch().load(io.BytesIO(stored), map_location="cpu", weights_only=True)
    if not isinstance(loaded, Mapping) or not all(hasattr(v, "numpy") for v in loaded.values()):
        raise HearthError("the file contains no state_dict; expected a file of torch.save(agent.state_dict(), ...)", -4,
                          "HEARTH_ERROR_CORRUPT_DATA")
    return {name: np.array(value.numpy()) for name, value in loaded.items()}


def load(file: Package, *, actions: Sequence[Mapping[str, Any]] | None = None,
         activation: str | None = None) -> Checkpoint:
    """Reads a checkpoint: Stable-Baselines3's .zip, or a state_dict as CleanRL saves it.

    actions: as for `cook_agents`; None: one discrete action, or a continuous one in [-1, 1].  activation: "tanh",
    "relu" or "silu"; None: as stored in the file, else tanh (PPO, A2C) or relu (DQN).
    """
    data = read_bytes(file)
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if "policy.pth" in archive.namelist():
                if activation is None:
                    activation = _stored_activation(json.loads(archive.read("data")))
                checkpoint = from_state("stable-baselines3", _tensors(archive.read("policy.pth")), actions=actions,
                                        activation=activation)
                checkpoint.source = data
                return checkpoint
    checkpoint = from_state("cleanrl", _tensors(data), actions=actions, activation=activation)
    checkpoint.source = data
    return checkpoint


def _stored_activation(data: Mapping[str, Any]) -> str | None:
    """Returns the activation in the policy_kwargs of a Stable-Baselines3 file, which stores them as text."""
    text = str((data.get("policy_kwargs") or {}).get("activation_fn", ""))
    match = re.search(r"activation\.(\w+)'", text)
    if not match:
        return None
    if match[1].lower() not in _ACTIVATIONS:
        raise HearthError(f"the policy's activation is {match[1]}, expected one of {', '.join(_ACTIVATIONS)}", -3,
                          "HEARTH_ERROR_UNSUPPORTED")
    return match[1].lower()


def from_state(origin: str, state: Mapping[str, Any], *, actions: Sequence[Mapping[str, Any]] | None = None,
               activation: str | None = None) -> Checkpoint:
    """As `load`, from tensors by name: `policy.state_dict()` of Stable-Baselines3, `agent.state_dict()` of CleanRL.

    origin: "stable-baselines3" or "cleanrl".
    Errors: HearthError naming unsupported parts: convolutions, layers that differ between actor and critic.
    """
    tensors = {name: np.array(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
               for name, value in state.items()}
    if origin not in ("stable-baselines3", "cleanrl"):
        raise HearthError(f"origin is '{origin}', expected stable-baselines3 or cleanrl")
    images = [name for name, value in tensors.items() if value.ndim > 2]
    if images:
        raise HearthError(f"'{images[0]}' has {tensors[images[0]].ndim} axes: policies with image observations are not "
                          "supported, expected flat observations", -3, "HEARTH_ERROR_UNSUPPORTED")
    is_dqn = any(name.startswith("q_net.") for name in tensors) or (
        origin == "cleanrl" and "network.0.weight" in tensors and "lstm.weight_ih_l0" not in tensors)
    learner = "dqn" if is_dqn else "ppo"
    try:
        nets = _nets(origin, learner, tensors)
        network, observation_size = _network(nets, tensors)
        head = tensors[nets[0].head + ".weight"]
    except (KeyError, IndexError):
        raise HearthError(f"this is not a supported policy of {origin}; its tensors are {', '.join(tensors)}", -3,
                           "HEARTH_ERROR_UNSUPPORTED") from None
    network["activation"] = activation or ("relu" if is_dqn else "tanh")
    log_std = next((name for name in ("log_std", "actor_logstd") if name in tensors), None)
    if actions is None:
        outputs = head.shape[0]
        actions = [{"name": "action", "kind": "continuous", "size": outputs}] if log_std else [
            {"name": "action", "kind": "discrete", "n": outputs}]
    described = [dict(a) for a in actions]
    expected = sum(map(_output_size, described))
    if expected != head.shape[0]:
        raise HearthError(f"the actions take {expected} outputs, but '{nets[0].head}' has {head.shape[0]}", -15,
                          "HEARTH_ERROR_INCOMPATIBLE")
    if is_dqn and len(described) != 1:
        raise HearthError(f"a DQN checkpoint has one discrete action, found {len(described)} actions")
    checkpoint = Checkpoint(origin, learner, [{"name": "observation", "kind": "box", "size": observation_size}],
                            described, network, tensors)
    checkpoint.links = _links(checkpoint, nets, log_std)
    return checkpoint


def _output_size(action: Mapping[str, Any]) -> int:
    """Number of outputs of the policy head for this action: logits, or means."""
    return int(action["n"] if action["kind"] == "discrete" else action.get("size", 1))


def _network(nets: Sequence[_Net], tensors: State) -> tuple[dict[str, Any], int]:
    """Returns the network of `cook_agents` that all nets have, and their observation size."""
    def sizes(names: Sequence[str]) -> list[int]:
        return [tensors[name + ".weight"].shape[0] for name in names]

    found = []
    for net in nets:
        first = (net.before + [net.lstm] if net.lstm else net.before + [net.head])[0]
        weight = tensors[first + (".weight_ih_l0" if first == net.lstm and net.lstm else ".weight")]
        if net.lstm:
            hidden_size = tensors[net.lstm + ".weight_hh_l0"].shape[1]
            if net.lstm + ".weight_ih_l1" in tensors:
                raise HearthError(f"'{net.lstm}' has more than one layer, expected one", -3,
                                  "HEARTH_ERROR_UNSUPPORTED")
            found.append(({"kind": "lstm", "hidden_size": hidden_size, "before": sizes(net.before),
                           "after": sizes(net.after)}, weight.shape[1]))
        else:
            found.append(({"kind": "mlp", "hidden_sizes": sizes(net.before)}, weight.shape[1]))
    if any(f != found[0] for f in found):
        raise HearthError(f"actor and critic differ: {found[0][0]} and {found[1][0]}; expected the same layers", -3,
                          "HEARTH_ERROR_UNSUPPORTED")
    return dict(found[0][0]), found[0][1]


def _links(checkpoint: Checkpoint, nets: Sequence[_Net], log_std: str | None) -> list[_Link]:
    links: list[_Link] = []

    def dense(theirs: str, ours: str, scale: Array | None = None, shift: Array | None = None) -> None:
        links.append(_Link(theirs + ".weight", ours + ".weight", scale))
        links.append(_Link(theirs + ".bias", ours + ".bias", scale, shift))

    for net in nets:
        before = net.ours + (".before" if net.lstm else "")
        for i, name in enumerate(net.before):
            dense(name, f"{before}.{i}")
        if net.lstm:
            links += [_Link(f"{net.lstm}.{part}", f"{net.ours}.lstm.{part}")
                      for part in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")]
        for i, name in enumerate(net.after):
            dense(name, f"{net.ours}.after.{i}")
        if net.ours == "q":
            dense(net.head, "q.choices." + checkpoint.actions[0]["name"])
        elif net.ours == "critic":
            dense(net.head, "critic.head")
        else:
            scale, shift = _units(checkpoint.actions)
            has_units = bool((scale != 1).any() or (shift != 0).any())
            dense(net.head, "actor.head", scale if has_units else None, shift if has_units else None)
    if log_std:
        scale, _ = _units(checkpoint.actions)
        is_continuous = np.concatenate([np.full(_output_size(a), a["kind"] == "continuous")
                                        for a in checkpoint.actions])
        links.append(_Link(log_std, "actor.log_std", scale[is_continuous], None, True))
    if checkpoint.origin == "stable-baselines3" and checkpoint.learner == "dqn":
        for link in list(links):
            links.append(_Link(link.theirs.replace("q_net.", "q_net_target.", 1), "target." + link.ours))
        links.sort(key=lambda link: not link.ours.startswith("target."))  # the first value of a variable is used
    return links


def _units(actions: Sequence[Mapping[str, Any]]) -> tuple[Array, Array]:
    """Returns scale and shift from a brain's outputs, whose actions lie in [-1, 1], to the game's units."""
    scale, shift = [], []
    for a in actions:
        low, high = (a.get("low", -1.0), a.get("high", 1.0)) if a["kind"] == "continuous" else (-1.0, 1.0)
        scale += [(high - low) / 2] * _output_size(a)
        shift += [(high + low) / 2] * _output_size(a)
    return np.array(scale, np.float64), np.array(shift, np.float64)
