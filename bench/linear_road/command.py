"""The options of `xstreamcast bench linear_road`, and what it does with them."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.generate import natural
from bench.linear_road import layout as f
from bench.linear_road.dialect import DIALECTS
from bench.linear_road.driver import QUERIES, Driver, Played
from bench.linear_road.files import ROAD_CSV, TOLLS_CSV, read_tolls, write
from bench.linear_road.generator import Scale
from bench.linear_road.page import write_page
from bench.linear_road.report import summary, to_json
from bench.linear_road.rules import truth
from bench.linear_road.segment_history import past
from bench.linear_road.traffic import Demand
from bench.linear_road.validator import Verdict, validate
from bench.linear_road.view import View
from xstreamcast.errors import error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=halves, default=1, metavar="L", help="expressways (0.5)")
    parser.add_argument("--duration", type=natural, default=600, help="seconds of input (600)")
    parser.add_argument("--seed", type=natural, default=1, help="another seed, another input")
    parser.add_argument(
        "--segments", type=natural, default=f.SEGMENTS, help="entries are in so many, in the middle"
    )
    parser.add_argument(
        "--accident", type=natural, default=600, help="when the first accident may happen (600)"
    )
    parser.add_argument(
        "--crowded", type=natural, default=600, help="cars that bring a segment to a crawl (600)"
    )
    parser.add_argument("--dialect", choices=list(DIALECTS), default="2004", help="of the rules")
    parser.add_argument(
        "--speed", type=float, metavar="K", help="K seconds a second; without: as fast as taken"
    )
    parser.add_argument(
        "--prepare", type=natural, default=0, metavar="M",
        help="play M minutes as fast as taken; the rest at --speed, from a snapshot of that state",
    )  # fmt: skip
    parser.add_argument(
        "--stay", action="store_true", help="with --prepare: the same process goes on, once idle"
    )
    parser.add_argument(
        "--runner", choices=("local", "spark"), default="local", help="of watch (local)"
    )
    parser.add_argument(
        "--partitions", type=natural, metavar="N", help="of watch, with --runner spark"
    )
    parser.add_argument("--folder", type=Path, help="keep the input there, or use what is there")
    parser.add_argument("--generate", action="store_true", help="write the input, and play nothing")
    parser.add_argument("--unchecked", action="store_true", help="do not validate the answers")
    parser.add_argument("--view", action="store_true", help="draw the expressway as it is played")
    parser.add_argument("--json", type=Path, help="keep delays and memory over time in this file")
    parser.add_argument("--memory", type=Path, help="write memory over time to this CSV, at once")
    parser.add_argument(
        "--page", type=Path, nargs="+", metavar="JSON",
        help="write docs/benchmarks/linear-road.md from such files, and play nothing",
    )  # fmt: skip


def main(args: argparse.Namespace) -> int:
    if args.page:
        write_page(args.page)
        return 0
    if args.prepare and (args.speed is None or 60 * args.prepare >= args.duration):
        raise error(
            "XSCU0001", "--prepare must leave something to play, at --speed K",
            hint="--duration 10800 --prepare 150 --speed 1: the last thirty minutes by the clock",
        )  # fmt: skip
    if args.prepare and args.runner == "spark":
        raise error("XSCU0001", "--prepare continues from a snapshot of the local runner")
    if args.partitions is not None and args.runner != "spark":
        raise error("XSCU0001", "--partitions needs --runner spark")
    if args.folder is not None:
        return _in(args.folder, args)
    with tempfile.TemporaryDirectory() as folder:
        return _in(Path(folder), args)


def _in(folder: Path, args: argparse.Namespace) -> int:
    scale = scale_of(args)
    if not (folder / TOLLS_CSV).exists():
        written = write(scale, folder)
        sys.stderr.write(f"{written:,} tuples in {folder}\n")
    if args.generate:
        return 0
    played = _played(folder, args)
    sys.stdout.write(summary(played, scale, args.speed) + "\n")
    verdict = None if args.unchecked else checked(folder, scale, args.dialect, played)
    if args.json is not None:
        args.json.write_text(json.dumps(_kept(played, scale, verdict, args)))
    if verdict is None:
        return 0
    sys.stdout.write(f"{verdict}\n")
    return 0 if verdict.valid else 1


def _kept(
    played: Played, scale: Scale, verdict: Verdict | None, args: argparse.Namespace
) -> dict[str, Any]:
    where = {"runner": args.runner, "partitions": args.partitions}
    return to_json(played, scale, args.speed, verdict) | where


def _played(folder: Path, args: argparse.Namespace) -> Played:
    query = QUERIES / ("linear-road.xq" if args.dialect == "2004" else "linear-road-walmart.xq")
    driver = Driver(folder, query, args.speed, memory=args.memory, prepared=args.prepare)
    driver.stays = args.stay and bool(args.prepare)
    driver.on_spark, driver.partitions = args.runner == "spark", args.partitions
    if args.view:
        view = View()
        driver.on_output = view.on_output

        def shown(second: int, lines: bytes) -> None:
            view.on_reports(f.read_xml(lines))
            view.on_second(second)

        driver.on_second = shown
    return driver.play()


def checked(folder: Path, scale: Scale, dialect: str, played: Played) -> Verdict:
    """Compare the answers with the rules; whatever was retracted is a fault."""
    rows = f.read_csv((folder / ROAD_CSV).read_bytes())
    tolls = read_tolls(folder / TOLLS_CSV)
    verdict = validate(truth(rows, tolls, DIALECTS[dialect], past(scale)), played.outputs)
    if played.retracted:
        verdict.fault("answer that was retracted", f"{played.retracted} in all")
    return verdict


def scale_of(args: argparse.Namespace) -> Scale:
    """The scale that the options ask for."""
    first = (f.SEGMENTS - args.segments) // 2
    demand = Demand(
        first_segment=first, segments=args.segments, crowded=args.crowded,
        first_accident=args.accident,
    )  # fmt: skip
    return Scale(args.scale, args.seed, args.duration, demand)


def halves(text: str) -> int:
    """0.5 → 1, 1 → 2: an expressway has two directions."""
    value = float(text) * 2
    if value < 1 or value != int(value):
        raise argparse.ArgumentTypeError(f"must be 0.5, 1, 1.5, …; got {text}")
    return int(value)
