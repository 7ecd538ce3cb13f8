# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""python -m hearth: evaluate."""

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
    evaluate.add_argument("--library", help="the shared library that has it (default: those that are found)")
    evaluate.add_argument("--episodes", type=int, default=100)
    evaluate.add_argument("--seed", type=int, default=0)
    evaluate.add_argument("--agents", type=int, help="of each world (default: the fewest)")
    evaluate.add_argument("--device", help="an index or a part of a name")
    evaluate.add_argument("--json", action="store_true", help="print one JSON object, which hearth league rates")
    evaluate.add_argument("--png", metavar="FILE", help="draw curves (needs matplotlib)")
    return parser.parse_args(argv)


def _run(arguments: argparse.Namespace) -> int:
    from . import env, gates
    description = env.find(arguments.environment, arguments.library)
    with Device(arguments.device) as device:
        told = gates.evaluate(arguments.brain, arguments.package, description, episodes=arguments.episodes,
                              seed=arguments.seed, agents=arguments.agents, device=device)
    print(told.to_json() if arguments.json else told.table())
    if arguments.png:
        gates.draw_evaluation(told, arguments.png)
    return int(arguments.require is not None and told.summary()["return_mean"] < arguments.require)


def main(argv: list[str] | None = None) -> int:
    """Exit codes: 0 for success, 1 for "no" and failure, 2 for wrong arguments."""
    arguments = _arguments(argv)
    try:
        return _run(arguments)
    except (HearthError, OSError) as told:
        print(f"hearth {arguments.command}: {told}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
