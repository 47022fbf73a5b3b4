"""explain --stage circuit: what each operator is partitioned by, and until when it keeps rows."""

from __future__ import annotations

from itertools import pairwise

from xstreamcast.api import compiled
from xstreamcast.edges.structures import read_structure
from xstreamcast.operators.relational.explain import explain_circuit

TAGS = read_structure(
    b'<tag id="1" name="r" type="snapshot"><tag id="2" name="o" type="temporal">'
    b'<tag id="3" name="k"/><tag id="4" name="v"/></tag></tag>'
)
JOINED = """for $a in stream("a")//o, $b in stream("b")//o where string($a/k[1]) = string($b/k[1])
group by $v := $b/v return <g>{ $v, count($a) }</g>"""


def facts(query: str, *streams: str) -> dict[str, str]:
    """The facts of each operator, by the first word of its line."""
    text = explain_circuit(compiled(query), dict.fromkeys(streams, TAGS))
    lines = [line.strip() for line in text.splitlines()]
    found: dict[str, str] = {}
    for line, after in pairwise(lines):
        if after.startswith("(key: "):
            found.setdefault(line.split()[1], after)
    return found


def test_units_joins_and_groups_are_partitioned_by_their_keys() -> None:
    found = facts(JOINED, "a", "b")
    assert "partitioned by: the unit;" in found["units"]
    assert "partitioned by: the join key;" in found["join"]
    assert "partitioned by: the group's key;" in found["group"]
    assert "until its rows change or go;" in found["join"]


def test_what_all_rows_make_is_in_one_place() -> None:
    found = facts('sum(stream("a")//o/v ! number(.))', "a")
    assert "partitioned by: nothing;" in found["nest"]
    assert "partitioned by: the unit;" in found["units"]


def test_a_document_is_read_in_one_place_and_its_groups_stay() -> None:
    found = facts("for $o in //o group by $k := $o/k return count($o)")
    assert "partitioned by: nothing;" in found["group"]
    assert "until the query ends;" in found["group"]


def test_the_clock_takes_rows_out() -> None:
    found = facts('count(stream("a")//o?[now - PT1H, now])', "a")
    assert "until its rows change or go, by the clock too;" in found["units"]


def test_rows_of_a_top_n_stay_until_better_ones_come() -> None:
    found = facts("(for $o in //o order by number($o/v) return $o)[position() <= 3]")
    assert "keeps: at most 3 rows, until better rows come;" in found["order"]
