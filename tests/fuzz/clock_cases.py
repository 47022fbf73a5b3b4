"""Two streams whose clocks differ, and queries about instants that other generators do not draw.

Times have zones, fractions of seconds, or are dates around the end of a February; heartbeats and
message times move the clock; states are planned, end, and are hidden for a while; a notice is sent
as a fragment without versions; a call happens, and its state changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

HEAD: Final = '<stream:fragments xmlns:stream="urn:xstreamcast:stream">'
END: Final = "</stream:fragments>"
ROADS: Final = (
    '<stream:structure><tag id="1" name="roads" type="snapshot">'
    '<tag id="2" name="closure" type="temporal" filler="true"><tag id="3" name="road"/>'
    '<tag id="4" name="until"/><tag id="5" name="level" type="temporal" filler="true"/>'
    '<tag id="6" name="note" type="event" filler="true"/></tag>'
    '<tag id="7" name="notice" type="snapshot" filler="true"><tag ref="5"/></tag>'
    "</tag></stream:structure>"
)
CALLS: Final = (
    '<stream:structure><tag id="1" name="calls" type="snapshot">'
    '<tag id="2" name="call" type="event" filler="true"><tag id="3" name="road"/>'
    '<tag id="4" name="state" type="temporal" filler="true"/></tag></tag></stream:structure>'
)
NAMES: Final = {2: "closure", 5: "level", 6: "note", 7: "notice"}
KEYS: Final = ("A8", "B17", "C3")
HOURS: Final = 80  # from 2020-02-28


@dataclass(frozen=True, slots=True)
class ClockCase:
    """Queries, and what arrives at the streams r and c, one after the other."""

    queries: tuple[str, ...]
    arrivals: tuple[tuple[str, str], ...]

    def read_by(self, query: str) -> list[tuple[str, str]]:
        """What arrives at the streams that a query reads."""
        return [one for one in self.arrivals if f'stream("{one[0]}")' in query]

    def wires(self, query: str, count: int) -> dict[str, bytes]:
        """The streams that a query reads, after so many arrivals."""
        found: dict[str, list[str]] = {}
        for name, line in self.read_by(query)[:count]:
            found.setdefault(name, []).append(line)
        return {name: "\n".join([*lines, END]).encode() for name, lines in found.items()}

    def __repr__(self) -> str:
        return "\n".join(["", *self.queries, *map(str, self.arrivals)])


def clock_case(chance: Random) -> ClockCase:
    """Two streams and some queries."""
    roads = [("r", line) for line in _mixed(_roads(chance), chance)]
    calls = [("c", line) for line in _mixed(_calls(chance), chance)]
    arrivals = [("r", HEAD + ROADS), ("c", HEAD + CALLS)]
    while roads or calls:
        source = chance.choice([one for one in (roads, calls) if one])
        arrivals += [source.pop(0) for _ in range(min(chance.choice((1, 1, 2, 4)), len(source)))]
    return ClockCase(tuple(_query(chance) for _ in range(5)), tuple(arrivals))


# -- what arrives ---------------------------------------------------------------------------------


def _instant(hour: int, chance: Random, exact: bool = False) -> str:
    """An hour, or half a second after it; a date where it is midnight.

    Whether it has a time zone depends on the hour, so that equal instants are shown alike.
    """
    day, clock = divmod(hour, 24)
    date = ("2020-02-28", "2020-02-29", "2020-03-01", "2020-03-02", "2020-03-03")[day]
    if exact:
        return f"{date}T{clock:02}:00:00"
    if hour % 7 == 3:
        return f"{date}T{clock:02}:00:00Z"
    if hour % 7 == 5 and clock < 22:
        return f"{date}T{clock + 2:02}:00:00+02:00"
    if not clock and chance.random() < 0.5:
        return date
    return f"{date}T{clock:02}:00:00{chance.choice(('', '', '', '.000', '.5'))}"


def _hour(chance: Random) -> int:
    return chance.choice((chance.randint(0, HOURS - 1), 24 * chance.randint(0, 3), 30, 31))


def _times(kind: str, chance: Random) -> str:
    """The attributes that say when."""
    begin = _hour(chance)
    found = f'validTime="{_instant(begin, chance)}"'
    if chance.random() < 0.25:
        found += f' messageTime="{_instant(_hour(chance), chance)}"'
    if kind in "temporal" and chance.random() < 0.3:
        end = min(begin + chance.choice((0, 1, 6, 30)), HOURS + 20)
        found += f' validTo="{_instant(end, chance)}"'
        found += ' temporary="true"' if chance.random() < 0.3 else ""
    if chance.random() < 0.1:
        found += f' version="{chance.randint(1, 3)}"'
    return found


def _sent(
    unit: str, tag: int, above: str, content: list[str], chance: Random, kind: str = "temporal"
) -> list[str]:
    """The fragments of a unit; all but the first may remove it."""
    head = f'id="{unit}" tsid="{tag}"' + (f' in="{above}"' if above else "")
    found = []
    for turn in range(chance.choice((1, 1, 2, 3))):
        times = _times(kind, chance)
        if turn and chance.random() < 0.3:
            found.append(f"<stream:remove {head} {times}/>")
        else:
            word = chance.choice(("filler", "filler", "filler", "replace", "repeat"))
            text = chance.choice(content)
            found.append(f"<stream:{word} {head} {times}>{text}</stream:{word}>")
    return found


def _roads(chance: Random) -> list[str]:
    lines: list[str] = []
    holes: list[str] = []
    for number in range(chance.randint(1, 3)):
        unit, attached = f"k{number}", chance.random() < 0.5
        inside = f'<stream:hole id="l{number}" tsid="5"/>' * chance.choice((0, 1))
        content = [
            f'<closure k="{chance.choice(KEYS)}" n="{chance.randint(1, 4)}">'
            f"<road>{chance.choice(KEYS)}</road><until>{_until(chance)}</until>{one}</closure>"
            for one in (inside, inside, inside, "")
        ]
        lines += _sent(unit, 2, "0" if attached else "", content, chance)
        holes += [] if attached else [f'<stream:hole id="{unit}" tsid="2"/>']
        above = "" if inside else unit
        lines += _sent(f"l{number}", 5, above, [f"<level>{n}</level>" for n in (1, 2, 3)], chance)
        if chance.random() < 0.5:
            lines += _sent(f"e{number}", 6, unit, ["<note>x</note>", "<note/>"], chance, "event")
    if chance.random() < 0.4:
        level = '<stream:hole id="m" tsid="5"/>'
        lines += _sent("n", 7, "0", [f"<notice>{level}</notice>", "<notice/>"], chance, "snapshot")
        lines += _sent("m", 5, "", ["<level>7</level>", "<level>8</level>"], chance)
    kept = [hole for hole in holes if chance.random() < 0.9]
    for roots in chance.choice(((holes,), (holes, kept), (kept, holes))):
        first = _instant(chance.choice((0, 0, 26)), chance)
        root = f'<stream:filler id="0" tsid="1" validTime="{first}">'
        lines.append(f"{root}<roads>{''.join(roots)}</roads></stream:filler>")
    return lines


def _until(chance: Random) -> str:
    return _instant(_hour(chance), chance, exact=True)


def _calls(chance: Random) -> list[str]:
    lines = ['<stream:filler id="0" tsid="1" validTime="2020-02-28"><calls/></stream:filler>']
    for number in range(chance.randint(0, 4)):
        content = [f'<call n="{number}"><road>{chance.choice(KEYS)}</road></call>']
        lines += _sent(f"p{number}", 2, "0", content, chance, "event")[:1]
        if chance.random() < 0.7:
            states = ["<state>open</state>", "<state>done</state>"]
            lines += _sent(f"q{number}", 4, f"p{number}", states, chance)
    return lines


def _mixed(lines: list[str], chance: Random) -> list[str]:
    """In an order of arrival, some twice, heartbeats between them."""
    lines = list(lines)
    if chance.random() < 0.5:
        chance.shuffle(lines)
    else:
        lines.sort(key=lambda line: line[line.index('validTime="') :][11:24])
    for _ in range(chance.choice((0, 1, 1, 2))):
        beat = _instant(_hour(chance), chance, exact=True)[:-5] + "30:00"
        beat = f'<stream:heartbeat validTime="{beat}"/>'
        lines.insert(chance.randint(0, len(lines)), beat)
    if chance.random() < 0.2:
        lines.insert(chance.randint(0, len(lines)), chance.choice(lines))
    return lines


# -- queries --------------------------------------------------------------------------------------


def _query(chance: Random) -> str:
    return _Query(chance).query()


@dataclass(slots=True)
class _Query:
    """Draws the parts of a query."""

    chance: Random

    def pick(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def at(self, *variables: str, exact: bool = False) -> str:
        """An instant; durations have years, months, days and hours. Exact: never a date."""
        said = _instant(_hour(self.chance), self.chance, exact)
        found = [said, said, "now", "now", *(f"vtFrom({v})" for v in variables)]
        found += [f"vtTo({v})" for v in variables]
        found += [f"xs:dateTime({v}/until)" for v in variables if v == "$x"]
        instant = self.pick(*found)
        if self.chance.random() < 0.35 and instant != "2020-02-28":
            length = self.pick("PT1H", "PT6H", "P1D", "P1DT2H", "P1M", "P1M1DT3H", "PT90M")
            return f"{instant} {self.pick('+', '-')} {length}"
        return instant

    def cut(self, *variables: str) -> str:
        """A projection, in time or by versions, or one of another."""
        first = self.pick(
            f"?[{self.at(*variables)}]",
            "?[now]",
            f"?[{self.at(*variables)}, {self.at(*variables)}]",
            f"?[start, {self.at(*variables)}]",
            f"?[{self.at(*variables)}, now]",
            self.pick("#[1]", "#[2]", "#[last]", "#[last - 1]", "#[1, 2]", "#[2, last]"),
        )
        return first + self.cut(*variables) if self.chance.random() < 0.15 else first

    def maybe(self, *variables: str) -> str:
        return self.pick("", self.cut(*variables))

    def roads(self) -> str:
        outer = self.pick('stream("r")//closure', 'stream("r")/roads/closure')
        return outer + self.maybe()

    def some(self) -> str:
        path = self.pick(
            'stream("r")//level', 'stream("c")//call', 'stream("c")//state', 'stream("r")//note',
            'stream("r")//notice', 'stream("r")/roads/*', 'stream("r")//closure',
        )  # fmt: skip
        return path + self.maybe()

    def inner(self) -> str:
        step = self.pick("$x/level", "$x//level", "$x/note", "$x/*", "$x/road")
        return step + self.maybe("$x")

    def test(self) -> str:
        """A truth about $x, often one that the clock changes."""
        order, allen = self.pick("<", "<=", ">", ">=", "="), self.pick(*_ALLEN)
        return self.pick(
            f"xs:dateTime($x/until) {order} {self.at(exact=True)}",
            f"$x/until {order} now",
            f"vtTo($x) {order} {self.at()}",
            f"vtFrom($x) {order} {self.at()}",
            f"now - vtFrom($x) {order} {self.pick('PT6H', 'P1D', 'P1DT2H')}",
            f"vtFrom($x) + {self.pick('PT6H', 'P1D', 'P1M')} {order} current-dateTime()",
            f"exists({self.inner()})",
            f"empty({self.inner()})",
            f"not({self.inner()} = '2')",
            f"{self.inner()} = '{self.pick('1', '2')}'",
            f"$x {allen} [{self.at()}, {self.at()}]",
            f"exists({self.some()}[. {allen} $x])",
            f"(some $y in {self.inner()} satisfies vtTo($y) = now)",
            f"(every $y in {self.inner()} satisfies vtFrom($y) {order} {self.at('$y')})",
            f"count({self.inner()}) {order} 1",
            "$x is $x",
        )

    def query(self) -> str:
        roads, some, inner, test = self.roads(), self.some(), self.inner(), self.test()
        call = 'stream("c")//call' + self.maybe()
        kind, size = self.pick("tumbling", "sliding"), self.pick("1", "2")
        when = self.pick("", f"where {test} ", f"where {test} ", f"where {test} and {self.test()} ")
        return self.pick(
            some,
            f"{some}/..",
            f"count({some})",
            f"{some} ! (vtFrom(.), vtTo(.))",
            f"for $x in {roads} {when}return $x",
            f"for $x in {roads} {when}return <p>{{ string($x/@k), {inner} }}</p>",
            f"for $x in {roads} {when}return $x{self.cut('$x')}/@n",
            f"for $x in {roads} {when}return <v>{{ vtFrom($x), vtTo($x), {inner} ! vtTo(.) }}</v>",
            f"for $x in {roads} {when}return now - vtFrom($x)",
            f"for $x in {roads}, $y in {call} where $x/road = $y/road {self.joined()}"
            "return <j>{ $x/@k, string($y/@n) }</j>",
            f"for $y in {call} return <j>{{ $y/@n, "
            f"{roads}[road = $y/road]?[vtFrom($y)]/@n ! string() }}</j>",
            f"for $y in {call}, $x in {roads}?[vtFrom($y) - PT6H, vtTo($y) + PT6H] "
            f"{when}return <j>{{ $y/@n, $x/@n ! string() }}</j>",
            f"for $x in {roads} {when}group by $k := string($x/@k) order by $k "
            f"return <g k='{{ $k }}'>{{ count($x), count({inner}) }}</g>",
            f"for $x in {roads} {when}order by vtFrom($x) descending, $x/@n return $x/@n",
            f"(for $x in {roads} {when}order by vtTo($x), $x/@n return $x/@n)[position() <= 2]",
            f"sum(for $x in {roads} {when}return $x/@n ! number(.))",
            f"max(for $x in {some} return vtFrom($x))",
            f"for {kind} window $w in {some} start $s at $i when true() "
            f"end $e at $j when $j - $i eq {size} return <w>{{ count($w), vtFrom($s) }}</w>",
            f"for {kind} window $w in {roads} start $s when true() end $e next $n "
            "when vtFrom($n) - vtFrom($s) > PT6H return <w>{ $w/@n ! string() }</w>",
            f"forseq $w in {roads} sliding window start curItem $s, position $i when true() "
            f"force end curItem $e, position $j when $j - $i eq {size} "
            "return <w>{ $w/@n ! string(), count($w) }</w>",
            f"for $x in {roads} {when}return <w>{{ for {kind} window $w in {inner} start $s "
            "when true() only end $e when vtTo($e) = now return <i>{ count($w) }</i> }</w>",
            f"every $x in {roads} satisfies {test}",
            f"some $x in {roads} satisfies {test}",
            f"if (exists({some})) then {self.some()} else <none>{{ now - PT1H }}</none>",
            f"let $x := {roads} return (count($x), {inner}, $x{self.cut()})",
            f"distinct-values({some} ! string(.))",
            f"for $x in {roads} {when}return count({self.some()}[. {self.pick(*_ALLEN)} $x])",
            # Saxon is a day off in spans that begin 200,000 years ago, where what always was begins
            "for $x in " + some + " where vtFrom($x) > 2000-01-01 "
            "return <now>{ current-dateTime() - vtFrom($x) }</now>",
            f"for $x in {roads} let $l := ({inner})[last()] where vtFrom($l) <= {self.at()} "
            "return <l>{ string($x/@k), $l }</l>",
        )

    def joined(self) -> str:
        return self.pick(
            "", "and vtFrom($y) >= vtFrom($x) ", "and $y during $x ", "and vtTo($x) = now ",
            f"and vtFrom($y) > {self.at()} ", "and $x/until > now ",
            "and $y/state?[now] = 'open' ",
        )  # fmt: skip


_ALLEN: Final = (
    "before", "after", "meets", "overlaps", "during", "contains", "starts", "finishes", "equals",
)  # fmt: skip
