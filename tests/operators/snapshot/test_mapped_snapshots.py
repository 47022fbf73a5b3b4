"""Snapshots of mapped feeds: started again, a query goes on as if it had never stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from xstreamcast import query
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.form import parse_mapping
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.edges.snapshot.mapped import read_mapped, write_mapped
from xstreamcast.edges.watching import Watching, WatchOptions
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
from xstreamcast.tape.names import Names

KEYED = """
[message]
time = "/m/@at"
[unit.u]
path = "/m/u"
key  = "@id"
from = "@from"
to   = "@to"
remove = "@state = 'gone'"
"""
NESTED = """
[message]
time = "/m/@at"
[unit.u]
path = "/m/u"
key  = "@id"
from = "@from"
[unit.part]
path = "part"
in   = "u"
key  = "@n"
from = "../@from"
"""
WHOLE = """
[message]
time = "/m/@at"
[unit.u]
path  = "/m/u"
key   = "@id"
whole = true
"""
KEYLESS = """
[message]
time = "/m/@at"
[unit.u]
type = "event"
path = "/m/u"
from = "@from"
"""
LEVEL = """
[message]
level = 1
[unit.u]
path = "u"
key  = "@id"
from = "@from"
"""
CSV = """
[message]
type = "csv"
[unit.u]
path = "row"
key  = "id"
from = "since"
"""
NDJSON = """
[message]
type = "ndjson"
[namespaces]
j = "http://www.w3.org/2005/xpath-functions"
[unit.u]
path = "j:map"
key  = "j:number[@key='id']"
from = "j:string[@key='since']"
"""


def at(second: int) -> str:
    return f"2024-05-01T10:{second // 60:02}:{second % 60:02}Z"


def keyed(n: int) -> str:
    gone = ' state="gone"' if n % 7 == 6 else ""
    to = f' to="{at(n + 9)}"' if n % 5 == 4 else ""
    return f'<m at="{at(n)}"><u id="{n % 4}" from="{at(n)}"{to}{gone}><v>{n}</v></u></m>'


def nested(n: int) -> str:
    parts = "".join(f'<part n="{k}"><v>{n + k}</v></part>' for k in range(n % 3))
    return f'<m at="{at(n)}"><u id="{n % 3}" from="{at(n)}"><v>{n}</v>{parts}</u></m>'


def whole(n: int) -> str:
    units = "".join(f'<u id="{k}"><v>{(n + k) // 3}</v></u>' for k in range(5) if (n + k) % 3)
    return f'<m at="{at(n)}">{units}</m>'


def keyless(n: int) -> str:
    """Events of a few instants: those that come later are not those that came before."""
    return f'<m at="{at(n)}"><u from="{at(n % 3)}"><v>{n}</v></u></m>'


MESSAGES = {
    "keyed": (KEYED, keyed),
    "nested": (NESTED, nested),
    "whole": (WHOLE, whole),
    "keyless": (KEYLESS, keyless),
}
PIECES = {
    "level": (LEVEL, "<log xmlns:x='urn:x'>\n" + "".join(
        f'<u id="{n % 3}" from="{at(n)}"><v>{n}</v></u>\n' for n in range(24))),
    "csv": (CSV, "id,since,v\n" + "".join(f"{n % 3},{at(n)},{n}\n" for n in range(24))),
    "ndjson": (NDJSON, "".join(
        f'{{"id": {n % 3}, "since": "{at(n)}", "v": {n}}}\n' for n in range(24))),
}  # fmt: skip
QUERIES = {
    "current": 'for $u in stream("s")/feed/*?[now] return <u from="{vtFrom($u)}">{data($u)}</u>',
    "history": 'count(stream("s")/feed/*), sum(stream("s")//v ! number())',
    "grouped": """for $u in stream("s")/feed/* group by $n := string-length($u) order by $n
        return <g n="{$n}">{count($u)}</g>""",
}


class Feed:
    """Pieces of bytes that are read by a mapping."""

    def __init__(self, mapping: Path, pieces: list[bytes]) -> None:
        self.mapping, self._pieces = str(mapping), pieces

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces)


class Runs:
    """One checkpoint, a sink, and the query started again and again."""

    def __init__(self, folder: Path, text: str, source: object, every: int = 1) -> None:
        self.folder, self.text, self.source, self.every = folder, text, source, every
        self.sink: list[Change] = []
        self.notes: list[str] = []

    def go_on(self, ticks: int | None) -> Watching:
        given = WatchOptions(
            batch=3, checkpoint=str(self.folder), say=self.notes.append, snapshot_every=self.every
        )
        watching = query(self.text).watching(None, {"s": self.source}, given)
        watching.sink = lambda: len(self.sink)
        assert watching.journal is not None
        del self.sink[watching.journal.sink :]
        watching.begin()
        before = watching.ticked
        with closing(watching.ticks()) as batches:
            for changes in batches:
                self.sink += changes
                if ticks is not None and watching.ticked >= before + ticks:
                    break
        return watching

    @property
    def items(self) -> list[str]:
        told = Accumulated()
        for change in self.sink:
            told.apply(change)  # a retraction must name what was emitted
        return told.items()


def gone_on(tmp_path: Path, text: str, source: object, stops: tuple[int, ...]) -> None:
    """Stop after some ticks, go on, and compare with a run that never stopped."""
    straight = Runs(tmp_path / "straight", text, source)
    straight.go_on(None)
    for ticks in stops:
        stopped = Runs(tmp_path / str(ticks), text, source)
        stopped.go_on(ticks)
        assert list((stopped.folder / "snapshots").glob("*.snapshot"))
        stopped.go_on(2)
        stopped.go_on(None)
        assert stopped.notes == []
        assert stopped.sink == straight.sink, ticks


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("feed", MESSAGES)
def test_messages_of_a_folder(feed: str, text: str, tmp_path: Path):
    mapping, message = MESSAGES[feed]
    path, folder = tmp_path / "m.toml", tmp_path / "data"
    path.write_text(mapping)
    folder.mkdir()
    for n in range(24):
        (folder / f"{n:03}.xml").write_text(message(n))
    gone_on(tmp_path, text, f"{path}:{folder}", (2, 4, 7))


@pytest.mark.parametrize("step", [17, 40, 111])
@pytest.mark.parametrize("feed", PIECES)
def test_pieces_that_are_cut_anywhere(feed: str, step: int, tmp_path: Path):
    mapping, data = PIECES[feed]
    path = tmp_path / "m.toml"
    path.write_text(mapping)
    raw = data.encode()
    pieces = [raw[begin : begin + step] for begin in range(0, len(raw), step)]
    gone_on(tmp_path, QUERIES["current"], Feed(path, pieces), (7, 10, 14))


@pytest.mark.parametrize("every", [1, 1 << 30])
def test_what_has_no_valid_time_came_when_it_was_first_read(every: int, tmp_path: Path):
    """With a snapshot and without one: the journal says when each message was read."""
    path, folder = tmp_path / "m.toml", tmp_path / "data"
    path.write_text('[unit.u]\npath = "/m/u"\nkey = "@id"\n')
    folder.mkdir()
    for n in range(12):
        (folder / f"{n:03}.xml").write_text(f'<m><u id="{n % 3}"><v>{n}</v></u></m>')
    runs = Runs(tmp_path / "c", QUERIES["current"], f"{path}:{folder}", every)
    runs.go_on(2)
    before = runs.items
    runs.go_on(1)
    runs.go_on(None)
    assert before
    assert [item.partition(">")[2] for item in runs.items] == [f"{n}</u>" for n in (9, 10, 11)]


@pytest.mark.parametrize("known", [True, False], ids=["now", "of an earlier version"])
def test_units_without_a_key_are_numbered_on(known: bool):
    """A state that does not say how many there were: the ids that it knows say it."""
    mapping = parse_mapping(KEYLESS, "m")
    before, after = (MappingDecoder("s", mapping) for _ in range(2))
    before.messages([Message(keyless(n).encode(), "") for n in range(5)])
    codes = np.ones(len(before.ids), np.bool_)
    codes[before.ids.code(f"u:{1:016}")] = False
    before.ids.take_back(codes)
    tables = TableWriter()
    write_mapped(tables, "s", before)
    if not known:
        del tables.facts["s.mapped"]["numbers"]
    read_mapped(TableReader(tables.finish(), tables.facts, Names()), "s", after)
    after.messages([Message(keyless(5).encode(), "")])
    assert after.ids.texts == before.ids.texts + 1
    after.ids.code(f"u:{5:016}")
    assert after.ids.texts == before.ids.texts + 1  # it was the one that came


def test_a_snapshot_of_another_mapping_is_not_used(tmp_path: Path):
    path, folder = tmp_path / "m.toml", tmp_path / "data"
    path.write_text(KEYED)
    folder.mkdir()
    for n in range(24):
        (folder / f"{n:03}.xml").write_text(keyed(n))
    text, source = 'stream("s")/feed/*?[now]/v/text()', f"{path}:{folder}"
    Runs(tmp_path / "c", text, source).go_on(4)
    path.write_text(KEYED.replace("@state = 'gone'", "@state = 'never'"))
    again, straight = (Runs(tmp_path / name, text, source) for name in ("c", "d"))
    again.go_on(None)
    straight.go_on(None)
    assert again.notes
    assert again.sink[-1] == straight.sink[-1]
