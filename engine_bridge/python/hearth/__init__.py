# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Neural networks on a Vulkan device or the CPU, over Hearth's C interface.

    import hearth, numpy
    package = hearth.cook_onnx("policy.onnx", max_batch_size=64)
    model = hearth.Model(package)
    model.run(observation=numpy.zeros((10, 8), "float32"))

`Model` runs and trains packages, `fit` trains networks on samples, `Agents` learn while they act, `learn`, `PPO`, `DQN`
and `SAC` train in environments of Gymnasium and PettingZoo, `hearth.env` makes Gymnasium environments of games,
`hearth.gates` evaluates brains, and `hearth.checkpoints` imports and exports policies of Stable-Baselines3 and CleanRL.
"""

import importlib
from typing import Any

from ._agents import Agents
from ._cook import cook_agents, cook_network, cook_onnx, cook_package, cook_regression, export_onnx
from ._demo import Demo, read_demo
from ._device import Device, default_device, devices
from ._fit import Dataset, Fit, fit
from ._library import HearthError
from ._model import Model, Tensor
from ._regression import Regression

__version__ = "0.2.0"
__all__ = ["Agents", "Dataset", "Demo", "Device", "Fit", "HearthError", "Model", "Regression", "Tensor", "cook_agents",
           "cook_network", "cook_onnx", "cook_package", "cook_regression", "default_device", "devices", "export_onnx",
           "fit", "read_demo"]

# These need gymnasium, which importing hearth does not.
_ALGORITHMS = {"DQN": "_algorithms", "PPO": "_algorithms", "SAC": "_algorithms", "SelfPlay": "_self_play",
               "evaluate_policy": "_algorithms", "learn": "_algorithms"}


def __getattr__(name: str) -> Any:
    if name not in _ALGORITHMS:
        raise AttributeError(f"module 'hearth' has no attribute '{name}'")
    try:
        module = importlib.import_module("." + _ALGORITHMS[name], __name__)
    except ImportError as missing:
        if missing.name != "gymnasium":
            raise
        raise HearthError(f"hearth.{name} trains in environments of gymnasium, which is not installed: "
                          "pip install 'gymnasium>=1.0'") from None
    return getattr(module, name)
