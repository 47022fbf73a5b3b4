"""A proposed mapping as TOML with comments, and what a mapping makes of samples, as lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.finding import named_mapping, shipped, shipped_text
from xstreamcast.edges.mapping.proposing import Kind, ProposalLine, propose
from xstreamcast.edges.mapping.sampling import sampled
from xstreamcast.errors import Error
from xstreamcast.model.counted import counted
from xstreamcast.model.fragment import FragmentBatch, Op, Refused
from xstreamcast.model.instant import NOW, show_instant

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.form import Mapping

_SHOWN = 5  # units that are shown
_WIDEST = 80  # characters of a key that are shown


def proposal(inputs: list[tuple[str, bytes]]) -> str:
    """A mapping for samples, as TOML: one that ships, if it fits; each has the name of its file."""
    known = fitting([data for _, data in inputs])
    if known is not None and known.timed:
        return _shipped(known)
    sample = sampled(inputs)
    lines: list[str] = []
    kinds, time, namespaces = propose(sample)
    if known is not None and not any(e.word == "from" for kind in kinds for e in kind.entries):
        return _shipped(known)
    if sample.unclosed:
        time = ProposalLine("level", "1", "messages are children of a root that may never close")
        kinds = [_of_documents(one) for one in kinds]
    if namespaces:
        lines += ["[namespaces]", *(f"{p} = {_quoted(uri)}" for p, uri in namespaces.items()), ""]
    if time is not None:
        value = time.value if time.word == "level" else _quoted(time.value)
        lines += ["[message]", f"{time.word} = {value}  # {time.why}", ""]
    for kind in kinds:
        lines.append(f"[unit.{kind.name}]")
        lines += [f"{e.word} = {_quoted(e.value)}  # {e.why}" for e in kind.entries]
        lines.append("")
    return "\n".join(lines)


def _shipped(known: Fitting) -> str:
    return f"# {known.said()}\n\n{shipped_text(known.name)}"


def _quoted(value: str | tuple[str, ...]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _of_documents(kind: Kind) -> Kind:
    """The kind whose elements are messages of their own."""
    entries = (
        replace(one, value="/" + one.parts[0].lstrip("/")) if one.word == "path" else one
        for one in kind.entries
    )
    return Kind(kind.name, tuple(entries))


@dataclass(frozen=True, slots=True)
class Fitting:
    """A shipped mapping, and how many units of samples it refuses."""

    name: str
    refused: int
    timed: bool  # it finds times in the samples

    def said(self) -> str:
        """A sentence with the option."""
        said = f"{self.name} ships with the package and fits: -i NAME={self.name}:PLACE"
        few = f" ({self.refused} refused; map --check {self.name} SAMPLE prints why)"
        return said + few if self.refused else said


def fitting(inputs: list[bytes]) -> Fitting | None:
    """The shipped mapping that makes units of the samples and refuses fewest of them."""
    found: list[tuple[int, int, str, bool]] = []
    for name in shipped():
        decoder = MappingDecoder(name, named_mapping(name))
        try:
            for one in inputs:
                decoder.feed(one)
                decoder.end_input()
        except Error:
            continue
        counts = decoder.counts
        if 2 * counts.refused <= counts.units + counts.removals and counts.units:
            timed = counts.timed > 0 or any(kind.timed for kind in decoder.kinds.values())
            found.append((counts.refused, -counts.units, name, timed))
    if not found:
        return None
    refused, _, name, timed = min(found)
    return Fitting(name, refused, timed)


def _one_line(text: str) -> str:
    """A key as a line of a comment may show it."""
    plain = " ".join(text.split())
    return plain if len(plain) <= _WIDEST else plain[:_WIDEST] + "…"


class Judged:
    """What a mapping makes of samples."""

    def __init__(self, mapping: Mapping, inputs: Iterable[tuple[str, bytes]]) -> None:
        self.decoder = MappingDecoder(mapping.name, mapping)
        self.refused: list[Refused] = []
        self.units: dict[str, set[int]] = {}
        self.removals = 0
        self.shown: list[str] = []
        for place, data in inputs:
            self.decoder.place = place
            found = self.decoder.feed(data) + self.decoder.end_input()
            for arrival in found:
                if isinstance(arrival, Refused):
                    self.refused.append(arrival)
                elif isinstance(arrival, FragmentBatch) and arrival.within is not None:
                    self._take(arrival)

    def _take(self, batch: FragmentBatch) -> None:
        for i in range(len(batch)):
            name = _one_line(self.decoder.ids.text(int(batch.id[i])))
            if batch.op[i] == Op.REMOVE:
                self.removals += 1
                said = "removed at"
            else:
                self.units.setdefault(name, set()).add(int(batch.valid[i]))
                said = "from"
            if len(self.shown) < _SHOWN:
                to = NOW if batch.to is None else int(batch.to[i])
                until = "" if to == NOW else f" to {show_instant(to)}"
                self.shown.append(f"{name} {said} {show_instant(int(batch.valid[i]))}{until}")

    def lines(self) -> Iterator[str]:
        """Counts, and why messages were refused."""
        counts = self.decoder.counts
        versions = sum(map(len, self.units.values()))
        made = [counted(len(self.units), "unit"), counted(versions, "version")]
        made += [counted(self.removals, "removal"), f"{len(self.refused)} refused"]
        yield f"{counted(counts.read, 'message')}: {', '.join(made)}"
        for (code, reason), count in Counter(
            (o.code, o.reason) for o in self.refused
        ).most_common():
            yield f"refused {count}: {code} {reason}"
