"""Several documents in one file, one of which is broken: the others are messages all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast import query
from xstreamcast.edges.mapping.separating import separated

ROOM = '[unit.room]\npath = "//room"\nkey = "@id"\nfrom = "@at"\n'


def room(name: str, inside: str = "") -> str:
    return f'<room id="{name}" at="2024-05-01T08:00:00Z">{inside}</room>'


FILES = {
    "the last is cut off": (f"{room('A')}\n{room('B')}\n{room('C', 'x' * 99)[:-50]}", "AB", 1),
    "the one in the middle is broken": (room("A") + room("B", "<x></y>") + room("C"), "AC", 1),
    "two are broken": (room("A", "<x>") + room("B") + room("C", "&no;") + room("D"), "BD", 2),
    "text between them": (f"{room('A')} oops {room('B')}", "A", 1),
    "declarations": (
        f'<?xml version="1.0"?>{room("A")}<?xml version="1.0"?>{room("B")[:-3]}',
        "A",
        1,
    ),
    "roots of two kinds": (f"<l>{room('A')}{room('B')}</l><room id='C' at='x y", "AB", 1),
    "elements of the root's name in it": (f"<room><room>{room('A')}</room>", "", 1),
    "one that is cut off": (f"<l>{room('A')}{room('B')}", "", 1),
    "marks within values": ("<l a='>' b=\"/>\">" + room("A") + "</l><l>", "A", 1),
}


@pytest.mark.parametrize("named", FILES)
def test_the_others_count(named: str, tmp_path: Path) -> None:
    text, expected, broken = FILES[named]
    (tmp_path / "m.toml").write_text(ROOM)
    (tmp_path / "feed.xml").write_text(text)
    source, refused = Path(f"{tmp_path}/m.toml:{tmp_path}/feed.xml"), list[Any]()
    found = query('stream("s")//room/@id/string()').run(s=source, keep=refused.append)
    assert ("".join(found.lines()), len(refused)) == (expected, broken)
    assert all(text.encode()[one.offset :].startswith(one.raw[:20]) for one in refused)


@given(st.text("<>ab/ '\"=?!", max_size=40))
def test_the_parts_are_the_whole(text: str) -> None:
    data = text.encode()
    parts = separated(data)
    if parts is not None:
        assert len(parts) > 1
        assert data.startswith(b"".join(part for _, part in parts))
        assert all(data[at : at + len(part)] == part for at, part in parts)
