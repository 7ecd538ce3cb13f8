# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""python -m hearth: evaluate and league."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ._device import Device
from ._library import HearthError


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m hearth", description="Quality gates for brains.")
    commands = parser.add_subparsers(dest="command", required=True)
    evaluate = commands.add_parser("evaluate", help="play seeded episodes with a brain")
    evaluate.add_argument("brains", metavar="BRAIN", nargs=1)
    evaluate.add_argument("--require", type=float, metavar="RETURN",
                          help="exit with 1 if the mean return is less")
    league = commands.add_parser("league", help="rate brains against each other, on the same seeds")
    league.add_argument("brains", metavar="BRAIN", nargs="+")
    for command in (evaluate, league):
        command.add_argument("--package", required=True, help="the .hearth file that the brains belong to")
        command.add_argument("--environment", required=True, metavar="NAME")
        command.add_argument("--library", help="the shared library that has it (default: those that are found)")
        command.add_argument("--episodes", type=int, default=100)
        command.add_argument("--seed", type=int, default=0)
        command.add_argument("--agents", type=int, help="of each world (default: the fewest)")
        command.add_argument("--device", help="an index or a part of a name")
        command.add_argument("--json", action="store_true", help="print one JSON object")
        command.add_argument("--png", metavar="FILE", help="draw curves (needs matplotlib)")
    return parser.parse_args(argv)


def _run(arguments: argparse.Namespace) -> int:
    from . import env, gates
    description = env.find(arguments.environment, arguments.library)
    names = [Path(brain).name for brain in arguments.brains]
    if len(set(names)) < len(names):
        names = list(arguments.brains)
    if len(set(names)) < len(names):
        raise HearthError("a brain is given twice")
    with Device(arguments.device) as device:
        told = [gates.evaluate(brain, arguments.package, description, episodes=arguments.episodes,
                               seed=arguments.seed, agents=arguments.agents, device=device)
                for brain in arguments.brains]
    if arguments.command == "league":
        ratings = gates.league({name: t.returns for name, t in zip(names, told)})
        print(gates.league_json(ratings) if arguments.json else gates.league_table(ratings))
        if arguments.png:
            gates.draw_league(ratings, arguments.png)
        return 0
    print(told[0].to_json() if arguments.json else told[0].table())
    if arguments.png:
        gates.draw_evaluation(told[0], arguments.png)
    return int(arguments.require is not None and told[0].summary()["return_mean"] < arguments.require)


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
