"""Compressed messages of a feed: one that is broken is refused, one that is written is awaited."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xstreamcast import query
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.form import parse_mapping
from xstreamcast.edges.mapping.messages import Message, is_whole
from xstreamcast.edges.sources import Burst
from xstreamcast.edges.sources.files import Files
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.model.fragment import Refused

ROOM = '[unit.room]\npath = "//room"\nkey = "@id"\nfrom = "@at"\n'
LINES = '[message]\ntype = "csv"\n[unit.room]\nkey = "id"\n'
QUERY = 'stream("s")//room?[now]/@id/string()'


def room(name: str) -> bytes:
    return f'<room id="{name}" at="2024-05-01T08:00:00Z">{"x" * 300}</room>'.encode()


def feed(folder: Path, second: bytes, mapping: str = ROOM) -> Path:
    (folder / "rooms.toml").write_text(mapping)
    source = folder / "feed"
    source.mkdir()
    (source / "1.xml").write_bytes(room("A"))
    (source / "2.xml.gz").write_bytes(second)
    (source / "3.xml").write_bytes(bz2.compress(room("C")))
    return Path(f"{folder}/rooms.toml:{source}")


@pytest.mark.parametrize(
    "broken", [gzip.compress(room("B"))[:-20], b"\x1f\x8bnone of it"], ids=["cut off", "none"]
)
def test_a_message_that_cannot_be_decompressed_is_refused(broken: bytes, tmp_path: Path) -> None:
    source, refused = feed(tmp_path, broken), list[Any]()
    assert list(query(QUERY).run(s=source, keep=refused.append).lines()) == ["A", "C"]
    assert [(one.code, one.raw) for one in refused] == [("XSCM0002", broken)]
    assert "2.xml.gz: the message cannot be decompressed" in refused[0].reason
    accumulated = Accumulated()
    for change in query(QUERY).watch(s=source, keep=refused.append):
        accumulated.apply(change)
    assert (accumulated.items(), len(refused)) == (["A", "C"], 2)
    with pytest.raises(Error, match="cannot be decompressed"):
        query(QUERY).run(s=source, on_error="stop")


def test_a_file_that_its_name_alone_calls_compressed_is_read(tmp_path: Path) -> None:
    assert list(query(QUERY).run(s=feed(tmp_path, room("B"))).lines()) == ["A", "B", "C"]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert list(query(QUERY).run(s=feed(empty, b"")).lines()) == ["A", "C"]


def taken(files: Files, acts: list[Callable[[], object]]) -> list[bytes]:
    """The messages that are read; an act is done when there is nothing to read."""
    found: list[bytes] = []
    waiting = iter([*acts, *[lambda: None] * 3])
    for piece in files.pieces():
        if isinstance(piece, Burst):
            found += piece
        elif (act := next(waiting, None)) is None:
            break
        else:
            act()
    return found


def test_one_that_is_being_written_is_awaited(tmp_path: Path) -> None:
    whole, path = gzip.compress(room("A")), tmp_path / "1.xml.gz"
    path.write_bytes(whole[:30])
    files = Files(str(tmp_path), True, lambda: 0.001, whole=is_whole)
    acts = [lambda: path.write_bytes(whole[:40]), lambda: path.write_bytes(whole)]
    assert taken(files, [*acts]) == [room("A")]


def test_one_that_was_cut_off_is_read_again_when_it_changes(tmp_path: Path) -> None:
    whole, path = gzip.compress(room("A")), tmp_path / "1.xml.gz"
    path.write_bytes(whole[:30])
    (tmp_path / "2.xml").write_bytes(room("B"))
    files = Files(str(tmp_path), True, lambda: 0.001, whole=is_whole)
    assert taken(files, [lambda: path.write_bytes(whole)]) == [whole[:30], room("B"), room("A")]


def test_messages_of_brokers_are_decompressed_too() -> None:
    decoder = MappingDecoder("s", parse_mapping(ROOM, "rooms"))
    given = [gzip.compress(room("A")), gzip.compress(room("B"))[:-9], room("C")]
    found = decoder.messages([Message(one) for one in given])
    assert decoder.counts.units == 2
    assert [one.raw for one in found if isinstance(one, Refused)] == [given[1]]


def test_broken_records_are_refused_as_one(tmp_path: Path) -> None:
    decoder = MappingDecoder("s", parse_mapping(LINES, "rooms"))
    found = decoder.messages([Message(b"\x1f\x8bnone\nof\nit"), Message(b"id\nA\n")])
    assert (decoder.counts.units, decoder.counts.refused) == (1, 1)
    assert sum(isinstance(one, Refused) for one in found) == 1
