# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Packages of strangers on the CPU device: their kernels are C text."""

import re
import struct

import numpy as np
import pytest

import hearth
from test_model import FIELDS, PUSH, linear_onnx

WORD = (1 << 64) - 1


def rotated(x, by):
    return (x << by | x >> (64 - by)) & WORD


def checksum(data):
    """As sdk/src/core/checksum.hpp."""
    step, finish = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F
    lanes = [step, finish, 0, WORD ^ step]
    words = [int.from_bytes(data[at:at + 8], "little") for at in range(0, len(data), 8)]
    whole = len(data) // 32 * 4
    for at, word in enumerate(words):
        lane = at % 4 if at < whole else at - whole
        lanes[lane] = rotated(lanes[lane] ^ word, 29) * step & WORD
    total = len(data) * finish & WORD
    for lane in lanes:
        total = (rotated(total ^ lane, 31) + finish) * step & WORD
    total = (total ^ total >> 33) * finish & WORD
    return total ^ total >> 29


def with_c_text(package, text):
    """The package with its kernels' C text replaced, and right checksums."""
    data = bytearray(package)
    sections, targets = struct.unpack_from("<II", data, 32)
    for record in range(40, 40 + 32 * sections, 32):
        kind, _, at, size, _ = struct.unpack_from("<IIQQQ", data, record)
        if kind == 3:  # a program
            program = data[at:at + size]
            kernels, count = struct.unpack_from("<QQ", program, 88)
            texts, _ = struct.unpack_from("<QQ", program, 88 + 16 * 14)
            for kernel in range(kernels, kernels + 88 * count, 88):
                source, length = struct.unpack_from("<II", program, kernel + 8)
                begin = texts + source
                name = re.search(rb"hearth_kernel_[0-9a-f]{16}", program[begin:begin + length])[0]
                new = b"static void " + name + (b"(void* const* operands, int32_t rows, int32_t first, int32_t end, "
                                                b"int32_t workgroups) {}\n") + text
                assert len(new) <= length
                program[begin:begin + length] = new.ljust(length)
                text = b""  # once
            struct.pack_into("<Q", program, 16, checksum(program[24:]))
            data[at:at + size] = program
        struct.pack_into("<Q", data, record + 24, checksum(data[at:at + size]))
    struct.pack_into("<Q", data, 16, checksum(data[24:40 + 32 * sections + 48 * targets]))
    return bytes(data)


def test_c_text_of_a_package_is_compiled_only_if_trusted(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    marker = tmp_path / "marker"
    text = ('extern void* fopen(const char*, const char*);\n__attribute__((constructor)) static void created(void) '
            f'{{ fopen("{marker}", "w"); }}\n').encode()
    random = np.random.default_rng(0)
    weight, bias = random.normal(size=(3, 2)).astype("f4"), random.normal(size=2).astype("f4")
    x = random.normal(size=(4, 3)).astype("f4")
    onnx = linear_onnx(weight, bias)
    network = with_c_text(hearth.cook_onnx(onnx, max_batch_size=4, device_targets=["scalar"]), text)
    crowd = with_c_text(hearth.cook_agents(FIELDS, PUSH, n_agents=3, device_targets=["scalar"]), text)
    with hearth.Device("cpu") as cpu:
        with hearth.Model(network, cpu) as model:
            assert np.abs(model.run(x=x)["y"] - np.tanh(x @ weight + bias)).max() < 1e-5
        with hearth.Agents(crowd, 3, cpu) as agents:
            agents.decide(np.zeros((3, 4)))
        with pytest.raises(hearth.HearthError, match="only with HEARTH_HEADLESS_TRUST_KERNELS; found 'scalar'"):
            hearth.Model(network, cpu, device_target="scalar")
        assert not marker.exists()
        hearth.Model(network, cpu, trust=True).close()
        assert marker.exists()


def test_what_a_package_was_cooked_with_is_kept_when_it_is_cooked_again():
    crowd = hearth.cook_agents(FIELDS, PUSH, n_agents=3, precision="f16")
    with hearth.Device("cpu") as cpu:
        for package in (crowd, hearth.cook_package(crowd), hearth.cook_package(crowd, device=cpu)):
            with hearth.Agents(package, 3, cpu) as agents:
                assert agents.max_batch_size == 3
            assert b'"precision":"f16"' in package
    with pytest.raises(hearth.HearthError, match="max_batch_size is 2, expected at least the 3 agents of the package"):
        hearth.cook_package(crowd, max_batch_size=2)


def test_errors_have_no_control_characters_of_a_file():
    random = np.random.default_rng(0)
    onnx = linear_onnx(random.normal(size=(3, 2)).astype("f4"), random.normal(size=2).astype("f4"))
    for mark in ("\u202e", "\u2066", "\u200f", "\x1b", "\x9b"):
        with pytest.raises(hearth.HearthError) as failure:
            hearth.cook_onnx(onnx, name=f"a{mark}b", learn={"output": f"y{mark}"})
        assert mark not in str(failure.value) and "'y?" in str(failure.value)
        assert str(hearth.HearthError(f"'a{mark}b'")) == "'a?b'"


@pytest.mark.parametrize("kind", ["ppo", "sac"])
def test_brains_that_compute_no_finite_actions_are_refused(kind):
    device = hearth.Device("cpu")
    package = hearth.cook_agents([{"name": "place", "kind": "box", "size": 3, "normalized": False}],
                                 [{"name": "aim", "kind": "continuous", "size": 2}], n_agents=2,
                                 network={"kind": "mlp", "hidden_sizes": [8, 8], "activation": "relu"},
                                 learner={"kind": kind}, device=device)
    seen = np.array([[2000, -0.4, 2000]] * 2)

    def with_weights(value):
        model = hearth.Model(package, device)
        for name in ("actor.0.weight", "actor.1.weight"):
            for variable in (name, "published.param." + name):
                model.write({variable: np.full(model.variables[variable].shape, value, np.float32)})
        return model.save_brain()

    agents = hearth.Agents(package, 2, device)
    before = agents.decide(seen, exploration=0)
    with pytest.raises(hearth.HearthError, match=r"weight': element 0 has a magnitude of 2\^60 or more"):
        agents.load_brain(with_weights(3e38))
    np.testing.assert_array_equal(agents.decide(seen, exploration=0), before)
    # Finite by itself, as no training would make it, and not finite by the third layer.
    agents.load_brain(with_weights(9e17))
    with pytest.raises(hearth.HearthError, match="decides on NaN or infinite actions"):
        for _ in range(4):
            assert np.isfinite(agents.decide(seen, exploration=0)).all()
    assert agents.status["brains_rejected"] == 1
    np.testing.assert_array_equal(agents.decide(seen, exploration=0), before)
