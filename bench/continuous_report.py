"""The report of `bench continuous`: rates, latencies, and where a batch's time goes."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Final

from bench.continuous_session import LOCAL, OURS, STATEFUL, Case, Followed
from bench.machine import machine
from bench.tables import ABSENT, markdown, ratio
from bench.updates import percentile

PACKAGES: Final = ("xstreamcast", "pyspark", "pyarrow", "pandas", "numpy", "numba")
_PHASES: Final = {
    "triggerExecution": "all", "latestOffset": "what is new", "walCommit": "offsets written",
    "queryPlanning": "planning", "addBatch": "tasks and sink", "commitOffsets": "batch counted",
}  # fmt: skip
HEAD = """
The fraud query and the maxed-out query, left running over credit accounts, charges and limits, in
local mode with {cores}, batches at least 100 ms apart, as `watch --runner spark` has it. First
{drained} fragments wait in the feed, and are taken in batches of at most {most}: that is the rate,
of all of them, of the batches that have the first 60,000 (Java and workers are new then), and of
the second half.
Then a process of its own appends {rate} each second, every 10 ms some, and the time is taken from
each append until the changes of all of it are in the sink: p50 and p99 are over these appends, and
`batches` is how many batches they came in. The last quarter is the p50 of the last appends: where
it is much above p50, the rate was not kept up with. Processor time is that of all processes
(driver, JVM, workers), GB is what they hold, where what they share counts for each. Each row was
measured in a process of its own.

The floor is what Spark takes without us: `stateless` reads the same source, as ours does, into the
same kind of sink; `empty stateful` takes them through `transformWithStateInPandas`, which
keeps and tells nothing. `local runner` is the operators in one process without Spark, both
queries over one history, reading the feed as it grows.
"""


RECOVERED = """
## After kill -9

A query that remembers entries of 1,000 characters is killed, with Java and workers, when it has
taken them in, and started again from its checkpoint with one fragment more to read.

"""


@dataclass(frozen=True, slots=True)
class Row:
    """A case and what was found."""

    case: Case
    found: Followed

    def ms(self, percent: int, part: slice = slice(None)) -> float | None:
        values = self.found.latencies[part]
        return percentile(values, percent) * 1e3 if values else None

    @property
    def rate(self) -> float:
        return self.case.drained / self.found.drain


def report(
    rows: list[Row], recovered: list[str], missing: list[str], args: argparse.Namespace
) -> tuple[str, bool]:
    """The tables, and whether all who answer gave the same answers."""
    apart = differing(rows)
    cores = "as many cores as partitions" if args.bound else "two cores"
    told = {"drained": args.drained, "most": args.most, "rate": args.rate}
    text = HEAD.format(cores=cores, **{name: f"{one:,}" for name, one in told.items()})
    text += f"\n{_rates(rows)}\n{_equality(rows, apart)}\n{_kinds(rows)}\n{_phases(rows)}"
    if missing:
        text += "\nWhat is missing, and why:\n\n" + "".join(f"- {one}\n" for one in missing)
    if recovered:
        text += RECOVERED + "".join(f"- {one}\n" for one in recovered)
    return f"{text}\n{machine(PACKAGES)}", not apart


def differing(rows: list[Row]) -> list[int]:
    """The numbers of units with which answers are not equal."""
    known: dict[int, set[str]] = {}
    for row in rows:
        known.setdefault(row.case.units, set()).update({row.found.answer} - {""})
    return [units for units, answers in known.items() if len(answers) > 1]


def _equality(rows: list[Row], apart: list[int]) -> str:
    who = {row.case.who for row in rows if row.found.answer}
    if apart:
        return f"**The answers are not equal** with {apart} accounts.\n"
    if who < {OURS, LOCAL}:
        return "The answers were not compared: only one of those who answer was asked.\n"
    return "The answers after the fragments that waited are equal: on Spark and without it.\n"


def _rates(rows: list[Row]) -> str:
    header = ["", "accounts", "partitions", "fragments/s", "first 60,000", "second half",
              "µs of processor each", "p50 ms", "p99 ms",
              "last quarter", "batches", "p50 / floor", "cores busy", "GB"]  # fmt: skip
    return markdown(header, [_cells(row, _floor(row, rows)) for row in rows])


def _floor(row: Row, rows: list[Row]) -> Row | None:
    same = [one for one in rows if one.case.who == STATEFUL and one.case.units == row.case.units]
    return next((one for one in same if one.case.partitions == row.case.partitions), None)


def _cells(row: Row, floor: Row | None) -> list[str]:
    case, found = row.case, row.found
    p50, lowest = row.ms(50), floor.ms(50) if floor else None
    quarter = slice(-max(1, len(found.latencies) // 4), None)
    return [
        case.who, f"{case.units:,}", ABSENT if case.who == LOCAL else str(case.partitions),
        f"{row.rate:,.0f}", f"{found.drain_first:,.0f}", f"{found.drain_last:,.0f}",
        f"{found.drain_processor / case.drained * 1e6:.0f}",
        _ms(p50), _ms(row.ms(99)), _ms(row.ms(50, quarter)), str(found.batches),
        ratio(p50 / lowest if p50 is not None and lowest else None),
        f"{found.paced_processor / found.paced:.1f}", f"{found.memory / 1e9:.1f}",
    ]  # fmt: skip


def _ms(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def _kinds(rows: list[Row]) -> str:
    """Whose processor time it is."""
    told = [row for row in rows if row.found.kinds]
    names = list(dict.fromkeys(name for row in told for name in row.found.kinds))
    cells = [
        [row.case.who, f"{row.case.units:,}", str(row.case.partitions)]
        + [f"{row.found.kinds.get(name, 0) / row.case.drained * 1e6:.1f}" for name in names]
        for row in told
    ]
    head = "## Whose processor time it is\n\nMicroseconds for each fragment that waited.\n"
    return f"{head}\n{markdown(['', 'accounts', 'partitions', *names], cells)}" if told else ""


def _phases(rows: list[Row]) -> str:
    """Where the time of a batch goes, as Spark tells it."""
    told = [row for row in rows if row.found.phases]
    if not told:
        return ""
    cells = [
        [row.case.who, f"{row.case.units:,}", str(row.case.partitions)]
        + [f"{row.found.phases.get(name, 0):.0f}" for name in _PHASES]
        for row in told
    ]
    header = ["", "accounts", "partitions", *_PHASES.values()]
    head = "## Where the time of a batch goes\n\nMean milliseconds while fragments were appended.\n"
    return f"{head}\n{markdown(header, cells)}"
