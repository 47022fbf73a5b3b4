"""Shipped mappings with messages that say less, or say it in another order, than the examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from xstreamcast.edges.mapping.finding import named_mapping, shipped
from xstreamcast.edges.mapping.structure import expected_structure
from xstreamcast.model.change import Accumulated


def told(mapping: str, folder: Path, messages: list[str], query: str, **options: Any) -> list[str]:
    """The answer, once and left running."""
    folder.mkdir(exist_ok=True)
    for number, one in enumerate(messages):
        (folder / f"{number}.xml").write_text(one)
    source = Path(f"{mapping}:{folder}")
    refused: list[Any] = []
    found = list(xsc.query(query).run(s=source, keep=refused.append, **options).lines())
    assert refused == []
    if not options:
        accumulated = Accumulated()
        for change in xsc.query(query).watch(s=source):
            accumulated.apply(change)
        assert accumulated.items() == found
    return found


def situation(hour: int, more: str, text: str) -> str:
    """A situation that was made at 7:50, as a message at some hour tells it."""
    return (
        '<Siri xmlns="http://www.siri.org.uk/siri"><ServiceDelivery>'
        f"<ResponseTimestamp>2024-05-01T{hour:02}:00:00Z</ResponseTimestamp>"
        "<SituationExchangeDelivery><Situations><PtSituationElement>"
        "<CreationTime>2024-05-01T07:50:00Z</CreationTime><ParticipantRef>P</ParticipantRef>"
        f"<SituationNumber>1</SituationNumber>{more}<Summary>{text}</Summary>"
        "</PtSituationElement></Situations></SituationExchangeDelivery></ServiceDelivery></Siri>"
    )


VERSIONS = (
    'for $x in stream("s")//*:{0} return concat($x/*:{1}, " ", hours-from-dateTime($x/@vtFrom), '
    '" ", if ($x/@vtTo = "now") then "now" else hours-from-dateTime($x/@vtTo))'
)


@pytest.mark.parametrize("number", ["<Version>2</Version>", "<Version>two</Version>"])
def test_a_situation_that_does_not_say_when_it_was_corrected(number: str, tmp_path: Path) -> None:
    corrected = "<Progress>closed</Progress>"
    messages = [situation(8, "", "first"), situation(10, corrected, "")]
    if "2" in number:
        messages.insert(1, situation(9, number, "second"))
    query = VERSIONS.format("PtSituationElement", "Summary")
    expected = ["first 7 9", "second 9 10"] if "2" in number else ["first 7 10"]
    assert told("siri-sx", tmp_path / "feed", messages, query) == expected


def record(hour: int, version: int, text: str) -> str:
    return (
        '<d2LogicalModel xmlns="http://datex2.eu/schema/2/2_0"><payloadPublication>'
        f"<publicationTime>2024-05-01T{hour:02}:00:00Z</publicationTime><situation id='S'>"
        f"<situationRecord id='R' version='{version}'><situationRecordCreationTime>"
        f"2024-05-01T07:00:00Z</situationRecordCreationTime><comment>{text}</comment>"
        "</situationRecord></situation></payloadPublication></d2LogicalModel>"
    )


def test_a_record_that_does_not_say_when_it_was_corrected(tmp_path: Path) -> None:
    messages = [record(8, 1, "accident"), record(9, 2, "lane")]
    query = VERSIONS.format("situationRecord", "comment")
    assert told("datex2-v2", tmp_path / "feed", messages, query) == ["accident 7 9", "lane 9 now"]


def test_revisions_in_any_order(tmp_path: Path) -> None:
    revisions = "".join(
        f"<revision><id>{n}</id><timestamp>2024-01-01T0{n}:00:00Z</timestamp><text>{n}</text>"
        "</revision>"
        for n in (3, 1, 2)
    )
    page = f"<page><title>P</title><id>7</id>{revisions}</page>"
    export = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">{page}</mediawiki>'
    query = VERSIONS.format("revision", "text")
    assert told("mediawiki", tmp_path / "feed", [export], query) == ["1 1 2", "2 2 3", "3 3 now"]


def test_dates_as_feeds_write_them(tmp_path: Path) -> None:
    items = "".join(
        f"<item><guid>{n}</guid><pubDate>{date}</pubDate></item>"
        for n, date in enumerate(
            [
                "Wed, 01 May 2024 07:00 GMT",
                "1 May 24 02:00:00 EST",
                "Wed, 01 May 2024 09:00:00 +0200",
            ]
        )
    )
    query = 'distinct-values(stream("s")//item/@vtFrom)'
    feed = f'<rss version="2.0"><channel>{items}</channel></rss>'
    assert told("rss", tmp_path / "feed", [feed], query) == ["2024-05-01T07:00:00Z"]


def test_a_mapping_tells_the_structure_of_its_feed_if_its_paths_end_with_names() -> None:
    siri = expected_structure(named_mapping("siri-sx"))
    assert siri is not None
    names = {(tag.uri, tag.local) for tag in siri.tags.values()}
    assert ("http://www.siri.org.uk/siri", "PtSituationElement") in names
    nested = [one for one in shipped() if any(u.within for u in named_mapping(one).units)]
    assert [expected_structure(named_mapping(one)) for one in nested] == [None] * len(nested)
