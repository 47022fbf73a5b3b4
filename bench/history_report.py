"""What `bench history` found, as tables and as a plot."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import log
from pathlib import Path
from typing import Any

from bench.machine import PACKAGES, machine
from bench.tables import ABSENT, geometric_mean, markdown, ratio

CAQ, QAC, PLUS, SCAN, ROWS = "CaQ", "QaC", "QaC+", "scan", "scan of rows"
OURS, SAXON = "ours", "SaxonC-HE"
PATIENCE = 10.0
MEMORY = """
## Over a history that is loaded

Milliseconds, until the items of the answer are there. *scan* reads every byte of the fragments of
the tags that the query needs, once, and gives no answer; *scan of rows* looks at kind and name of
each node in them.
"""
DISK = """
## From a file of fragments on disk

Seconds from opening the file to the written answer. SaxonC-HE runs the QaC+ translation of the
query (`xstreamcast explain --stage xquery --strategy qac+`), whose `get_fillers` looks fillers up
in a map.
"""
GROWTH = """
## Growth

The exponent e in time ~ size^e, from the smallest to the largest size: 1 is linear.
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """One query over fragments of one size: medians of all who answered, and if they agree."""

    query: str
    where: str  # "memory" or "disk"
    size: int
    seconds: dict[str, float]
    equal: bool

    def times(self, slow: str, fast: str) -> float | None:
        """How many times as long `slow` took as `fast`."""
        if slow not in self.seconds or fast not in self.seconds:
            return None
        return self.seconds[slow] / self.seconds[fast]


@dataclass(frozen=True, slots=True)
class Ingested:
    """Fragments made history: how many, their size on the wire, how long, and what is kept."""

    count: int
    wire_bytes: float
    add: float
    decode: float
    index_bytes: float


def report(measured: Sequence[Measured], ingested: Ingested, patience: float) -> str:
    """The tables, with the machine below."""
    memory = [one for one in measured if one.where == "memory"]
    disk = [one for one in measured if one.where == "disk"]
    text = MEMORY + "\n" + _memory(memory) + DISK + "\n" + _disk(disk, patience)
    text += _agreement(measured) + GROWTH + "\n" + _growth(measured) + _ingest(ingested)
    return f"{text}\n{machine((*PACKAGES, 'matplotlib'))}"


def _memory(measured: Sequence[Measured]) -> str:
    header = ["query", "MB", CAQ, QAC, PLUS, SCAN, ROWS]
    header += ["CaQ / QaC", "CaQ / QaC+", "QaC+ / scan", "QaC+ / rows"]
    pairs = ((CAQ, QAC), (CAQ, PLUS), (PLUS, SCAN), (PLUS, ROWS))
    lines = [
        [
            one.query,
            f"{one.size / 1e6:.0f}",
            *(f"{one.seconds[name] * 1e3:.1f}" for name in (CAQ, QAC, PLUS, SCAN, ROWS)),
            *(ratio(one.times(*pair)) for pair in pairs),
        ]
        for one in sorted(measured, key=lambda one: (one.query, one.size))
    ]
    return markdown(header, lines)


def _disk(measured: Sequence[Measured], patience: float) -> str:
    lines = [
        [one.query, f"{one.size / 1e6:.0f}", *_took(one, patience), ratio(one.times(SAXON, OURS))]
        for one in sorted(measured, key=lambda one: (one.query, one.size))
    ]
    mean = ratio(geometric_mean(one.times(SAXON, OURS) for one in measured))
    lines.append(["geometric mean", "", "", "", mean])
    text = markdown(["query", "MB", OURS, SAXON, "SaxonC-HE / ours"], lines)
    return text + (f"\n¹ slower than {patience:g} s, run once.\n" if "¹" in text else "")


def _took(one: Measured, patience: float) -> list[str]:
    found = [one.seconds.get(name) for name in (OURS, SAXON)]
    return [
        ABSENT if took is None else f"{took:.2f}" + ("¹" if took > patience else "")
        for took in found
    ]


def _agreement(measured: Sequence[Measured]) -> str:
    wrong = [f"{one.query} ({one.where}, {one.size} bytes)" for one in measured if not one.equal]
    if wrong:
        return f"\nAnswers differ: {', '.join(wrong)}.\n"
    return f"\nAnswers of all who took part were compared in {len(measured)} cases: all equal.\n"


def _growth(measured: Sequence[Measured]) -> str:
    names = (CAQ, QAC, PLUS, SCAN, OURS, SAXON)
    queries = sorted({one.query for one in measured})
    lines = [[query, *(_exponent(measured, query, name) for name in names)] for query in queries]
    return markdown(["query", *names], lines)


def _exponent(measured: Iterable[Measured], query: str, name: str) -> str:
    points = _points(measured, query, name)
    if len(points) < 2:
        return ABSENT
    (small, quick), (large, slow) = points[0], points[-1]
    return f"{log(slow / quick) / log(large / small):.2f}"


def _points(measured: Iterable[Measured], query: str, name: str) -> list[tuple[int, float]]:
    found = [one for one in measured if one.query == query and name in one.seconds]
    return sorted((one.size, one.seconds[name]) for one in found)


def _ingest(one: Ingested) -> str:
    both = one.add + one.decode
    rows = [
        ["into history/", f"{one.count / one.add:,.0f}"],
        ["decoded from the wire", f"{one.count / one.decode:,.0f}"],
        ["both, one after the other", f"{one.count / both:,.0f}"],
    ]
    return (
        f"\n## Ingest\n\n{one.count:,} fragments of {one.wire_bytes:.0f} bytes, one core; "
        f"{one.index_bytes:.0f} bytes of index for each.\n\n"
        + markdown(["step", "fragments/s"], rows)
    )


def plot(measured: Sequence[Measured], path: Path) -> str:
    """Time over size, a panel for each query; the name of the file."""
    matplotlib = import_module("matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "history"
    pyplot: Any = import_module("matplotlib.pyplot")
    queries = sorted({one.query for one in measured})
    figure, panels = pyplot.subplots(1, len(queries), figsize=(12, 4), sharey=True, squeeze=False)
    for panel, query in zip(panels[0], queries, strict=True):
        for name in (CAQ, QAC, PLUS, SCAN, OURS, SAXON):
            points = _points(measured, query, name)
            style = "--" if name in (OURS, SAXON) else ":" if name == SCAN else "-"
            label = f"{name}, from disk" if name in (OURS, SAXON) else name
            if points:
                sizes, took = zip(*points, strict=True)
                megabytes = [size / 1e6 for size in sizes]
                panel.loglog(megabytes, took, style, marker="o", label=label)
        panel.set(title=query, xlabel="MB of fragments")
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("seconds")
    panels[0][-1].legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1))
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path.name
