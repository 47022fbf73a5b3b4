"""The page of figures: a table and two plots from plays that were kept as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.machine import machine

CHECKOUT = Path(__file__).parents[2]
PAGE = CHECKOUT / "docs" / "benchmarks" / "linear-road.md"
_COLUMNS = (
    "L", "runner", "input s", "speed", "tuples", "answers", "processor s", "tuples/s",
    "slowest answer s", "memory MiB", "valid",
)  # fmt: skip
_HEAD = f"| {' | '.join(_COLUMNS)} |\n| --: | --- |{' --: |' * (len(_COLUMNS) - 3)} --- |\n"
_REMARKS = "\n## What bounds these figures\n"


def write_page(kept: list[Path], page: Path = PAGE) -> None:
    """Put the table, the plots and the machine before the remarks, which stay as they are."""
    plays = [json.loads(one.read_text()) for one in kept]
    remarks = page.read_text().partition(_REMARKS)[2] if page.exists() else ""
    plotted = page.with_suffix(".svg")
    plot(plays, plotted)
    said = _INTRODUCTION + _HEAD + "".join(map(_row, plays))
    said += f"\n![response time and memory over the input]({plotted.name})\n\n{machine()}"
    page.write_text(said + _REMARKS + (remarks or "\n"))


_INTRODUCTION = """# Linear Road

The [benchmark](../linear-road.md) as one program of our language, run by `xstreamcast watch`.
*Runner*: *local* is one process; *Spark, N* is Spark with N partitions. *Speed* is how many seconds
of input a second of the clock plays; *max* gives the input as fast as it is taken, and has no
response times; *from minute M* means that what came before was played as fast as it was taken, and
the rest by the clock from a snapshot of that state. A tuple is due when its second has passed; an
answer is late after 5 s (10 s for expenditures, 30 s for travel times). *Processor s* is the time
of all processes of `watch` from the first tuple on, and *tuples/s* is per second of it; memory is
that of all of them. *Valid* says what the validator found: all answers right, none missing, none
too many, none retracted, and none late.

"""


def _row(play: dict[str, Any]) -> str:
    speed = _speed(play)
    slowest = "–" if play["speed"] is None else f"{max(d for _, d in play['delays']):.2f}"
    memory = max((one[2] for one in play["samples"]), default=0) / 2**20
    processor = play["processor"] - play.get("before", 0.0)
    rate = play["tuples"] / max(processor, 0.01)
    cells = (
        f"{play['scale']:g}", _runner(play), f"{play['duration']:,}", speed, f"{play['tuples']:,}",
        f"{play['answers']:,}", f"{processor:.0f}", f"{rate:,.0f}", slowest,
        f"{memory:,.0f}", play.get("verdict", "not checked"),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def _runner(play: dict[str, Any]) -> str:
    if play.get("runner", "local") == "local":
        return "local"
    return f"Spark, {play['partitions']}" if play["partitions"] else "Spark"


def _speed(play: dict[str, Any]) -> str:
    """How fast it was played, and from which minute on if the state before was prepared."""
    speed = "max" if play["speed"] is None else f"{play['speed']:g} ×"
    return f"{speed} from minute {play['prepared']}" if play.get("prepared") else speed


def plot(plays: list[dict[str, Any]], place: Path) -> None:
    """Response time and resident memory over seconds of the input."""
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(2, 1, figsize=(8, 6), sharex=True)
    for play in plays:
        label = f"L = {play['scale']:g}, {_speed(play)}"
        if play["speed"] is not None:
            above.plot(*zip(*play["delays"], strict=True), label=label, linewidth=0.7)
        below.plot(
            [one[1] for one in play["samples"]], [one[2] / 2**20 for one in play["samples"]],
            label=label,
        )  # fmt: skip
    above.set_ylabel("slowest answer, s")
    below.set_ylabel("resident memory, MiB")
    below.set_xlabel("second of the input")
    below.legend()
    figure.savefig(place, metadata={"Date": None})
    pyplot.close(figure)
