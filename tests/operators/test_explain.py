"""What explain says of the operators that run: what each keeps, and what grows."""

from __future__ import annotations

from pathlib import Path

import pytest

from xstreamcast.api import compiled
from xstreamcast.cli.main import main
from xstreamcast.operators.relational.explain import explain_circuit
from xstreamcast.operators.watching.explain import unbounded


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("//x[y > 3]", ["units of the context item", "keeps: nothing"]),
        ("count(//x)", ["nest count", "the piece of the document"]),
        ("for $x in //x order by $x/k return $x", ["order by", "the sort keys of all rows"]),
        ("for $x in //x group by $k := $x/k return $k", ["group by"]),
        (
            'for $x in //x where $x/k = stream("b")//y/k return $x',
            ["nest exists", "join eq: child::k", "both sides, hash index"],
        ),
        ("head(//x[k])", ["positions 1 to 1", "the rows that it shows"]),
        ("(//x)[2]/..", ["recompute", "recomputed: the axis parent may leave the unit"]),
        ("//x/preceding::y", ["recomputed: the axis preceding may leave the unit"]),
        ("//text()", ["recomputed: it reads the content of an element around the units"]),
    ],
)
def test_each_operator_is_shown_with_what_it_keeps(query, said):
    told = explain_circuit(compiled(query))
    for one in said:
        assert one in told


def test_what_grows_is_said_beforehand():
    assert unbounded(compiled("//x[y]")) == []
    assert unbounded(compiled("sum(//x), count(//y)")) == []
    assert unbounded(compiled("head(//x)")) == []
    assert "order by" in unbounded(compiled("for $x in //x order by $x return $x"))[0]
    assert "kept completely" in unbounded(compiled("string(/)"))[0]
    (said,) = unbounded(compiled('stream("s")//x'), frozenset({"s"}))
    assert said.startswith('the history of stream("s") is kept, because')
    assert "--immutable PATH bounds" in said


def test_what_is_kept_inside_units_is_said():
    from xstreamcast.edges.structures import read_structure

    structure = read_structure(
        b"""<stream:structure xmlns:stream="urn:xstreamcast:stream"><tag id="1" name="accounts"
        type="snapshot"><tag id="2" name="account" type="temporal"><tag id="3" name="charge"
        type="event"/></tag></tag></stream:structure>"""
    )
    query = "for $a in stream('s')//account let $c := $a/charge return sum($c?[now - PT1H,now])"
    told = explain_circuit(compiled(query), {"s": structure})
    assert "of each fragment inside: sum($c?[now - PT1H,now])" in told
    assert "forgets: nothing, because its structure declares its fragments" in told


def test_explain_takes_the_inputs_that_watch_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    log, mapping = tmp_path / "log.xml", tmp_path / "m.toml"
    log.write_text('<log><e user="a"/></log>')
    mapping.write_text('[unit.u]\npath = "/m/u"\nkey = "@id"\n')
    (tmp_path / "1.xml").write_text('<m><u id="1"/></m>')
    for query, given in {
        'stream("log")/log/e/@user': f"log={log}",
        "/log/e/@user": str(log),
        'stream("s")//u?[now]': f"s={mapping}:{tmp_path / '1.xml'}",
    }.items():
        assert main(["explain", "--stage", "circuit", "-q", query, "-i", given]) == 0
        assert "units of" in capsys.readouterr().out
    assert main(["explain", "--stage", "circuit", "-q", "1", "-i", "s=mqtt://host/topic"]) == 2
    assert "explain reads files" in capsys.readouterr().err


def test_what_is_kept_of_a_stream_that_is_projected():
    (near,) = unbounded(compiled('stream("s")//a?[now]'), frozenset({"s"}))
    assert near.startswith('of stream("s") the versions that its projections select are kept')
    (whole,) = unbounded(compiled('stream("s")//a?[now], stream("s")//a'), frozenset({"s"}))
    assert whole.startswith('the history of stream("s") is kept')
