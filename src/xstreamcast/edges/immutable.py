"""What its reader does not want revised: paths, and what is left out of streams because of them.

    //stock/name          in every stream
    quotes=/stocks/stock  in one

The first that comes counts; what would revise it later is left out before anything is kept of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.errors import error
from xstreamcast.functions.signature import XSC
from xstreamcast.model.fragment import Arrival, FragmentBatch, NewStructure
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.structure import TagStructure

OPTION: Final = "immutable"
_PATH: Final = re.compile(r"(?:([\w.-]+)=)?((?://?(?:\*|[^\W\d][\w.:-]*))+)")
_STEP: Final = re.compile(r"(//?)(\*|[^/]+)")


@dataclass(frozen=True, slots=True)
class TagPath:
    """Steps from the root: (anywhere below?, local name or *); `stream` None: of every stream."""

    stream: str | None
    steps: tuple[tuple[bool, str], ...]
    text: str

    def matches(self, names: Sequence[str]) -> bool:
        """Whether an element with these names from the root down is at the path."""
        ends = {0}
        for anywhere, wanted in self.steps:
            ends = {
                at + 1
                for end in ends
                for at in (range(end, len(names)) if anywhere else (end,))
                if at < len(names) and wanted in ("*", names[at])
            }
        return len(names) in ends

    def covers(self, names: Sequence[str]) -> bool:
        """Whether it is at the path, or below it."""
        return any(self.matches(names[:count]) for count in range(1, len(names) + 1))


def path_of(word: str) -> TagPath:
    """The path that a word says."""
    found = _PATH.fullmatch(word.strip())
    if found is None:
        raise error(
            "XSCU0005", f"an immutable path must be of names and steps; got {word}",
            hint="//stock/name, or quotes=//stock/name for one stream",
        )  # fmt: skip
    steps = tuple((slash == "//", name.split(":")[-1]) for slash, name in _STEP.findall(found[2]))
    return TagPath(found[1], steps, word.strip())


def paths_of(program: Program, words: Iterable[str] = ()) -> tuple[TagPath, ...]:
    """The paths of the prolog (declare option xsc:immutable), and others."""
    declared = [
        value for uri, local, value in program.settings.options if (uri, local) == (XSC, OPTION)
    ]
    said = [word for value in declared for word in value.split()]
    return tuple(dict.fromkeys(map(path_of, (*said, *words))))


@dataclass(slots=True)
class ImmutableArrivals:
    """What arrives on a stream of fragments, without what would revise an immutable part."""

    name: str
    paths: tuple[TagPath, ...]
    ignored: int = 0
    _tags: Any = None  # of each tag: whether it is immutable
    _known: Any = field(default_factory=lambda: np.zeros(1024, np.bool_))  # ids that have come

    def arriving(self, arrival: Arrival) -> Arrival:
        """The arrival, or what is left of it."""
        match arrival:
            case NewStructure(structure):
                tags = immutable_tags(structure, self.paths)
                self._tags = np.zeros(max(structure.tags, default=0) + 2, np.bool_)
                self._tags[list(tags)] = True
                return arrival
            case FragmentBatch() if self._tags is not None and self._tags.any():
                return self._without(arrival)
            case _:
                return arrival

    def _without(self, batch: FragmentBatch) -> FragmentBatch:
        most = int(batch.id.max(initial=0)) + 1
        if most > len(self._known):
            self._known = np.concatenate((self._known, np.zeros(2 * most, np.bool_)))
        concerned = self._tags[batch.tsid] | self._known[batch.id]
        places = np.arange(len(batch))
        first = np.full(most, len(batch))
        np.minimum.at(first, batch.id[concerned], places[concerned])
        again = concerned & (self._known[batch.id] | (places > first[batch.id]))
        self._known[batch.id[concerned]] = True
        self.ignored += int(np.count_nonzero(again))
        return batch.some(~again) if again.any() else batch


def immutable_tags(structure: TagStructure, paths: Iterable[TagPath]) -> frozenset[int]:
    """The tags of fragments at one of the paths or below."""
    found: set[int] = set()
    for path in paths:
        for tag, names in _named(structure):
            if path.matches(names) and not structure.travels(tag) and tag != structure.root:
                raise error(
                    "XSCU0005", f"elements at {path.text} are part of a larger fragment",
                    hint="name an element that is a fragment of its own",
                )  # fmt: skip
            if path.covers(names) and (structure.travels(tag) or tag == structure.root):
                found.add(tag)
    return frozenset(found)


def _named(structure: TagStructure) -> list[tuple[int, tuple[str, ...]]]:
    """Every tag with the names from the root down to it; a tag may have several parents."""
    found: list[tuple[int, tuple[str, ...]]] = []
    todo: list[tuple[int, tuple[str, ...], frozenset[int]]] = [
        (structure.root, (structure[structure.root].local,), frozenset())
    ]
    while todo:
        tag, names, above = todo.pop()
        found.append((tag, names))
        if tag not in above:
            todo += [
                (child.id, (*names, child.local), above | {tag})
                for child in structure.children(tag)
            ]
    return found
