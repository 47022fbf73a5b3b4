"""Streams of versions inside versions, and queries about their times, places and order.

Units are removed and made again, end as planned, are attached or stand in holes, and come late. The
structures of `streams_strategies` rarely nest what has a lifespan; these always do.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.streams_strategies import HEAD, WORDS, Case, intervals, versions

_KINDS = ("temporal", "temporal", "temporal", "event", "snapshot")


def _when(minute: int) -> str:
    return f"2020-01-01T00:{minute:02}:00"


@dataclass(frozen=True, slots=True)
class _Unit:
    """What has an id: its tag, and the unit it is in."""

    number: int
    tag: int
    above: int


@st.composite
def timed_cases(draw: DrawFn) -> Case:
    """A stream and some queries."""
    kinds = ("snapshot", "temporal", draw(st.sampled_from(_KINDS)), draw(st.sampled_from(_KINDS)))
    beside = draw(st.booleans())  # c stands beside b, and not in it
    wire = draw(_wires(kinds, beside))
    return Case(tuple(draw(_queries(beside)) for _ in range(draw(st.integers(1, 4)))), wire)


@st.composite
def _wires(draw: DrawFn, kinds: tuple[str, ...], beside: bool) -> bytes:
    inner = f'<tag id="3" name="c" type="{kinds[3]}" filler="true"/>'
    second = f'<tag id="2" name="b" type="{kinds[2]}" filler="true">'
    below = f"{second}</tag>{inner}" if beside else f"{second}{inner}</tag>"
    told = (
        '<stream:structure><tag id="0" name="r" type="snapshot">'
        f'<tag id="1" name="a" type="{kinds[1]}" filler="true">{below}</tag></tag>'
        "</stream:structure>"
    )
    units = draw(_units(beside))
    holes = draw(st.sampled_from(("holes", "attached", "both")))
    lines = [draw(_root(units, holes))]
    for unit in units[1:]:
        lines += draw(_life(unit, units, kinds[unit.tag], holes))
    match draw(st.integers(0, 3)):
        case 0:
            lines = draw(st.permutations(lines))
        case 1 | 2:  # in the order of their times, but for some that come late
            late = {at: draw(st.integers(1, 4)) for at in range(len(lines)) if _draws(draw, 5)}
            keyed = [(_minute(line) + late.get(at, 0), at) for at, line in enumerate(lines)]
            lines = [lines[at] for _, at in sorted(keyed)]
    again = [draw(st.sampled_from(lines)) for _ in range(draw(st.integers(0, 2)))]
    return "\n".join([HEAD, told, *lines, *again, "</stream:fragments>"]).encode()


def _draws(draw: DrawFn, of: int) -> bool:
    return draw(st.integers(0, of - 1)) == 0


def _minute(line: str) -> int:
    at = line.index('validTime="') + len('validTime="2020-01-01T00:')
    return int(line[at : at + 2])


@st.composite
def _units(draw: DrawFn, beside: bool) -> list[_Unit]:
    units = [_Unit(0, 0, 0)]
    for _ in range(draw(st.integers(2, 4))):
        units.append(_Unit(len(units), 1, 0))
    outer = [unit.number for unit in units if unit.tag == 1]
    for _ in range(draw(st.integers(1, 4))):
        units.append(_Unit(len(units), 2, draw(st.sampled_from(outer))))
    above = outer if beside else [unit.number for unit in units if unit.tag == 2]
    for _ in range(draw(st.integers(0, 3))):
        units.append(_Unit(len(units), 3, draw(st.sampled_from(above))))
    return units


@st.composite
def _root(draw: DrawFn, units: list[_Unit], holes: str) -> str:
    content = "".join(draw(_holes(units, 0, holes)))
    head = f'id="0" tsid="0" validTime="{_when(draw(st.integers(0, 3)))}"'
    return f"<stream:filler {head}><r>{content}</r></stream:filler>"


@st.composite
def _holes(draw: DrawFn, units: list[_Unit], above: int, holes: str) -> list[str]:
    if holes == "attached":
        return []
    inside = [one for one in units[1:] if one.above == above]
    kept = [one for one in inside if holes == "holes" or draw(st.booleans())]
    left = [one for one in kept if not _draws(draw, 6)]
    return [f'<stream:hole id="{one.number}" tsid="{one.tag}"/>' for one in left]


@st.composite
def _life(draw: DrawFn, unit: _Unit, units: list[_Unit], kind: str, holes: str) -> list[str]:
    """The versions of a unit, its removals, and what makes it again."""
    minutes = draw(st.lists(st.integers(0, 20), min_size=1, max_size=4, unique=True))
    return [draw(_line(unit, units, kind, holes, minute, at)) for at, minute in enumerate(minutes)]


@st.composite
def _line(
    draw: DrawFn, unit: _Unit, units: list[_Unit], kind: str, holes: str, minute: int, at: int
) -> str:
    head = f'id="{unit.number}" tsid="{unit.tag}" validTime="{_when(minute)}"'
    if holes == "attached" or (holes == "both" and draw(st.booleans())):
        head += f' in="{unit.above}"'
    if at and _draws(draw, 3):
        return f"<stream:remove {head}/>"
    if kind != "snapshot" and _draws(draw, 4):
        head += f' validTo="{_when(minute + draw(st.integers(0, 8)))}"'
        head += ' temporary="true"' if _draws(draw, 3) else ""
    if _draws(draw, 6):
        head += f' messageTime="{_when(draw(st.integers(0, 20)))}"'
    name = "rabc"[unit.tag]
    key = draw(st.sampled_from(WORDS))
    content = draw(st.sampled_from(("", *WORDS))) + "".join(draw(_holes(units, unit.number, holes)))
    return f'<stream:filler {head}><{name} k="{key}">{content}</{name}></stream:filler>'


# -- queries --------------------------------------------------------------------------------------


@st.composite
def _queries(draw: DrawFn, beside: bool) -> str:
    def one_of(*choices: str) -> str:
        return draw(st.sampled_from(choices))

    word, span, chosen = one_of(*WORDS), draw(intervals()), draw(versions())
    outer = f'stream("s")/r/a{one_of("", "", span, "?[now]", "?[now, now + PT4M]")}'
    some = f'stream("s")//{one_of("a", "b", "c", "*")}{one_of("", "", span, "?[now]")}'
    inner = one_of("/b", "/b", "//c", "/*", "//b", "/c" if beside else "/b/c")
    own = draw(intervals("$x"))
    size = one_of("1", "2")
    window = one_of("tumbling", "sliding")
    return one_of(
        some,
        f"count({some})",
        f"{outer}{inner}",
        f"{outer}{inner}{span}",
        f"{outer}{inner}{chosen}",
        f"for $x in {outer} return <p>{{ $x/@k, count($x{inner}) }}</p>",
        f"for $x in {outer} return <p>{{ $x/@*, $x{inner}{own} }}</p>",
        f"for $x in {outer} return $x{inner}#[last]/@k",
        f'for $x in {outer} where $x{inner}#[last]/@k = "{word}" return $x/@k',
        f'for $x in {outer} where $x{inner}?[now] = "{word}" return string($x/@k)',
        f"for $x in {outer} return <v>{{ vtFrom($x), vtTo($x), $x{inner} ! vtFrom(.) }}</v>",
        f"for $x in {outer}, $y in {some} where $x{inner}#[last]/@k = $y/@k "
        "return <j>{ $x/@k, $y/@k }</j>",
        f"for $x in {outer}, $y in {some} where $x/@k = $y/@k return <j>{{ $x/@k, $y{inner} }}</j>",
        f"for $x in {outer}, $y in $x{inner}?[vtFrom($x), vtTo($x)] return <j>{{ $x/@k, $y }}</j>",
        f"for {window} window $w in {some} start at $i when true() end at $j "
        f"when $j - $i eq {size} return <w>{{ $w/@k }}</w>",
        f"for {window} window $w in {outer}{inner} start $f when true() "
        f'end $l when $l/@k = "{word}" return count($w)',
        f"for $x in {outer} return <w>{{ for {window} window $w in $x{inner} start at $i "
        f"when true() end at $j when $j - $i eq {size} return <i>{{ $w/@k }}</i> }}</w>",
        f"({some})[{size}]",
        f"({some})[last()]/@k",
        f"{outer}[{size}]{inner}[last()]",
        f"{outer}{inner}[position() < 3]/@k",
        f"for $x at $i in {some} where $i < 3 return <p n='{{ $i }}'>{{ $x/@k }}</p>",
        f"for $x in {outer} return <p>{{ $x{inner}[{size}] }}</p>",
        f"for $x in {some} group by $k := string($x/@k) order by $k return <g>{{ count($x) }}</g>",
        f"for $x in {some} order by vtFrom($x) descending, string($x/@k) return $x/@k",
        f"max(for $x in {outer} return count($x{inner}))",
        f"for $x in {outer} where every $y in $x{inner} satisfies vtTo($y) <= vtTo($x) return $x",
        f"for $x in {some} return count({outer}[. {one_of('before', 'overlaps', 'during')} $x])",
        f"for $x in {outer} where vtTo($x) = now return <o>{{ $x/@k, $x{inner}/@k }}</o>",
        f"distinct-values({outer}{inner}/@k ! string(.))",
    )
