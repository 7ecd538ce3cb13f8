# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Maps spaces of Gymnasium to the observations and actions of `cook_agents`, and their values to floats and back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from ._library import HearthError

Array = np.ndarray[Any, Any]
Field = dict[str, Any]
Space = spaces.Space[Any]


def _name(path: str) -> str:
    """A name of a field: 1 to 64 printable characters except '/', '[' and ']'."""
    return re.sub(r"[^ -~]|[/\[\]]", "_", path)[:64] or "value"


def _children(space: Space) -> list[tuple[str, Space]]:
    if isinstance(space, spaces.Dict):
        return [(str(key), child) for key, child in space.spaces.items()]
    return [(str(i), child) for i, child in enumerate(space.spaces)]  # type: ignore[attr-defined]


def _is_composite(space: Space) -> bool:
    return isinstance(space, (spaces.Dict, spaces.Tuple))


def _values(space: Space, value: Any) -> list[Any]:
    return [value[key] for key in space.spaces] if isinstance(space, spaces.Dict) else list(value)


def _indices(space: spaces.MultiDiscrete) -> Iterator[tuple[str, int, int]]:
    """Yields suffix, number of options and first option of each element, in order."""
    start = getattr(space, "start", np.zeros_like(space.nvec))
    for i, (n, first) in enumerate(zip(space.nvec.reshape(-1), np.asarray(start).reshape(-1))):
        yield str(i), int(n), int(first)


def _is_image(space: spaces.Box) -> bool:
    return space.dtype == np.uint8 and bool((space.low == 0).all() and (space.high == 255).all())


class Observation:
    """An observation space: its fields, and the encoding of its values as floats.

    A box's values are passed unchanged, bytes of an image divided by 255; a discrete value is one-hot.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.fields = self._fields("observation", space)
        self._leaves = list(_leaves(space))
        ends = np.cumsum([_leaf_size(leaf) for leaf in self._leaves])
        self._places = [slice(end - _leaf_size(leaf), end) for leaf, end in zip(self._leaves, ends.tolist())]
        self._first = [_first(leaf) for leaf in self._leaves]
        self.size = int(ends[-1]) if len(ends) else 0

    def _fields(self, name: str, space: Space) -> list[Field]:
        name = _name(name)
        if _is_composite(space):
            children = [field for key, child in _children(space) for field in self._fields(key, child)]
            return [{"name": name, "kind": "dict", "fields": children}]
        if isinstance(space, spaces.Box):
            size = int(np.prod(space.shape, dtype=np.int64))
            scale = 255.0 if _is_image(space) else 1.0
            return [{"name": name, "kind": "box", "size": size, "low": -scale, "high": scale}]
        if isinstance(space, spaces.Discrete):
            return [{"name": name, "kind": "discrete", "n": int(space.n)}]
        if isinstance(space, spaces.MultiDiscrete):
            return [{"name": _name(name + " " + suffix), "kind": "discrete", "n": n} for suffix, n, _ in
                    _indices(space)]
        if isinstance(space, spaces.MultiBinary):
            size = int(np.prod(space.shape, dtype=np.int64))
            return [{"name": name, "kind": "box", "size": size, "normalized": False}]
        raise _unsupported("observations", space)

    def encode(self, value: Any, out: Array) -> None:
        """Writes a value of the space as floats to out, float32 [size]."""
        leaves = (leaf for _, leaf in _leaves_of(self.space, value)) if _is_composite(self.space) else (value,)
        for leaf, place, first, space in zip(leaves, self._places, self._first, self._leaves):
            flat = np.asarray(leaf, np.float32).reshape(-1)
            if flat.size != place.stop - place.start:
                raise HearthError(f"an observation has shape {list(np.shape(leaf))}, expected {list(space.shape or ())}"
                                  ", as the observation space says", -1, "HEARTH_ERROR_INVALID_ARGUMENT")
            out[place] = flat
            if first is not None:
                out[place] -= first

    def encode_batch(self, values: Any, count: int) -> Array:
        """Returns values of the batched space, as a VectorEnv has them, as floats [count, size]."""
        out = np.empty((count, self.size), np.float32)
        if isinstance(self.space, spaces.Box):
            if np.shape(values) != (count, *self.space.shape):
                raise HearthError(f"observations have shape {list(np.shape(values))}, expected "
                                  f"{[count, *self.space.shape]}, as the observation space says", -1,
                                  "HEARTH_ERROR_INVALID_ARGUMENT")
            out[:] = np.asarray(values, np.float32).reshape(count, -1)
            return out
        for i in range(count):
            self.encode(pick(self.space, values, i), out[i])
        return out

    def batch_size(self, values: Any) -> int | None:
        """Returns the number of values in a batch of them, None for a single value."""
        space, leaf = next(_leaves_of(self.space, values))
        shape = np.shape(leaf)
        if shape == space.shape:
            return None
        if shape[1:] == space.shape:
            return int(shape[0])
        raise HearthError(f"the observation has shape {list(shape)}, expected {list(space.shape)}, or a batch of "
                          "these", -1, "HEARTH_ERROR_INVALID_ARGUMENT")


class Action:
    """An action space: its actions, and the decoding of floats as its values.

    masked: discrete actions take masks, a float for each option, in order.
    """

    def __init__(self, space: Space, masked: bool = False) -> None:
        self.space = space
        self.actions = self._actions("action", space, masked)
        self.size = sum(_leaf_size(leaf) for leaf in _leaves(space))
        self.mask_size = sum(a["n"] for a in self.actions if a["kind"] == "discrete") if masked else 0

    def _actions(self, name: str, space: Space, masked: bool) -> list[Field]:
        name = _name(name)
        if _is_composite(space):
            return [action for key, child in _children(space)
                    for action in self._actions(key if name == "action" else name + "." + key, child, masked)]
        if isinstance(space, spaces.Discrete):
            return [{"name": name, "kind": "discrete", "n": int(space.n), "masked": masked}]
        if isinstance(space, spaces.MultiDiscrete):
            return [{"name": _name(name + " " + suffix), "kind": "discrete", "n": n, "masked": masked}
                    for suffix, n, _ in _indices(space)]
        if isinstance(space, spaces.MultiBinary):
            return [{"name": f"{name} {i}", "kind": "discrete", "n": 2, "masked": masked}
                    for i in range(int(np.prod(space.shape, dtype=np.int64)))]
        if isinstance(space, spaces.Box):
            return self._continuous(name, space)
        raise _unsupported("actions", space)

    def _continuous(self, name: str, space: spaces.Box) -> list[Field]:
        """One action for each run of elements with equal bounds."""
        low, high = space.low.reshape(-1).astype(float), space.high.reshape(-1).astype(float)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise HearthError(f"the actions {space} have no bounds, expected finite ones: wrap the environment with "
                              "gymnasium.wrappers.RescaleAction, or give the space its bounds", -3,
                              "HEARTH_ERROR_UNSUPPORTED")
        begins = [0] + [i for i in range(1, len(low)) if (low[i], high[i]) != (low[i - 1], high[i - 1])]
        return [{"name": name if len(begins) == 1 else _name(f"{name} {begin}"), "kind": "continuous",
                 "size": end - begin, "low": low[begin], "high": high[begin]}
                for begin, end in zip(begins, [*begins[1:], len(low)])]

    def decode(self, values: Array) -> Any:
        """Returns floats [size] as a value of the space."""
        return _decode(self.space, np.asarray(values), [0])

    def encode(self, value: Any) -> Array:
        """Returns a value of the space as floats [size], as demonstrations have them."""
        out = []
        for space, leaf in _leaves_of(self.space, value):
            flat, first = np.asarray(leaf, np.float32).reshape(-1), _first(space)
            out.append(flat if first is None else flat - first)
        return np.concatenate(out).astype(np.float32)


def _decode(space: Space, values: Array, at: list[int]) -> Any:
    """Decodes the floats from at[0] on, and advances it."""
    if isinstance(space, spaces.Dict):
        return {key: _decode(child, values, at) for key, child in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_decode(child, values, at) for child in space.spaces)
    size = _leaf_size(space)
    own = values[at[0]:at[0] + size]
    at[0] += size
    if isinstance(space, spaces.Discrete):
        return space.dtype.type(space.start + round(float(own[0])))  # type: ignore[union-attr]
    if isinstance(space, spaces.MultiDiscrete):
        own = np.rint(own) + [first for _, _, first in _indices(space)]
    elif isinstance(space, spaces.Box):
        if np.issubdtype(space.dtype, np.integer):  # type: ignore[arg-type]
            own = np.rint(own)
        own = np.clip(own, space.low.reshape(-1), space.high.reshape(-1))
    return np.asarray(own, space.dtype).reshape(space.shape)


def _leaves(space: Space) -> Iterator[Space]:
    if _is_composite(space):
        for _, child in _children(space):
            yield from _leaves(child)
    else:
        yield space


def _leaves_of(space: Space, value: Any) -> Iterator[tuple[Space, Any]]:
    if _is_composite(space):
        for (_, child), own in zip(_children(space), _values(space, value)):
            yield from _leaves_of(child, own)
    else:
        yield space, value


def _first(space: Space) -> Array | None:
    """First options of a discrete space's elements; None: of other spaces, or if all are 0."""
    if isinstance(space, spaces.Discrete):
        first = np.array([space.start], np.float32)
    elif isinstance(space, spaces.MultiDiscrete):
        first = np.array([first for _, _, first in _indices(space)], np.float32)
    else:
        return None
    return first if first.any() else None


def _leaf_size(space: Space) -> int:
    return 1 if isinstance(space, spaces.Discrete) else int(np.prod(space.shape or (), dtype=np.int64))


def _unsupported(what: str, space: Space) -> HearthError:
    return HearthError(f"{what} of the space {space}, expected Box, Discrete, MultiDiscrete, MultiBinary, or a Dict or "
                       "Tuple of them: encode them with a wrapper", -3, "HEARTH_ERROR_UNSUPPORTED")


def pick(space: Space, values: Any, index: int) -> Any:
    """Returns one value of a batch: arrays with a leading extent, in the structure of the space."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        return values[index]  # infos hold values one by one
    if isinstance(space, spaces.Dict):
        return {key: pick(child, values[key], index) for key, child in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(pick(child, own, index) for child, own in zip(space.spaces, values))
    return values[index]


def batch(space: Space, values: Sequence[Any]) -> Any:
    """Returns values as one of the batched space of a VectorEnv."""
    if isinstance(space, spaces.Dict):
        return {key: batch(child, [v[key] for v in values]) for key, child in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(batch(child, [v[i] for v in values]) for i, child in enumerate(space.spaces))
    return np.array(values, space.dtype)


def split_mask(space: Space) -> tuple[Space, bool]:
    """Returns the space without the key "action_mask" of PettingZoo's classic games, and whether it had one."""
    if not isinstance(space, spaces.Dict) or "action_mask" not in space.spaces:
        return space, False
    rest = without_key(space.spaces, "action_mask")
    return (spaces.Dict(rest) if isinstance(rest, dict) else rest), True


def without_key(value: Mapping[str, Any], key: str) -> Any:
    """Returns a value without the mask's key, as one of the space that split_mask returns."""
    rest = {name: own for name, own in value.items() if name != key}
    return rest["observation"] if list(rest) == ["observation"] else rest


def flat_mask(mask: Any, size: int) -> Array:
    """Returns a mask as floats [size]: an array, or for several discrete actions also a sequence of them."""
    parts = mask if isinstance(mask, (tuple, list)) and np.ndim(mask[0]) > 0 else [mask]
    flat = np.concatenate([np.asarray(part, np.float32).reshape(-1) for part in parts])
    if flat.size != size:
        raise HearthError(f"the action mask has {flat.size} elements, expected {size}: one for each option of each "
                          "discrete action, in order", -1, "HEARTH_ERROR_INVALID_ARGUMENT")
    if (flat * (flat - 1)).any():  # NaN, too
        wrong = flat[(flat != 0) & (flat != 1)][0]
        raise HearthError(f"the action mask has an element of {wrong}, expected 1 for an option that is available and "
                          "0 for one that is not", -1, "HEARTH_ERROR_INVALID_ARGUMENT")
    return flat


def space_to_json(space: Space) -> dict[str, Any]:
    """Describes a space for a file; its elements' order and bounds are kept."""
    if _is_composite(space):
        kind = "Dict" if isinstance(space, spaces.Dict) else "Tuple"
        return {"kind": kind, "spaces": [[key, space_to_json(child)] for key, child in _children(space)]}
    if isinstance(space, spaces.Box):
        bounds = {name: values.reshape(-1).astype(float).tolist() for name, values in
                  (("low", space.low), ("high", space.high))}
        return {"kind": "Box", "shape": list(space.shape), "dtype": str(space.dtype), **bounds}
    if isinstance(space, spaces.Discrete):
        return {"kind": "Discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.MultiDiscrete):
        return {"kind": "MultiDiscrete", "nvec": space.nvec.tolist(), "dtype": str(space.dtype),
                "start": np.asarray(getattr(space, "start", np.zeros_like(space.nvec))).tolist()}
    n = space.n  # type: ignore[attr-defined]
    return {"kind": "MultiBinary", "n": int(n) if np.ndim(n) == 0 else [int(extent) for extent in n]}


def space_from_json(described: Mapping[str, Any]) -> Space:
    """Returns the space that space_to_json described."""
    kind = described["kind"]
    if kind in ("Dict", "Tuple"):
        children = [(key, space_from_json(child)) for key, child in described["spaces"]]
        return spaces.Dict(dict(children)) if kind == "Dict" else spaces.Tuple([child for _, child in children])
    if kind == "Box":
        dtype, shape = np.dtype(described["dtype"]), described["shape"]
        low, high = (np.array(described[name]).astype(dtype).reshape(shape) for name in ("low", "high"))
        return spaces.Box(low, high, dtype=dtype.type)
    if kind == "Discrete":
        return spaces.Discrete(described["n"], start=described["start"])
    if kind == "MultiDiscrete":
        return spaces.MultiDiscrete(np.array(described["nvec"]), dtype=np.dtype(described["dtype"]).type,
                                    start=np.array(described["start"]))
    return spaces.MultiBinary(described["n"])
