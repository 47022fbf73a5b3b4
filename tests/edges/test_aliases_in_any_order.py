"""Removals that name units by other keys: in whatever order messages come."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.edges.test_aliases import MAPPING, at
from xstreamcast.edges.mapping import decoder as decoding
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.form import parse_mapping
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.edges.snapshot.mapped import read_mapped, write_mapped
from xstreamcast.model.change import Accumulated
from xstreamcast.model.fragment import FragmentBatch, Op
from xstreamcast.model.instant import NOW, SECOND
from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
from xstreamcast.tape.fragments.chain_kernels import Arrived, chained


class Said(NamedTuple):
    """A message: a bus reports itself, with another key; or one goes that has such a key."""

    second: int
    key: str
    item: str | None = None

    @property
    def text(self) -> str:
        if self.item is None:
            return f'<gone at="{at(self.second)}" id="{self.key}"/>'
        return f'<bus id="{self.key}" at="{at(self.second)}" item="{self.item}"/>'


def there(said: list[Said]) -> dict[str, list[int]]:
    """The seconds at which each bus is there: a list of events, read anew for each second."""
    out: dict[str, list[int]] = {}
    for bus in {one.key for one in said if one.item is not None}:
        for second in range(20):
            last = [one.item is not None for one in sorted(said) if meant(said, bus, one, second)]
            if last and last[-1]:
                out.setdefault(bus, []).append(second)
    return out


def meant(said: list[Said], bus: str, one: Said, second: int) -> bool:
    """Whether a message of up to a second is about a bus."""
    if one.second > second:
        return False
    if one.key == bus or one.item is not None:
        return one.key == bus
    users = [user for user in sorted(said) if user.item == one.key and user.second <= one.second]
    return bool(users) and users[-1].key == bus


def found(arrivals: list[FragmentBatch], decoder: MappingDecoder) -> dict[str, list[int]]:
    """The same of fragments."""
    words = "id", "valid", "flags", "op"
    id_, valid, flags, op = (np.concatenate([getattr(b, w) for b in arrivals]) for w in words)
    to = np.concatenate([np.full(len(b), NOW) if b.to is None else b.to for b in arrivals])
    none = [np.zeros(len(b), np.int64) if b.version is None else b.version for b in arrivals]
    given_ = Arrived(id_, valid, flags, to, np.concatenate(none))
    chains = chained(given_, len(decoder.ids), NOW - 1, NOW)
    out: dict[str, list[int]] = {}
    for code in range(len(decoder.ids)):
        for v in range(chains.first[code], chains.first[code + 1]):
            if op[chains.place[v]] == Op.REMOVE or not decoder.ids.text(code).startswith("bus:"):
                continue
            begin, end = int(chains.begin[v]), int(chains.end[v])
            seconds = [s for s in range(20) if begin <= instant(s) < end]
            if seconds:
                out.setdefault(decoder.ids.text(code)[4:], []).extend(seconds)
    return out


def instant(second: int) -> int:
    from tests.edges.test_aliases import DAY

    return (DAY + second) * SECOND


def batches(decoder: MappingDecoder, said: list[Said], most: int) -> list[FragmentBatch]:
    """The fragments of messages, so many of which come at a time."""
    out = []
    for begin in range(0, len(said), most):
        messages = [Message(one.text.encode()) for one in said[begin : begin + most]]
        out += [one for one in decoder.messages(messages) if isinstance(one, FragmentBatch)]
    return [one for one in out if decoder.ids.text(int(one.id[0])).startswith("bus:")]


def made() -> MappingDecoder:
    return MappingDecoder("s", parse_mapping(MAPPING, "buses"))


CASES = {
    "another unit used the alias last, and is late": (
        [Said(1, "a", "i"), Said(3, "b", "i"), Said(5, "i")],
        {"a": [*range(1, 20)], "b": [3, 4]},
    ),
    "in between another unit used it": (
        [Said(1, "a", "i"), Said(3, "b", "i"), Said(4, "i"), Said(5, "a", "i")],
        {"a": [*range(1, 20)], "b": [3]},
    ),
    "there is a unit of that key": (
        [Said(1, "i", "j"), Said(3, "a", "i"), Said(5, "i")],
        {"i": [1, 2, 3, 4], "a": [3, 4]},
    ),
    "by its key as well": (
        [Said(1, "a", "i"), Said(2, "b", "i"), Said(5, "a"), Said(5, "i")],
        {"a": [1, 2, 3, 4], "b": [2, 3, 4]},
    ),
    "by two aliases of one instant": (
        [Said(1, "a", "i"), Said(2, "a", "j"), Said(3, "b", "i"), Said(5, "i"), Said(5, "j")],
        {"a": [1, 2, 3, 4], "b": [3, 4]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("most", [1, 1000])
@pytest.mark.parametrize("name", CASES)
def test_late_uses_of_an_alias(name: str, most: int) -> None:
    said, expected = CASES[name]
    assert there(said) == expected
    for order in itertools.permutations(said):
        decoder = made()
        assert found(batches(decoder, list(order), most), decoder) == expected, order


@st.composite
def messages(draw: st.DrawFn) -> list[Said]:
    """Buses and their other keys share names; of one instant there are removals alone."""
    out: list[Said] = []
    names = st.sampled_from("abc")
    for second in sorted(draw(st.sets(st.integers(0, 12), min_size=2, max_size=8))):
        if draw(st.booleans()):
            out.append(Said(second, draw(names), draw(names)))
        else:
            out += [Said(second, key) for key in sorted(draw(st.sets(names, min_size=1)))]
    return out


@given(messages(), st.data())
def test_any_order_means_what_the_order_in_time_does(said: list[Said], data: st.DataObject) -> None:
    order, most = data.draw(st.permutations(said)), data.draw(st.integers(1, 4))
    first = made()
    some = batches(first, order[: len(order) // 2], most)
    tables = TableWriter()  # a restart in between changes nothing
    write_mapped(tables, "d", first)
    decoder = MappingDecoder("s", first.mapping, names=first.names)
    read_mapped(TableReader(tables.finish(), tables.facts, first.names), "d", decoder)
    some += batches(decoder, order[len(order) // 2 :], most)
    assert (found(some, decoder) if some else {}) == there(said)


@pytest.mark.parametrize("most", [1, 1000])
def test_a_query_sees_it(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MOST", most)
    said, _ = CASES["another unit used the alias last, and is late"]
    (tmp_path / "m.toml").write_text(MAPPING)
    query = 'for $b in stream("s")//bus return $b ! concat(@id, " ", substring(@vtTo, 18))'
    for number, order in enumerate(itertools.permutations(said)):
        feed = tmp_path / str(number)
        feed.mkdir()
        for k, one in enumerate(order):
            (feed / f"{k}.xml").write_text(one.text)
        source, accumulated = Path(f"{tmp_path / 'm.toml'}:{feed}"), Accumulated()
        lines = list(xsc.query(query).run(s=source).lines())
        assert lines == ["a ", "b 05Z"]
        for change in xsc.query(query).watch(s=source):
            accumulated.apply(change)
        assert accumulated.items() == lines
