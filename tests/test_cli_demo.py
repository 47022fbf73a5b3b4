"""The demo shows what is true: its answers are SaxonC-HE's, its feed is the same everywhere."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from xstreamcast import query
from xstreamcast.cli.demo import QUERIES, SCENES
from xstreamcast.cli.main import main
from xstreamcast.cli.roads import feed


def test_the_feed_is_well_formed_and_the_same_each_time() -> None:
    assert feed(300) == feed(300)
    incidents = ElementTree.fromstring(feed(300)).findall("incident")
    assert len(incidents) == 300
    assert [one.get("at") for one in incidents] == sorted(one.get("at", "") for one in incidents)


def test_versions_of_an_incident_count_up_and_keep_its_place() -> None:
    seen: dict[str | None, list[tuple[int, str | None]]] = {}
    for one in ElementTree.fromstring(feed(300)).findall("incident"):
        seen.setdefault(one.get("id"), []).append(
            (int(one.get("version", "")), one.findtext("road"))
        )
    for told in seen.values():
        assert [version for version, _ in told] == list(range(1, len(told) + 1))
        assert len({road for _, road in told}) == 1


@pytest.mark.parametrize("asked", QUERIES)
def test_the_answers_shown_are_those_of_an_independent_processor(asked: str) -> None:
    from saxonche import PySaxonProcessor

    text = feed(800)
    with PySaxonProcessor() as processor:
        xquery = processor.new_xquery_processor()
        xquery.set_context(xdm_item=processor.parse_xml(xml_text=text.decode()))
        xquery.set_query_content(asked)
        value = xquery.run_query_to_value()
        theirs = [str(value.item_at(at)) for at in range(value.size)]
    assert list(query(asked).run(text).lines()) == theirs


def test_the_demo_plays_every_scene(capsys) -> None:
    assert main(["demo", "--runner", "local", "--messages", "200"]) == 0
    said = capsys.readouterr().out
    for title, _ in SCENES:
        assert f"{title}\n\n  " in said
