"""Identifiers and references over streams: what a DTD or the structure declares, and xml:id.

The oracle is SaxonC-HE over the temporal view, written as a document with the same DTD.
"""

from __future__ import annotations

import pytest

import xstreamcast as xsc
from tests.oracle import canonical
from xstreamcast.edges.structures import read_structure, write_structure
from xstreamcast.model.change import Accumulated

saxonche = pytest.importorskip("saxonche")

LISTS = (
    "<!ATTLIST account no ID #IMPLIED>"
    "<!ATTLIST transfer from IDREF #IMPLIED to IDREFS #IMPLIED>"
    "<!ATTLIST branch name ID #IMPLIED>"
)
DTD = f"<!DOCTYPE fragments [{LISTS}]>"
SAID = 'ids="account/@no branch/@name" idrefs="transfer/@from transfer/@to"'
STRUCTURE = """<structure %s><tag id="1" name="bank" type="snapshot">
<tag id="2" name="account" type="temporal"/><tag id="3" name="transfer" type="event"/></tag>
</structure>"""
BODY = [
    """<filler id="0" tsid="1" validTime="2020-01-01"><bank><branch name="west"/>
<hole id="1" tsid="2"/><hole id="2" tsid="2"/><hole id="3" tsid="3"/></bank></filler>""",
    """<filler id="1" tsid="2" validTime="2020-01-01"><account no="a1">one</account></filler>""",
    """<filler id="2" tsid="2" validTime="2020-01-01"><account no="a2" xml:id="x2"/></filler>""",
    """<filler id="3" tsid="3" validTime="2020-01-02"><transfer from="a1" to="a2 a1"/></filler>""",
]
NEXT = '<filler id="1" tsid="2" validTime="2020-01-03"><account no="a1">one b</account></filler>'
FORMS = {
    "a DTD": (DTD, STRUCTURE % ""),
    "the structure": ("", STRUCTURE % SAID),
}


def wire(form: str, *more: str) -> bytes:
    dtd, structure = FORMS[form]
    return f"{dtd}<fragments>{structure}{''.join([*BODY, *more])}</fragments>".encode()


def told(query: str, wire: bytes) -> list[str]:
    """The answer, which is the same left running."""
    found = [canonical(one) for one in xsc.query(query).run(s=wire).lines()]
    kept = Accumulated()
    for change in xsc.query(query).watch(s=wire, batch=1):
        kept.apply(change)
    assert [canonical(one) for one in kept.items()] == found
    return found


def expected(query: str, wire: bytes) -> list[str]:
    """What Saxon says of the view as a document."""
    (view,) = xsc.query('stream("s")/*').run(s=wire).lines()
    processor = saxonche.PySaxonProcessor(license=False)
    asked = processor.new_xquery_processor()
    text = DTD.replace("DOCTYPE fragments", "DOCTYPE bank") + view
    asked.set_parameter("s", processor.parse_xml(xml_text=text))
    plain = query.replace('stream("s")', "$s")
    asked.set_query_content(f"declare variable $s external; {plain}")
    found = asked.run_query_to_value()
    return [canonical(str(found.item_at(i))) for i in range(0 if found is None else found.size)]


QUERIES = (
    'id("a1", stream("s"))',
    'id(("a2", "none", "a1 a2"), stream("s"))',
    'stream("s")/id("x2")/string(@no)',
    'stream("s")//branch/id("west")/name(.)',
    'idref("a1", stream("s")) ! name(.)',
    'idref(("a2", "a3"), stream("s"))/../@from/string()',
    'for $t in stream("s")//transfer return <t>{ $t/id(@to)/string(@no) }</t>',
    'for $a in stream("s")//account return count($a/idref(@no))',
    'element-with-id("a1", stream("s"))/string()',
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("query", QUERIES)
def test_we_answer_as_saxon_does_where_nothing_has_two_versions(query: str, form: str) -> None:
    given = wire(form)
    assert told(query, given) == expected(query, given)


@pytest.mark.parametrize("form", FORMS)
def test_an_identifier_names_all_versions_of_an_element(form: str) -> None:
    given = wire(form, NEXT)
    assert told('id("a1", stream("s"))/string()', given) == ["one", "one b"]
    assert told('id("a1", stream("s"))?[now]/string()', given) == ["one b"]
    query = 'for $t in stream("s")//transfer return $t/id(@from)?[vtFrom($t)]/string()'
    assert told(query, given) == ["one"]


def test_the_structure_keeps_them_when_it_is_written_and_when_it_grows() -> None:
    found = read_structure(STRUCTURE.encode() % SAID.encode())
    assert ("account", "no", "ID") in found.identifiers
    assert read_structure(write_structure(found)) == found
    later = (STRUCTURE % "").replace("</tag>\n", '<tag id="4" name="note" type="event"/></tag>\n')
    assert told('id("a1", stream("s"))/string()', wire("the structure", later)) == ["one"]


@pytest.mark.parametrize("said", ["account", "account/no", "@no", "a/account/@no", "//account/@no"])
def test_an_identifier_is_an_attribute_of_an_element(said: str) -> None:
    with pytest.raises(xsc.Error, match=f"ids must be like account/@no; got {said}"):
        read_structure((STRUCTURE % f'ids="{said}"').encode())
