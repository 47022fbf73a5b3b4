"""`explain --stage spark --watch`: the stages of a query, or why it is in one partition."""

from __future__ import annotations

from pathlib import Path

import pytest

from xstreamcast.cli.main import main

STRUCTURE = (
    '<stream:structure xmlns:stream="urn:xstreamcast:stream"><tag id="1" name="r" type="snapshot">'
    '<tag id="2" name="a" type="temporal"/></tag></stream:structure>'
)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ('for $a in stream("s")//a return $a', "puts the items in the order of the answer"),
        ('for $a in stream("s")//a order by $a/@n return $a', "in one place: it sorts all rows"),
        ('count(stream("s")//a)', "in one place: a value is computed from all rows"),
        (
            'for $a in stream("s")//a group by $n := $a/@n return $n',
            "stage 2, partitioned by the keys of the group\n  group by",
        ),
        (
            'for $a in stream("s")//a for $b in stream("t")//a where $a/@n = $b/@n return $a',
            "stage 2, partitioned by the values of the join\n  join eq",
        ),
        (
            'for $a in stream("s")//a return count(stream("t")//a[@n = $a/@n])',
            "stage 3, partitioned by the row that others are nested in\n  nest count",
        ),
        (
            'for $a in stream("s")//a, $b in stream("t")//a where $a/@n < $b/@n return $a',
            "every partition reads all of: map",
        ),
        ('(stream("s")//a)[position() < 3]', "in one place: positions count over all rows"),
        (
            'for $a in stream("s")//a where count(stream("t")//a) > $a/@n return $a',
            'stage 1, partitioned by unit of stream("s"), stream("t")',
        ),
        ('reverse(stream("s")//a/..)', "why: nothing is computed unit by unit"),
        ('for $a in stream("s")//a where count(stream("d")//a) > 1 return $a', "reads documents"),
    ],
)  # fmt: skip
def test_where_a_query_left_running_is_computed(
    asked: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.xml").write_text(STRUCTURE)
    words = ["explain", "--stage", "spark", "--watch"]
    words += [word for name in "st" for word in ("--structure", f"{name}={tmp_path / 's.xml'}")]
    assert main([*words, "-q", asked]) == 0
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("snapshot", "no router: fragments are partitioned by their ids as they are read\n"),
        ("temporal", 'why: fragments are inside the units of stream("s"), and do not name'),
    ],
)
def test_a_router_says_why_it_is_there_and_what_it_keeps(
    inner: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deeper = f'type="temporal"><tag id="3" name="b" type="{inner}"/></tag>'
    (tmp_path / "s.xml").write_text(STRUCTURE.replace('type="temporal"/>', deeper))
    words = ["explain", "--stage", "spark", "--watch", "--structure", f"s={tmp_path / 's.xml'}"]
    assert main([*words, "-q", 'stream("s")//a']) == 0
    assert expected in capsys.readouterr().out
