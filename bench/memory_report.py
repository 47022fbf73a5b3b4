"""What bench memory found, as a table and as a plot over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.machine import PACKAGES, machine
from bench.tables import markdown

if TYPE_CHECKING:
    from bench.memory import Run, Sample

HEAD = """# What running queries hold

The three queries of the XFrag paper over an auction document of {size:.1f} MB in fragments of
items, persons, auctions and bids, none of which is sent a second time (`--immutable /site`). *Held*
is what the engine says of itself: the index of its history (ids, links, keys), payloads as they lie
on tapes (text and 27 bytes for each node), and its operators; the most, and what was left at the
end. *Grown* is the peak of the process's resident memory over what it had after a small stream:
buffers of the wire and of an evaluation are in it, and what Python's allocator does not give back.

"""

PLOT = "\n![bytes held over bytes read](memory.svg)\n"


def report(
    runs: Sequence[Run], peers: Mapping[str, dict[str, object]], size: int, right: bool
) -> str:
    """The page."""
    text = HEAD.format(size=size / 1e6) + _table(runs, peers)
    if peers:
        said = "all equal" if right else "not all equal"
        text += f"\n{len(runs)} answers compared with SaxonC-HE's over the document: {said}.\n"
    return text + PLOT + "\n" + machine((*PACKAGES, "matplotlib"))


def _held(sample: Sample) -> int:
    return sample.index + sample.payload + sample.operators


def _table(runs: Sequence[Run], peers: Mapping[str, dict[str, object]]) -> str:
    header = ["query, order", "held MB", "of it payload", "index, bytes a link", "at the end MB"]
    header += ["grown MB", "SaxonC-HE grown MB", "changes", "s"]
    return markdown(header, [_row(one, peers) for one in runs])


def _row(one: Run, peers: Mapping[str, dict[str, object]]) -> list[str]:
    most = max(one.samples, key=_held)
    peer = peers.get(one.query, {}).get("peak")
    return [
        f"{one.query}, {one.order}",
        f"{_held(most) / 1e6:.2f}",
        f"{most.payload / 1e6:.2f}",
        f"{most.index / most.links:.0f}" if most.links > 1000 else "–",
        f"{_held(one.samples[-1]) / 1e6:.2f}",
        f"{one.peak / 1e6:.0f}",
        f"{int(str(peer)) / 1e6:.0f}" if peer is not None else "–",
        str(one.changes),
        f"{one.seconds:.1f}",
    ]


def plot(runs: Sequence[Run], peers: Mapping[str, dict[str, object]], path: Path) -> None:
    """Bytes held over bytes read, a panel for each order."""
    matplotlib = import_module("matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "memory"
    pyplot: Any = import_module("matplotlib.pyplot")
    orders = list(dict.fromkeys(one.order for one in runs))
    figure, panels = pyplot.subplots(1, len(orders), figsize=(12, 4), squeeze=False)
    for panel, order in zip(panels[0], orders, strict=True):
        for one in runs:
            if one.order == order:
                read = [sample.read / 1e6 for sample in one.samples]
                held = [_held(sample) / 1e6 for sample in one.samples]
                line = panel.plot(read, held, label=f"{one.query}, held")[0]
                grown = [sample.resident / 1e6 for sample in one.samples]
                panel.plot(read, grown, ":", color=line.get_color(), label="grown")
        panel.set(title=f"{order} order", xlabel="MB read", ylabel="MB")
    panels[0][-1].legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1))
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
