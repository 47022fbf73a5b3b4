"""A feed that changes to the next version of its schema: its units get other names."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import xstreamcast as xsc
from xstreamcast.edges.mapping import decoder
from xstreamcast.model.change import Accumulated


def export(schema: str, title: str, number: int) -> str:
    revision = (
        f"<revision><id>{number}</id><timestamp>2024-05-01T0{number}:00:00Z</timestamp>"
        f"<text>{title}</text></revision>"
    )
    return (
        f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-{schema}/">'
        f"<page><title>{title}</title><id>1</id>{revision}</page></mediawiki>"
    )


@pytest.mark.parametrize("strategy", ["auto", "caq", "qac", "qac+"])
def test_nested_units_of_both_versions_are_seen(
    strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = [export("0.10", "A", 7), export("0.11", "B", 8)]
    monkeypatch.setattr(decoder, "MOST", 1)
    for number, order in enumerate(itertools.permutations(messages)):
        source = tmp_path / str(number)
        source.mkdir()
        for k, one in enumerate(order):
            (source / f"{k}.xml").write_text(one)
        for path in ("//*:revision", "//*:page/*:revision", "/*/*:page/*:revision"):
            query = xsc.query(f'stream("s"){path}/*:text/string()')
            found = query.run(s=Path(f"mediawiki:{source}"), strategy=strategy)
            assert list(found.lines()) == ["A", "B"]
            accumulated = Accumulated()
            for change in query.watch(s=Path(f"mediawiki:{source}")):
                accumulated.apply(change)
            assert accumulated.items() == ["A", "B"]
