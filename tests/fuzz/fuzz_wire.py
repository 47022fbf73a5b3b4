"""Fragments on the wire, mutated."""

from __future__ import annotations

import random
from pathlib import Path

from tests.fuzz.streams import check_answers, check_decoder
from tests.fuzz.target import Check, spliced

HEAD = b'<stream:fragments xmlns:stream="urn:xstreamcast:stream">\n'
STRUCTURE = b"""<stream:structure><tag id="1" name="r" type="snapshot"><tag id="2" name="a" \
type="temporal"><tag id="4" name="b" type="temporal"/></tag><tag id="3" name="e" type="event"/>\
</tag></stream:structure>
"""
ROOT = b"""<stream:filler id="0" tsid="1" validTime="2020-01-01"><r><stream:hole id="1" tsid="2"/>\
<stream:hole id="2" tsid="3"/><stream:hole id="3" tsid="2"/></r></stream:filler>
"""
QUERIES = (
    'stream("s")//a?[now]',
    'count(stream("s")//e)',
    'stream("s")//b/string()',
    'stream("s")',
)


def _fragment(chance: random.Random) -> bytes:
    code = chance.choice((1, 1, 2, 3, 4, 5))
    tag, name = {1: (2, "a"), 2: (3, "e"), 3: (2, "a")}.get(code, (4, "b"))
    word = chance.choice(("filler", "filler", "filler", "replace", "repeat", "remove"))
    head = f'id="{code}" tsid="{tag}" validTime="2020-01-{chance.randint(1, 28):02}"'
    head += chance.choice(
        ("", "", "", ' in="0"', ' in="1"', ' validTo="2020-01-15"', ' version="2"')
    )
    head += chance.choice(("", "", "", ' messageTime="2020-01-20"', ' temporary="true"'))
    if word == "remove":
        return f"<stream:remove {head}/>\n".encode()
    held = "".join(
        f'<stream:hole id="{chance.choice((1, 3, 4, 5))}" tsid="{chance.choice((2, 4))}"/>'
        for _ in range(chance.choice((0, 0, 1, 2)))
    )
    inner = f"{chance.choice(('', 'x', '&amp;', '<i/>'))}{held}"
    return f"<stream:{word} {head}><{name}>{inner}</{name}></stream:{word}>\n".encode()


def stream(chance: random.Random) -> bytes:
    """A stream of fragments, most of which fit."""
    lines = [STRUCTURE, ROOT, *(_fragment(chance) for _ in range(chance.randint(1, 15)))]
    lines += [b'<stream:heartbeat validTime="2020-02-01"/>\n'] * chance.choice((0, 1))
    lines += [b"<stream:eos/>\n"] * chance.choice((0, 0, 1))
    return HEAD + spliced(lines, chance) + chance.choice((b"</stream:fragments>", b""))


def begin(folder: Path) -> Check:
    """Chunks make no difference; `run` and `watch` agree."""

    def check(chance: random.Random) -> None:
        data = stream(chance)
        check_decoder("fragments", data, chance)
        path = folder / "wire.xml"
        path.write_bytes(data)
        check_answers(chance.choice(QUERIES), path, data)

    return check
