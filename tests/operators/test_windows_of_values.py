"""Windows over values that arrive: a variable declared as xs:int* reads those of elements."""

from __future__ import annotations

import pytest

from xstreamcast.api import compiled, query
from xstreamcast.edges.watching.bound import Input, reading
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.relational.explain import explain_circuit

AVERAGE = """
  declare variable $seq as (xs:int)** external;
  forseq $w in $seq sliding window
    start position $s when fn:true()
    {}end position $e when $e - $s eq 2
  return fn:avg($w)"""
VALUES = ["5", "1", "4", "2", "8", "3"]


def pieces() -> list[bytes]:
    return [b"<r>", *(f"<v>{one}</v>".encode() for one in VALUES), b"</r>"]


@pytest.mark.parametrize("policy", ["optimistic", "strict"])
@pytest.mark.parametrize("force", ["", "force "])
def test_a_moving_average_of_integers(policy, force):
    asked = query(AVERAGE.format(force))
    told = Accumulated(asked.watch(seq=iter(pieces()), policy=policy, batch=1))
    plain = query(
        AVERAGE.format(force)
        .replace("declare variable $seq as (xs:int)** external;", "")
        .replace("$seq", 'stream("seq")/r/v/xs:int(.)')
    )
    expected = list(plain.run(seq=b"".join(pieces())).lines())
    assert told.items() == expected


def test_each_value_is_told_as_it_comes():
    seen = []
    for change in query(AVERAGE.format("force ")).watch(seq=iter(pieces()), batch=1):
        seen.append((change.diff, float(change.item)))
    assert [one for one, _ in seen] == [1] * 4
    assert [round(value, 2) for _, value in seen] == [3.33, 2.33, 4.67, 4.33]


def test_values_are_cut_into_windows_as_they_come():
    program = reading(compiled(AVERAGE.format("")), {"seq": Input("seq")})
    said = explain_circuit(program)
    assert "sliding windows over" in said
    assert "bounded: yes" in said


@pytest.mark.parametrize(
    ("type", "asked", "expected"),
    [
        ("xs:anyAtomicType*", "$v ! (. instance of xs:untypedAtomic)", ["true", "true"]),
        ("xs:decimal+", "sum($v)", ["4"]),
        ("xs:string*", "$v ! concat(., 'x')", ["1x", "3x"]),
        ("xs:date*", "count($v)", None),
        ("xs:integer", "$v", None),
    ],
)
def test_values_are_of_the_declared_type(type, asked, expected):
    made = query(f"declare variable $v as {type} external; {asked}")
    source = iter([b"<r><a>1</a>", b"<a>3</a></r>"])
    if expected is None:
        with pytest.raises(Error):
            list(made.watch(v=source))
    else:
        assert Accumulated(made.watch(v=source)).items() == expected
