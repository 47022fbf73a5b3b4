"""The n-th following sibling of many nodes: as SaxonC-HE finds it, and as the axis gives it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast import query
from xstreamcast.evaluate.nodes import filters, siblings

TREES = st.recursive(
    st.sampled_from(["<a/>", "<b/>", "t", "<!--c-->", "<b x='1'/>", "<?p i?>"]),
    lambda inner: st.lists(inner, max_size=14).map(lambda parts: f"<a>{''.join(parts)}</a>"),
    max_leaves=40,
)
STEPS = st.sampled_from(["b", "*", "node()", "a", "text()", "missing", "element(b)", "comment()"])
FROM = st.sampled_from(["//*", "//node()", "//b", "//*/@x", "//(* | @x)", "/r/node()"])
PLACES = st.sampled_from(["1", "2", "3", "$two", "$none", "0", "-1", "$far", "xs:int(2)"])
PROLOG = (
    "declare variable $two := 2; declare variable $far := 9223372036854775807;"
    "declare variable $none := 40; "
)


@given(st.lists(TREES, max_size=14), STEPS, FROM, PLACES)
def test_siblings_by_place(trees: list[str], test: str, start: str, place: str) -> None:
    pytest.importorskip("saxonche", reason="SaxonC-HE is not installed")
    from tests.evaluate.oracle import ours, theirs

    document = f"<r>{''.join(trees)}</r>"
    for text in (
        f"for $x in {start} return count($x/following-sibling::{test}[{place}]/preceding::*)",
        f"{start}/following-sibling::{test}[{place}] ! name(.)",
    ):
        mine = ours(PROLOG + text, document)
        assert mine == theirs(PROLOG + text, document)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(filters, "nth_sibling", lambda plan, frame: None)
            assert ours(PROLOG + text, document) == mine


def test_many_siblings_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    runs = siblings._runs

    def counted(store: Any, nodes: Any, test: Any) -> Any:
        asked.append(len(nodes))
        return runs(store, nodes, test)

    monkeypatch.setattr(siblings, "_runs", counted)
    document = f"<r>{'<b/>' * 20_000}</r>"
    text = "sum(for $b in /r/b return count($b/following-sibling::b[5]))"
    assert list(query(text).run(document.encode()).lines()) == ["19995"]
    assert asked == [20_000]
