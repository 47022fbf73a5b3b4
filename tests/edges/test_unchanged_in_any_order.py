"""Units that do not say when they begin, and are sent again: in whatever order messages come."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xstreamcast as xsc
from xstreamcast.edges.mapping import decoder
from xstreamcast.edges.mapping.unchanged import Said, what_it_changes
from xstreamcast.model.change import Accumulated
from xstreamcast.model.fragment import TEMPORARY
from xstreamcast.model.instant import NOW
from xstreamcast.tape.fragments.chain_kernels import Arrived, chained


def feed(hour: int, *titles: str) -> str:
    items = "".join(f"<item><link>{t[0]}</link><title>{t}</title></item>" for t in titles)
    built = f"<lastBuildDate>Wed, 01 May 2024 {hour:02}:00:00 GMT</lastBuildDate>"
    return f'<rss version="2.0"><channel>{built}{items}</channel></rss>'


VERSIONS = (
    'for $x in stream("s")//item return string-join(($x/title, '
    '($x/@vtFrom, $x/@vtTo) ! (if (. = "now") then "now" else substring(., 12, 2))), " ")'
)


@pytest.mark.parametrize("most", [1, 1000])
def test_items_without_dates(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder, "MOST", most)
    messages = [feed(8, "a1"), feed(9, "a2", "b"), feed(10, "a2", "b"), feed(11, "a1", "b")]
    for number, order in enumerate(itertools.permutations(messages)):
        folder = tmp_path / str(number)
        folder.mkdir()
        for k, one in enumerate(order):
            (folder / f"{k}.xml").write_text(one)
        source, accumulated = Path(f"rss:{folder}"), Accumulated()
        found = list(xsc.query(VERSIONS).run(s=source).lines())
        assert found == ["a1 08 09", "a2 09 11", "a1 11 now", "b 09 now"]
        for change in xsc.query(VERSIONS).watch(s=source):
            accumulated.apply(change)
        assert accumulated.items() == found


def test_a_removal_that_comes_after_what_it_did_not_remove(tmp_path: Path) -> None:
    def product(hour: int, kind: str) -> str:
        return (
            f"<ONIXMessage><Header><SentDateTime>20240501T{hour:02}0000Z</SentDateTime></Header>"
            f"<Product><RecordReference>r</RecordReference><NotificationType>{kind}"
            "</NotificationType></Product></ONIXMessage>"
        )

    messages = [product(8, "03"), product(9, "05"), product(10, "03"), product(11, "03")]
    query = 'stream("s")//Product ! concat(hours-from-dateTime(@vtFrom), " ", @vtTo)'
    for number, order in enumerate(itertools.permutations(messages)):
        folder = tmp_path / str(number)
        folder.mkdir()
        for k, one in enumerate(order):
            (folder / f"{k}.xml").write_text(one)
        found = list(xsc.query(query).run(s=Path(f"onix:{folder}")).lines())
        assert found == ["8 2024-05-01T09:00:00Z", "10 now"]


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=7), st.data())
def test_the_content_at_each_instant_is_the_last_that_was_said(
    contents: list[str], data: st.DataObject
) -> None:
    known, rows = list[Said](), list[tuple[int, int, int, int]]()
    for at, content in data.draw(st.permutations(list(enumerate(contents)))):
        effect = what_it_changes(known, at, content.encode())
        if effect.news:
            rows.append((at, TEMPORARY * (effect.until != NOW), effect.until, ord(content)))
        if effect.instead is not None:
            rows.append((effect.instead[0], TEMPORARY, effect.instead[1], -1))
    valid, flags, to, content = np.array(rows, np.int64).T
    none = np.zeros(len(rows), np.int64)
    arrived = Arrived(none.astype(np.int32), valid, flags.astype(np.uint8), to, none)
    chain = chained(arrived, 1, 1000, 1000)
    versions = list(zip(content[chain.place], chain.begin, chain.end, strict=True))
    found = [chr(c) for at in range(len(contents)) for c, a, b in versions if a <= at < b]
    assert found == contents


@pytest.mark.parametrize("most", [1, 1000])
def test_a_unit_that_a_message_has_twice(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder, "MOST", most)
    messages = [feed(8, "a1", "a2"), feed(9, "a1", "a2"), feed(10, "a3", "a1")]
    for number, order in enumerate(itertools.permutations(messages)):
        folder = tmp_path / str(number)
        folder.mkdir()
        for k, one in enumerate(order):
            (folder / f"{k}.xml").write_text(one)
        source, accumulated = Path(f"rss:{folder}"), Accumulated()
        found = list(xsc.query(VERSIONS).run(s=source).lines())
        assert found == ["a2 08 10", "a1 10 now"]
        for change in xsc.query(VERSIONS).watch(s=source):
            accumulated.apply(change)
        assert accumulated.items() == found
