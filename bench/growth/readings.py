"""Long sequences for windows: one stream named s, whose items differ by what a window looks at."""

from collections.abc import Callable
from datetime import datetime, timedelta

from bench.growth.streams import Stream, Streams, Unit, filler, holes, scattered, structure

Payload = Callable[[int, int, int], str]  # index, version, n
BEGIN = datetime(2026, 1, 1)


def sequence(name: str, payload: Payload, *tags: str) -> tuple[Streams, Unit]:
    """A stream `s` of items of one name below the root r, and the unit that they are."""

    def write(i: int, version: int, n: int) -> bytes:
        return filler(f"v{i}", 2, payload(i, version, n))

    def root(n: int) -> bytes:
        return filler("0", 1, f"<r>{holes('v', 2, range(unit.reach(n)))}</r>")

    inner = "".join(f'<tag id="{3 + i}" name="{tag}"/>' for i, tag in enumerate(tags))
    below = f'<tag id="2" name="{name}" filler="true">{inner}</tag>'
    unit = Unit("s", lambda n: n, write)
    described = structure(f'<tag id="1" name="r">{below}</tag>')
    return (Stream("s", described, root, (unit,)),), unit


def at(seconds: int) -> str:
    """An instant as text."""
    return (BEGIN + timedelta(seconds=seconds)).isoformat()


def _number(i: int, version: int, n: int) -> str:
    """A measurement each 20 seconds; each of n / 16 sensors takes 16 of them."""
    large = 500 + i + (2 * n if i < n else 0)  # the largest of all, new or corrected
    value = large if version else scattered(i, 100)
    return f'<v id="{i % max(4, n // 16)}" n="{i}" t="{at(20 * i)}">{value}</v>'


def _state(i: int, version: int, n: int) -> str:
    """Measurements of eight sensors, however many there are."""
    return f'<v id="{i % 8}">{500 + i % 50 if version else scattered(i, 100)}</v>'


def _local(i: int, version: int, n: int) -> str:
    """Each id four times in a row; a correction takes an item to the ids before it."""
    return f'<v id="{i // 4 - version}">{i}</v>'


def _rare(i: int, version: int, n: int) -> str:
    """Four items in the middle are marked."""
    rare = ' rare="yes"' if n // 2 <= i < n // 2 + 4 else ""
    return f"<v{rare}>{scattered(i, 100) + 500 * version}</v>"


def _letter(i: int, version: int, n: int) -> str:
    """a, b, c over and over; new items begin a window each, corrections end one."""
    return f"<v>{('a' if i >= n else 'c') if version else 'abc'[i % 3]}</v>"


def _closing(i: int, version: int, n: int) -> str:
    """The same, where new items end a window too."""
    return f"<v>{'c' if version else 'abc'[i % 3]}</v>"


def _marked(i: int, version: int, n: int) -> str:
    """Three items are S, near the middle; one in 50 is E."""
    if n // 2 - 9 <= i < n // 2 - 6:
        return "<v>S</v>"
    return f"<v>{'E' if version or i % 50 == 49 else 'x'}</v>"


def _day(i: int, version: int, n: int) -> str:
    """An alarm clock rings, then nine other things happen."""
    words = ("ring", "rise", "eat", "walk", "work", "rest", "work", "walk", "eat", "sleep")
    return f"<v>{'ring' if version else words[i % 10]}</v>"


def _posting(i: int, version: int, n: int) -> str:
    """Postings whose authors have written three in a row."""
    author = "Zoe" if version else ("Ann", "Bob", "Cid", "Dan", "Eve")[i // 3 % 5]
    return f"<v><author>{author}</author></v>"


def _temperature(i: int, version: int, n: int) -> str:
    """One in twenty is too warm."""
    warm = version or i % 20 == 0
    return f"<v>{10 + i % 7 if warm else -8 + i % 9}</v>"


def _entry(i: int, version: int, n: int) -> str:
    """Each of n / 16 users logs in, reads, buys and logs out, four times."""
    users = max(4, n // 16)
    later = "login" if i >= n else "logout"  # new entries begin sessions, corrections end them
    op = later if version else ("login", "read", "buy", "logout")[i // users % 4]
    return f"<v><user>u{i % users}</user><op>{op}</op></v>"


def _click(i: int, version: int, n: int) -> str:
    """Clicks a minute apart with a pause of an hour behind each twenty; late by 40 minutes."""
    minutes = i + 60 * (i // 20) + 40 * version
    weight = 1 + i % 5 + (50 if i >= n else 5000) * version
    return f'<v user="u{i // 20 % 10}" t="{at(60 * minutes)}">{weight}</v>'


def _sorted(i: int, version: int, n: int) -> str:
    """Numbers that are out of order by one or two positions, here and there."""
    return f"<v>{4 * i + 1 + (0, 5, 0)[i % 3] + 2 * version}</v>"


def _numbered(i: int, version: int, n: int) -> str:
    """Packets by number, one in 40 of them missing."""
    skipped = 2 * (i - n + 1) if i >= n else 1000 * version
    return f'<v seq="{i + i // 40 + skipped}">{scattered(i, 100)}</v>'


NUMBERS, NUMBER = sequence("v", _number)
STATES, STATE = sequence("v", _state)
LOCALS, LOCAL = sequence("v", _local)
RARES, RARE = sequence("v", _rare)
LETTERS, LETTER = sequence("v", _letter)
CLOSINGS, CLOSING = sequence("v", _closing)
MARKS, MARKED = sequence("v", _marked)
DAYS, DAY = sequence("v", _day)
POSTINGS, POSTING = sequence("v", _posting, "author")
TEMPERATURES, TEMPERATURE = sequence("v", _temperature)
LOG, ENTRY = sequence("v", _entry, "user", "op")
CLICKS, CLICK = sequence("v", _click)
ALMOST_SORTED, OUT_OF_ORDER = sequence("v", _sorted)
PACKETS, PACKET = sequence("v", _numbered)
