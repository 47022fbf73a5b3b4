"""Reading of a table only the tags that a query needs.

What each file holds inside its fragments is stored when it is written, or on first
use; which tags fill which holes follows from the columns of the table. Both are the guide by
which a strategy is chosen before anything is read, as it would be chosen afterwards.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import numpy as np

from xstreamcast.algebra.analysis.guide import Guide, Link
from xstreamcast.algebra.analysis.strategies import Choice, decide
from xstreamcast.edges.table.files import says_more
from xstreamcast.edges.table.fillers import Fillers, fillers
from xstreamcast.edges.table.insides import FOLDER, PayloadNames, kept_inside, put, together
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from xstreamcast.algebra.program import Program
    from xstreamcast.edges.table.log import File, State
    from xstreamcast.history.history import History
    from xstreamcast.model.structure import TagStructure

_NONE: Final = "null"  # kept where it is known that there is no guide


@dataclass(frozen=True, slots=True)
class TagPruning:
    """The guide of a stream, and by the tag that a hole says: which tags fill such holes."""

    guide: Guide
    labels: Mapping[int, frozenset[int]]

    @property
    def plain(self) -> bool:
        """Whether no tag is below itself: then no fragment contains itself."""
        below = self.guide.below
        return not any(
            tag in below(link.child for link in links) for tag, links in self.guide.links.items()
        )


def choice_of(program: Program, name: str, guide: Guide, strategy: str) -> Choice | None:
    """How a strategy reads a stream that is the only one; None where the program reads it not."""
    return decide(program, {name: guide}, strategy, links=True).streams.get(name)


def needed_tags(program: Program, name: str, guide: Guide, strategy: str) -> frozenset[int] | None:
    """The tags whose fragments a query needs, None for all."""
    choice = choice_of(program, name, guide, strategy)
    if choice is None or choice.strategy != "qac+":
        return None
    return choice.full | choice.link


# -- the guide of a stream after so many commits ---------------------------------------------------


def guide_of(
    table: Path, state: State, stream: str, structure: TagStructure,
    look: Callable[[Sequence[File]], Mapping[str, str]] | None = None,
    fill: Callable[[Sequence[File]], Fillers] | None = None,
) -> TagPruning | None:  # fmt: skip
    """The guide that was kept, or is made of what is kept of files; then it is kept.

    `look` finds what files hold whose content is not known yet, by their path (else: None); `fill`
    finds which tags fill which holes, where others can do it better than this process.
    """
    path = _path(table, state.number, stream)
    if (text := _whole(path)) is not None:
        return _from_fields(json.loads(text))
    files = state.files_of(stream)
    if says_more(table, files):
        return None
    insides = _insides(table, stream, files, look)
    if insides is None:
        return None
    ways = (fill or (lambda some: fillers(table, some)))(files).ways
    made = None if ways is None else made_guide(structure, files, insides, ways)
    _put(path, _NONE if made is None else json.dumps(_fields(made)))
    return made


def _insides(
    table: Path, stream: str, files: Sequence[File],
    look: Callable[[Sequence[File]], Mapping[str, str]] | None,
) -> dict[str, PayloadNames] | None:  # fmt: skip
    known = {file.path: file.inside for file in files if file.inside is not None}
    if len(known) < len(files):
        known = {**_looked(table, stream), **known}
    found: dict[str, PayloadNames | None] = {
        p: kept_inside(table, name) for p, name in known.items()
    }
    missing = [file for file in files if found.get(file.path) is None]
    if missing and look is not None:
        names = look(missing)
        _put(_looked_path(table, stream), json.dumps({**_looked(table, stream), **names}))
        found |= {path: kept_inside(table, name) for path, name in names.items()}
    mine = {file.path: found.get(file.path) for file in files}
    if together(mine.values()) is None:
        return None
    return {path: one for path, one in mine.items() if one is not None}


def _looked_path(table: Path, stream: str) -> Path:
    return table / FOLDER / f"looked-{quote(stream, safe='')}.json"


def _looked(table: Path, stream: str) -> dict[str, str]:
    """The contents of files whose writer did not record them."""
    path = _looked_path(table, stream)
    text = _whole(path)
    found: dict[str, str] = {} if text is None else json.loads(text)
    return found


def _put(path: Path, text: str) -> None:
    """Keep a text behind its CRC-32."""
    put(path, f"{zlib.crc32(text.encode()):08x} {text}")


def _whole(path: Path) -> str | None:
    """A text that was kept; None if it is absent or damaged: it is rebuilt."""
    try:
        check, _, text = path.read_text("utf-8").partition(" ")
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    return text if check == f"{zlib.crc32(text.encode()):08x}" else None


def made_guide(
    structure: TagStructure, files: Sequence[File], insides: Mapping[str, PayloadNames],
    ways: frozenset[tuple[int, int, int]],
) -> TagPruning:  # fmt: skip
    """The guide of all files: as `observed` would make it of their fragments."""
    by_tag: dict[int, PayloadNames] = {}
    for file in files:
        by_tag[file.tag] = by_tag.get(file.tag, PayloadNames()) | insides[file.path]
    filling: dict[tuple[int, int], set[int]] = {}
    labels: dict[int, set[int]] = {}
    for parent, label, child in ways:
        filling.setdefault((parent, label), set()).add(child)
        labels.setdefault(label, set()).add(child)
    links = {
        tag: frozenset(
            Link(path, child)
            for path, label in inside.holes
            for child in filling.get((tag, label), ())
        )
        for tag, inside in by_tag.items()
    }
    guide = Guide(
        frozenset({structure.root}),
        {tsid: (tag.uri, tag.local) for tsid, tag in structure.tags.items()},
        frozenset(tsid for tsid, tag in structure.tags.items() if tag.type != "snapshot"),
        {tag: by_tag.get(tag, PayloadNames()).names for tag in structure.tags},
        {tag: found for tag, found in links.items() if found},
        frozenset(tag for tag, inside in by_tag.items() if inside.binds),
    )
    return TagPruning(guide, {label: frozenset(found) for label, found in labels.items()})


def keep_guide(table: Path, number: int, stream: str, history: History) -> None:
    """Keep what a stream's fragments hold after so many commits, once all were read."""
    path = _path(table, number, stream)
    if _whole(path) is None:
        whole = _one_tag_each(history)
        text = (
            json.dumps(_fields(TagPruning(history.guide(), _labels(history)))) if whole else _NONE
        )
        _put(path, text)


def carried_over(table: Path, before: int, after: int, stream: str) -> None:
    """The guide of a state holds for another one with the same fragments."""
    path = _path(table, before, stream)
    if (text := _whole(path)) is not None:
        _put(_path(table, after, stream), text)


def _path(table: Path, number: int, stream: str) -> Path:
    return table / FOLDER / f"guide-{quote(stream, safe='')}-{number:010}.json"


def _one_tag_each(history: History) -> bool:
    """Whether no id has fragments of two tags: then lifespans follow from one tag."""
    ids, tags = history.fragments["id"], history.fragments["tsid"]
    pairs = np.unique(ids[tags >= 0].astype(np.int64) << 32 | tags[tags >= 0])
    return len(pairs) == len(np.unique(pairs >> 32))


def _labels(history: History) -> dict[int, frozenset[int]]:
    f, h = history.fragments, history.holes
    tag_of = np.full(history.codes, -1, np.int64)
    content = f["payload"] >= 0
    tag_of[f["id"][content]] = f["tsid"][content]
    pairs = np.unique(np.stack((h["tsid"].astype(np.int64), tag_of[h["id"]])), axis=1).T.tolist()
    found: dict[int, set[int]] = {}
    for label, child in pairs:
        if child >= 0:
            found.setdefault(label, set()).add(child)
    return {label: frozenset(children) for label, children in found.items()}


# -- in JSON ---------------------------------------------------------------------------------------


def _fields(kept: TagPruning) -> dict[str, Any]:
    guide = kept.guide
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
        "labels": [[label, sorted(tags)] for label, tags in kept.labels.items()],
    }


def _from_fields(fields: dict[str, Any] | None) -> TagPruning | None:
    if fields is None:
        return None
    guide = Guide(
        frozenset(fields["roots"]),
        {tag: (uri, local) for tag, uri, local in fields["name"]},
        frozenset(fields["timed"]),
        {tag: frozenset((u, n) for u, n in names) for tag, names in fields["inner"]},
        {tag: frozenset(_link(*link) for link in links) for tag, links in fields["links"]},
        frozenset(fields["binding"]),
    )
    return TagPruning(guide, {label: frozenset(tags) for label, tags in fields["labels"]})


def _link(path: list[list[str]], child: int) -> Link:
    return Link(tuple((uri, local) for uri, local in path), child)
