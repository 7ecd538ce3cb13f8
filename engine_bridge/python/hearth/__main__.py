# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""python -m hearth: evaluates brains."""

from __future__ import annotations

import argparse
import sys

from ._device import Device
from ._library import HearthError


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m hearth", description="Quality gates for brains.")
    commands = parser.add_subparsers(dest="command", required=True)
    evaluate = commands.add_parser("evaluate", help="play seeded episodes with a brain")
    evaluate.add_argument("brain", metavar="BRAIN")
    evaluate.add_argument("--require", type=float, metavar="RETURN",
                          help="exit with 1 if the mean return is less")
    evaluate.add_argument("--package", required=True, help="the .hearth file that the brain belongs to")
    evaluate.add_argument("--environment", required=True, metavar="NAME")
    evaluate.add_argument("--library", help="its shared library (default: all that are found)")
    evaluate.add_argument("--episodes", type=int, default=100)
    evaluate.add_argument("--seed", type=int, default=0)
    evaluate.add_argument("--agents", type=int, help="agents of each world (default: the minimum)")
    evaluate.add_argument("--device", help="an index, a part of a name, or cpu")
    evaluate.add_argument("--json", action="store_true", help="print one JSON object, for hearth league")
    evaluate.add_argument("--png", metavar="FILE", help="draw curves (needs matplotlib)")
    return parser.parse_args(argv)


def _run(arguments: argparse.Namespace) -> int:
    from . import env, gates
    description = env.find(arguments.environment, arguments.library)
    with Device(arguments.device) as device:
        result = gates.evaluate(arguments.brain, arguments.package, description, episodes=arguments.episodes,
                                seed=arguments.seed, n_agents=arguments.agents, device=device)
    print(result.to_json() if arguments.json else result.table())
    if arguments.png:
        gates.draw_evaluation(result, arguments.png)
    return int(arguments.require is not None and result.summary()["return_mean"] < arguments.require)


def main(argv: list[str] | None = None) -> int:
    """Exit codes: 0: success, 1: failure or a return below --require, 2: wrong arguments."""
    arguments = _arguments(argv)
    try:
        return _run(arguments)
    except (HearthError, OSError) as failure:
        print(f"hearth {arguments.command}: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
