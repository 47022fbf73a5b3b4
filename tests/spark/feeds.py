"""Feeds for the tests of tables: accounts with limits that are corrected, in several files."""

from __future__ import annotations

import random
from pathlib import Path

STRUCTURE = (
    '<stream:structure><tag id="1" name="accounts" type="snapshot">'
    '<tag id="2" name="account" type="temporal"><tag id="3" name="limit" type="temporal"/></tag>'
    "</tag></stream:structure>\n"
)
HEAD = '<stream:fragments xmlns:stream="urn:xstreamcast:stream">\n'


def fragments(count: int, seed: int = 1, keyed: bool = False) -> list[str]:
    """Fragments in a random order; `keyed`: limits name their accounts."""
    dice = random.Random(seed)
    holes = "".join(f'<stream:hole id="a{n}" tsid="2"/>' for n in range(count // 4))
    made = [_filler("0", 1, "2003-01-01", f"<accounts>{holes}</accounts>")]
    for n in range(count // 4):
        inner = f'<account no="{n}"><stream:hole id="l{n}" tsid="3"/></account>'
        made.append(_filler(f"a{n}", 2, "2003-01-02", inner))
        for _ in range(3):
            day = f"2003-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}T10:00:00Z"
            limit = f"<limit>{dice.randint(1, 9)}000</limit>"
            made.append(_filler(f"l{n}", 3, day, limit, f' unit="a{n}"' if keyed else ""))
    dice.shuffle(made)
    return made


def _filler(name: str, tsid: int, valid: str, payload: str, more: str = "") -> str:
    head = f'<stream:filler id="{name}" tsid="{tsid}" validTime="{valid}"{more}>'
    return f"{head}{payload}</stream:filler>\n"


def write_feed(folder: Path, count: int, files: int = 3, keyed: bool = False) -> Path:
    """A folder with a feed; its structure stands in the middle of the second file.

    `keyed`: fragments name their units, and the structure stands at the beginning.
    """
    folder.mkdir()
    made = fragments(count, keyed=keyed)
    for number in range(files):
        mine = made[number::files]
        if keyed and number == 0:
            mine.insert(0, STRUCTURE)
        elif not keyed and number == min(1, files - 1):
            mine.insert(len(mine) // 2, STRUCTURE)
        (folder / f"{number:03}.xml").write_text(HEAD + "".join(mine) + "</stream:fragments>\n")
    return folder


FLAT = """<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>
<tag id="1" name="shop" type="snapshot"><tag id="2" name="item" type="temporal"/></tag>
</stream:structure>
"""


def flat(first: int, last: int, day: int) -> str:
    """Items that name the shop as their parent: no hole says where they belong."""
    return "".join(
        f'<stream:filler id="i{n}" tsid="2" in="0" validTime="2024-01-{day:02}T00:00:00Z">'
        f'<item kind="{n % 3}" price="{n * day}"/></stream:filler>\n'
        for n in range(first, last)
    )
