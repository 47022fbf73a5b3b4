"""Snapshots of queries that read each other: started again, all go on from the same tick."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operators.snapshot.test_checkpoint_snapshots import Runs

TEXTS = {
    "one after another": """
        declare stream hot := for $i in stream("roads")//incident?[now] where $i/severity > 2
            return <hot n="{$i/@n}">{$i/severity/text()}</hot>;
        declare stream counted := for $h in stream("hot")/answer/hot group by $s := string($h)
            order by $s return <of s="{$s}">{count($h)}</of>;
        <all>{stream("counted")/answer/of}</all>""",
    "two over one stream": """
        declare stream high := for $i in stream("roads")//incident where $i/severity > 3
            return <high n="{$i/@n}"/>;
        declare stream low := for $i in stream("roads")//incident where $i/severity < 3
            return <low n="{$i/@n}"/>;
        for $h in stream("high")/answer/high, $l in stream("low")/answer/low
        where $h/@n = $l/@n return <both n="{$h/@n}"/>""",
    "joined with an input": """
        declare stream worst := for $i in stream("roads")//incident group by $n := $i/@n
            return <worst n="{$n}" severity="{max($i/severity)}"/>;
        for $s in stream("sites")//site, $w in stream("worst")/answer/worst
        where $s/@n = $w/@n order by $w/@severity, $s/@n return <at>{$s/@n, $w/@severity}</at>""",
    "read once": """
        declare option xsc:once "first";
        declare stream first := for $i in stream("roads")//incident group by $n := $i/@n
            return <first n="{$n}"/>;
        for $f in stream("first")/answer/first
        return <met n="{$f/@n}">{count(stream("sites")//site)}</met>""",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_stopped_after_any_tick_all_go_on(text: str, tmp_path: Path):
    whole = Runs(tmp_path / "whole", text)
    whole.go_on(None)
    assert len(whole.sink) > 4
    for ticks in (2, 6, 11):
        told = Runs(tmp_path / str(ticks), text)
        told.go_on(ticks)
        assert told.snapshots, told.notes
        told.go_on(3)
        told.go_on(None)
        assert told.notes == []
        assert told.sink == whole.sink, ticks
