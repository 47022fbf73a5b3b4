"""Documents one after another, in a folder or in one file; many roots are one document."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.conftest import examples
from xstreamcast.cli.main import main
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated

DOCUMENTS = [
    b'<?xml version="1.0"?>\n<r n="1"><a k="x">1</a><b>5</b><a k="y">2</a></r>',
    b'<r n="2"><a k="x">3</a></r>\n',
    b'<!-- third --><r n="3"><b>7</b><a k="z">4</a><a k="x">5</a></r>',
]
QUERIES = [
    'for $a in doc("d")//a return string($a)',
    'for $a in doc("d")/r/a where $a > 1 return <v>{$a/@k}{$a/text()}</v>',
    'count(doc("d")/r)',
    'count(doc("d")//a)',
    'sum(doc("d")/r/b)',
    'doc("d")/r/@n/string()',
    'for $a in doc("d")//a order by $a descending return string($a)',
    'for $a in doc("d")//a group by $k := $a/@k return concat($k, sum($a))',
    'for $a in doc("d")//a, $b in doc("d")//b where $a < $b return concat($a, $b)',
    'doc("d")/r[2]/a/string()',
    'string-join(doc("d")//a[last()], " ")',
    'doc("d")//a[1]/string()',
    '(doc("d")//a)[4]/string()',
]


def watched(query: str, source: object) -> list[str]:
    told = Accumulated()
    for change in xsc.query(query).watch(d=source):
        told.apply(change)
    return told.items()


@pytest.mark.parametrize("query", QUERIES)
def test_a_folder_is_its_documents_in_turn(query: str, tmp_path: Path) -> None:
    for number, document in enumerate(DOCUMENTS):
        (tmp_path / f"{number}.xml").write_bytes(document)
    once = list(xsc.query(query).run(d=tmp_path).lines())
    assert watched(query, tmp_path) == once


@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=examples(8), deadline=None)
@given(cuts=st.lists(st.integers(0, 200), max_size=6))
def test_documents_in_one_piece_or_many(query: str, cuts: list[int]) -> None:
    whole = b"".join(DOCUMENTS)
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]

    def arriving() -> Iterator[bytes]:
        yield from (whole[a:b] for a, b in pairwise(edges) if b > a)

    assert watched(query, arriving()) == list(xsc.query(query).run(d=whole).lines())


def test_what_follows_a_document_and_is_none_is_an_error() -> None:
    for wrong in (b"<r/>text", b"<r/></r>", b"<r/><q></r>"):
        with pytest.raises(Error):
            watched('count(doc("d")//a)', wrong)


def test_the_command_reads_a_folder(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for number, document in enumerate(DOCUMENTS):
        (tmp_path / f"{number}.xml").write_bytes(document)
    words = ["watch", "-q", "count(//a)", "-i", str(tmp_path), "--format", "lines"]
    assert main(words) == 0
    assert capfd.readouterr().out.splitlines()[-1].endswith("5")
