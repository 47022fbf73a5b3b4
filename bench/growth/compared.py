"""Readings compared with other readings of the stream: ranks, the reading before, what is near.

There are n readings, 16 of each key. New and corrected ones have values amid the others, but in the
queries that show all ranks, where they are the least.
"""

from bench.growth.entry import Entry, Quiet
from bench.growth.readings import at, sequence
from bench.growth.streams import Streams, Unit, scattered

_AMID = 500_000


def _reading(i: int, version: int, n: int) -> str:
    value = _AMID + scattered(i, 1000) if version else 10 + scattered(i, 1_000_000)
    return _written(i, n, value)


def _least(i: int, version: int, n: int) -> str:
    return _written(i, n, -i if version else 10 + scattered(i, 1_000_000))


def _greatest(i: int, version: int, n: int) -> str:
    return _written(i, n, 2_000_000 + i if version else 10 + scattered(i, 1_000_000))


def _written(i: int, n: int, value: int) -> str:
    return f'<v k="k{i % max(4, n // 16)}" n="{i}" t="{at(20 * i)}">{value}</v>'


READINGS, READING = sequence("v", _reading)
LOW, LEAST = sequence("v", _least)
HIGH, GREATEST = sequence("v", _greatest)
V = 'stream("s")/r/v'
INT = "xs:integer(.)"
TIME = "xs:dateTime(@t)"
MINUTES = "xs:dayTimeDuration('PT2M')"


def _entry(
    name: str, what: str, text: str, streams: Streams = READINGS, unit: Unit = READING,
    quiet: Quiet = "",
) -> Entry:  # fmt: skip
    return Entry(f"compared {name}", what, text, streams, unit, unit, quiet=quiet)


COMPARED = (
    _entry(
        "rank of three", "the three greatest with their ranks, by a condition on the rank",
        f"""for $a in {V} let $rank := count({V}[{INT} > $a/{INT}]) + 1
where $rank <= 3 order by $rank return <r n="{{ $a/@n }}">{{ $rank }}</r>""",
        HIGH, GREATEST,
    ),
    _entry(
        "rank of three ordered", "the same by an order",
        f"""let $u := {V} return (for $a in $u order by number($a) descending
return <r n="{{ $a/@n }}">{{ count($u[number() > number($a)]) + 1 }}</r>)[position() <= 3]""",
        HIGH, GREATEST,
    ),
    _entry(
        "few above", "readings that fewer than three others are above, as a loop",
        f"""for $a in {V}
where count(for $b in {V} where xs:integer($b) > xs:integer($a) return $b) < 3
return $a/@n/data()""",
        HIGH, GREATEST,
    ),
    _entry(
        "rank of all", "the rank of each reading, where the least come and change",
        f"""let $u := {V} for $a in $u
return <r n="{{ $a/@n }}">{{ count($u[{INT} > $a/{INT}]) + 1 }}</r>""",
        LOW, LEAST,
    ),
    _entry(
        "rank of its key", "the greatest reading of each key",
        f"""for $a in {V} where count({V}[@k = $a/@k and {INT} > $a/{INT}]) = 0
return <r n="{{ $a/@n }}" k="{{ $a/@k }}"/>""",
        HIGH, GREATEST, quiet="correction",
    ),
    _entry(
        "moving average", "the mean of the last two minutes, as one predicate",
        f"""for $a in {V} return <m n="{{ $a/@n }}">{{ avg(
  {V}[{TIME} > xs:dateTime($a/@t) - {MINUTES} and {TIME} <= xs:dateTime($a/@t)]/{INT}
) }}</m>""",
    ),
    _entry(
        "moving count and sum", "count and sum of the last two minutes, as two predicates",
        f"""for $a in {V}
let $w := {V}[{TIME} > xs:dateTime($a/@t) - {MINUTES}][{TIME} <= xs:dateTime($a/@t)]
return <m n="{{ $a/@n }}">{{ count($w), sum($w/{INT}) }}</m>""",
    ),
    _entry(
        "moving average of its key", "the mean of its key among the last numbers, as a loop",
        f"""for $a in {V} return <m n="{{ $a/@n }}">{{ avg(for $b in {V} where $b/@k = $a/@k
and xs:integer($b/@n) > xs:integer($a/@n) - 5000 and xs:integer($b/@n) <= xs:integer($a/@n)
return xs:integer($b)) }}</m>""",
    ),
    _entry(
        "repeated", "readings with another of their key within five minutes before",
        f"""for $a in {V} where exists({V}[@k = $a/@k and {TIME} < xs:dateTime($a/@t)
  and {TIME} >= xs:dateTime($a/@t) - xs:dayTimeDuration("PT5M")]) return $a/@n/string()""",
        quiet="both",
    ),
    _entry(
        "pairs within a minute", "readings with each of the minute before",
        f"""for $a in {V}, $b in {V}
where xs:dateTime($b/@t) >= xs:dateTime($a/@t) - xs:dayTimeDuration("PT1M")
  and xs:dateTime($b/@t) < xs:dateTime($a/@t)
return <p>{{ xs:integer($a) - xs:integer($b) }}</p>""",
    ),
    _entry(
        "before of its key", "the difference to the reading of its key before",
        f"""for $a in {V} let $p := {V}[@k = $a/@k and {TIME} < xs:dateTime($a/@t)][last()]
return <d n="{{ $a/@n }}">{{ $a - $p }}</d>""",
    ),
    _entry(
        "before by position", "the difference to the reading before, by its position",
        f"""for $a at $i in {V} return <d n="{{ $a/@n }}">{{ $a - {V}[$i - 1] }}</d>""",
    ),
    _entry(
        "last three by subsequence", "the sum of three in a row",
        f"""let $u := {V} for $a at $i in $u
return <d n="{{ $a/@n }}">{{ sum(subsequence($u, $i - 2, 3)/{INT}) }}</d>""",
    ),
    _entry(
        "last five by position", "the mean of five in a row",
        f"""let $u := {V} for $a at $i in $u
return <d n="{{ $a/@n }}">{{ avg($u[position() > $i - 5 and position() <= $i]/{INT}) }}</d>""",
    ),
)  # fmt: skip
