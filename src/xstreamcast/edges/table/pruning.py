"""Reading of a table only the tags that a query needs, once it is known what its fragments hold.

The first who reads all of a table keeps beside it what was seen inside fragments (their guide).
By that guide the strategy is chosen before anything is read, as it would be chosen afterwards.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import numpy as np

from xstreamcast.algebra.guide import Guide, Link
from xstreamcast.algebra.strategies import decide

if TYPE_CHECKING:
    from pathlib import Path

    from xstreamcast.algebra.program import Program
    from xstreamcast.history.history import History

FOLDER: Final = "_guides"


def needed_tags(program: Program, name: str, guide: Guide, strategy: str) -> frozenset[int] | None:
    """The tags whose fragments a query needs, None for all."""
    if strategy not in ("qac+", "auto"):
        return None
    choice = decide(program, {name: guide}, strategy, links=True).streams.get(name)
    if choice is None or choice.strategy != "qac+":
        return None
    return choice.full | choice.link


def keep_guide(table: Path, number: int, stream: str, history: History) -> None:
    """Keep what a stream's fragments hold after so many commits; a table may be read-only."""
    path = _path(table, number, stream)
    if path.exists() or not _one_tag_each(history):
        return
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(exist_ok=True)
        part.write_text(json.dumps(_told(history.guide())), "utf-8")
        part.replace(path)
    except PermissionError:
        return


def kept_guide(table: Path, number: int, stream: str) -> Guide | None:
    """The guide that was kept for exactly these commits."""
    path = _path(table, number, stream)
    return _heard(json.loads(path.read_text("utf-8"))) if path.exists() else None


def _path(table: Path, number: int, stream: str) -> Path:
    return table / FOLDER / f"{quote(stream, safe='')}-{number:010}.json"


def _one_tag_each(history: History) -> bool:
    """Whether no id has fragments of two tags: then those of one tag tell their lifespans."""
    ids, tags = history.fragments["id"], history.fragments["tsid"]
    pairs = np.unique(ids[tags >= 0].astype(np.int64) << 32 | tags[tags >= 0])
    return len(pairs) == len(np.unique(pairs >> 32))


def _told(guide: Guide) -> dict[str, Any]:
    return {
        "roots": sorted(guide.roots),
        "name": [[tag, *name] for tag, name in guide.name.items()],
        "timed": sorted(guide.timed),
        "inner": [[tag, sorted(names)] for tag, names in guide.inner.items()],
        "links": [
            [tag, sorted([list(link.path), link.child] for link in links)]
            for tag, links in guide.links.items()
        ],
        "binding": sorted(guide.binding),
    }


def _heard(told: dict[str, Any]) -> Guide:
    return Guide(
        frozenset(told["roots"]),
        {tag: (uri, local) for tag, uri, local in told["name"]},
        frozenset(told["timed"]),
        {tag: frozenset((u, n) for u, n in names) for tag, names in told["inner"]},
        {tag: frozenset(_link(*link) for link in links) for tag, links in told["links"]},
        frozenset(told["binding"]),
    )


def _link(path: list[list[str]], child: int) -> Link:
    return Link(tuple((uri, local) for uri, local in path), child)
