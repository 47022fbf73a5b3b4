"""Streams of changes, mutated: what one query prints, and another reads."""

from __future__ import annotations

import random
from pathlib import Path

from tests.fuzz.streams import check_answers, check_decoder
from tests.fuzz.target import Check, cut, spliced

ITEMS = ("<i>1</i>", "<i/>", "text", "&amp;", "<i>2</i><i>3</i>", "")


def _lines(chance: random.Random) -> list[bytes]:
    """Changes that fit each other, mostly."""
    out, there = [], list[tuple[str, str]]()
    for number in range(chance.randint(1, 12)):
        time = f"2020-01-{chance.randint(1, 28):02}T00:00:00Z"
        if there and chance.random() < 0.4:
            key, item = there.pop(chance.randrange(len(there)))
            out.append(_line(time, -1, key, None, item))
        else:
            after = chance.choice([None, *(key for key, _ in there)])
            key, item = f"{number}", chance.choice(ITEMS)
            there.append((key, item))
            out.append(_line(time, 1, key, after, item))
    return out


def _line(time: str, diff: int, key: str, after: str | None, item: str) -> bytes:
    behind = "null" if after is None else f'"{after}"'
    return (
        f'{{"time":"{time}","diff":{diff},"key":"{key}","after":{behind},"item":"{item}"}}\n'
    ).encode()


def begin(folder: Path) -> Check:
    """Chunks make no difference; `run` and `watch` agree."""

    def check(chance: random.Random) -> None:
        lines = _lines(chance)
        data = b"".join(lines) if chance.random() < 0.2 else spliced(lines, chance)
        check_decoder("changes", data, chance)
        path = folder / "changes.ndjson"
        path.write_bytes(data)
        check_answers('stream("s")//i', path, data, iter(cut(data, chance)))

    return check
