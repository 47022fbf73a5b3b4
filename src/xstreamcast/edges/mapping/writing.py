"""A proposed mapping as TOML with comments, and what a mapping makes of samples, as lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.finding import named_mapping, shipped
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.edges.mapping.proposing import propose
from xstreamcast.edges.mapping.sampling import sampled
from xstreamcast.errors import Error
from xstreamcast.model.fragment import FragmentBatch, Op, Refused
from xstreamcast.model.instant import NOW, show_instant

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.form import Mapping

_SHOWN = 5  # units that are shown


def proposal(inputs: list[bytes]) -> str:
    """A mapping for samples, as TOML."""
    kinds, time, namespaces = propose(sampled(inputs))
    lines = []
    known = fitting(inputs)
    if known:
        lines += [f"# {known} ships with the package and fits: -i NAME={known}:PLACE", ""]
    if namespaces:
        lines += ["[namespaces]", *(f"{p} = {_quoted(uri)}" for p, uri in namespaces.items()), ""]
    if time is not None:
        lines += ["[message]", f"time = {_quoted(time.value)}  # {time.why}", ""]
    for kind in kinds:
        lines.append(f"[unit.{kind.name}]")
        lines += [f"{e.word} = {_quoted(e.value)}  # {e.why}" for e in kind.entries]
        lines.append("")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def fitting(inputs: list[bytes]) -> str | None:
    """The shipped mapping that makes units of the samples and refuses none of them."""
    for name in shipped():
        mapping = named_mapping(name)
        if mapping.level is not None:
            continue
        try:
            decoder = MappingDecoder(name, mapping)
            decoder.messages([Message(one) for one in inputs])
        except Error:
            continue
        if decoder.counts.units and not decoder.counts.refused:
            return name
    return None


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
            name = self.decoder.ids.text(int(batch.id[i]))
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
        yield f"{counts.read} messages: {len(self.units)} units, {versions} versions, " + (
            f"{self.removals} removals, {len(self.refused)} refused"
        )
        for (code, reason), count in Counter(
            (o.code, o.reason) for o in self.refused
        ).most_common():
            yield f"refused {count}: {code} {reason}"
