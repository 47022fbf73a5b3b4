"""The bibliography and the map extract: what refers, and what queries look for."""

import io

from lxml import etree

from bench.generate import write


def parsed(kind, factor):
    sink = io.BytesIO()
    write(kind, factor, 1, sink)
    return etree.fromstring(sink.getvalue())


def test_papers_stand_in_proceedings_that_are_there_under_keys_that_differ():
    dblp = parsed("bibliography", 0.02)
    keys = [record.get("key") for record in dblp]

    assert len(keys) == len(set(keys))
    assert {ref.text for ref in dblp.iter("crossref")} <= set(dblp.xpath("proceedings/@key"))


def test_the_bibliography_has_smiths_of_several_kinds():
    dblp = parsed("bibliography", 0.02)
    papers = dblp.findall("inproceedings")

    assert 0 < len(dblp.xpath("inproceedings[author='John Smith']")) < len(papers) / 100
    assert dblp.xpath("inproceedings[author[contains(., 'Smith')][. != 'John Smith']]")
    assert any(not name.text.isascii() for name in dblp.iter("author"))


def test_ways_and_relations_refer_to_what_the_map_holds():
    osm = parsed("map", 0.02)
    nodes, ways = set(osm.xpath("node/@id")), set(osm.xpath("way/@id"))

    assert len(nodes) == len(osm.findall("node"))
    assert set(osm.xpath("way/nd/@ref")) <= nodes
    assert set(osm.xpath("relation/member[@type='way']/@ref")) <= ways
    assert set(osm.xpath("relation/member[@type='node']/@ref")) <= nodes


def test_the_map_is_nearly_all_attributes_some_of_them_escaped():
    osm = parsed("map", 0.02)
    users = set(osm.xpath("node/@user"))

    assert len(osm.xpath("//@*")) > 4 * len(osm.xpath("//*"))
    assert {"Zoë & Søn", 'the "surveyor"', "a<b"} <= users
