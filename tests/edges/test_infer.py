"""Structures proposed from documents, DTDs and schemas: they fit what they were made from."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from tests.edges.documents import Case, cases
from xstreamcast.edges.cutting import cut
from xstreamcast.edges.infer import Wishes, propose
from xstreamcast.edges.infer.from_documents import graph_of_documents
from xstreamcast.edges.infer.from_dtd import graph_of_dtd
from xstreamcast.edges.infer.from_xsd import graph_of_xsd
from xstreamcast.errors import Error

DOCUMENT = b"""<accounts><account id="1"><owner>J</owner><limit>5</limit>
<transaction date="2003-01-01"><part><part><name/></part></part></transaction>
<transaction date="2003-01-02"/></account><account id="2"><rate from="2003-01-01" to="2004-01-01"/>
<rate from="2004-01-01" to="2005-01-01"/></account></accounts>"""


def proposed(document: bytes = DOCUMENT, **wishes: tuple[str, ...]):
    return propose(graph_of_documents([("d", document)]), Wishes(**wishes))


@given(cases())
def test_a_document_fits_the_structure_proposed_for_it(case: Case) -> None:
    structure = proposed(case.document).structure
    assert list(cut([case.document], structure))


def test_each_tag_has_a_type_and_a_reason() -> None:
    assert proposed(temporal=("account/limit",), filler=("/accounts/account",)).lines() == [
        "accounts: snapshot, because it is the root",
        "account: snapshot in fragments, because given by --filler /accounts/account",
        "owner: snapshot, because nothing shows that it changes",
        "limit: temporal, because given by --temporal account/limit",
        "transaction: event, because it repeats and carries an instant (@date)",
        "part: snapshot, because nothing shows that it changes",
        "name: snapshot, because nothing shows that it changes",
        "rate: temporal, because it repeats and carries a lifespan (@from, @to)",
    ]


def test_tags_of_one_name_are_told_apart_by_their_parents() -> None:
    lines = proposed(b"<r><a><n/></a><b><n/></b></r>").lines()
    assert [line.partition(":")[0] for line in lines] == ["r", "a", "a/n", "b", "b/n"]


def test_a_tag_that_contains_itself_becomes_one() -> None:
    structure = proposed().structure
    (part,) = structure.named("", "part")
    assert part.id in part.children


def test_documents_are_taken_together() -> None:
    graph = graph_of_documents(
        [("1", b"<r><a/></r>"), ("2", b"<r><b/><a/><a x='2003-01-01'/></r>")]
    )
    structure = propose(graph).structure
    assert [tag.local for tag in structure.children(1)] == ["a", "b"]
    with pytest.raises(Error, match="must have the root r; got q"):
        graph_of_documents([("1", b"<r/>"), ("2", b"<q/>")])


def test_a_path_that_leads_nowhere_is_a_mistake() -> None:
    with pytest.raises(Error, match=r"--event must name an element.* got gone/away") as caught:
        proposed(event=("gone/away",))
    assert "there are account, accounts" in (caught.value.hint or "")


def test_an_element_that_the_sample_lacks_is_added() -> None:
    found = proposed(temporal=("account/status", "note")).structure
    (status,), (note,) = found.named("", "status"), found.named("", "note")
    assert (status.type, note.type) == ("temporal", "temporal")
    assert [tag.local for tag in found.parents(status.id)] == ["account"]
    assert [tag.local for tag in found.parents(note.id)] == ["accounts"]


def test_a_text_in_an_element_of_its_name_is_another_tag() -> None:
    found = proposed(b"<r><status><status>open</status></status></r>").structure
    assert len(found.named("", "status")) == 2


@pytest.mark.parametrize(
    ("document", "travels"),
    [
        (b"<r><a><b x='1'/><b x='2'/></a></r>", {"b"}),
        (b"<r><a><b><c/><c/></b></a><a><b><c/></b></a></r>", {"a"}),
        (b"<r><m><x i='1'/></m><m><y i='2'/></m></r>", {"x", "y"}),  # what wrappers hold
        (b"<r><a>1</a><a>2</a></r>", set()),  # texts: not worth a fragment each
        (b"<r><new><n id='1'/></new><old><n id='2'/><n id='3'/></old></r>", {"n"}),
    ],
)
def test_what_repeats_travels_if_nothing_around_it_does(document: bytes, travels: set[str]) -> None:
    found = proposed(document).structure
    assert {t.local for t in found.tags.values() if found.travels(t.id)} == travels | {"r"}


@pytest.mark.parametrize(
    "name",
    [
        "quakeml/usc000p11f_phase-data.xml",
        "osm-augmented-diffs/2360002.osc",
        "xmark/auction.xml",
        "cap-alerts/weather_index.atom",
    ],
)
def test_a_real_feed_is_more_than_one_fragment(name: str) -> None:
    path = Path(__file__).parents[3] / "shared/data/feeds" / name
    if not path.exists():
        pytest.skip("the feeds are not here")
    found = proposed(path.read_bytes()).structure
    assert any(found.travels(tag.id) for tag in found.tags.values() if tag.id != found.root)


DTD = b"""<!ENTITY % parts "part*"><!ELEMENT r (a+, (b|c)*)><!ELEMENT a (%parts;)>
<!ELEMENT part (part*, name)><!ELEMENT name (#PCDATA)><!ELEMENT b (#PCDATA)>
<!ATTLIST b sellDate CDATA #IMPLIED>"""


def test_a_dtd_tells_what_stands_in_what() -> None:
    proposal = propose(graph_of_dtd(DTD, "d.dtd"))
    by_name = {tag.local: tag for tag in proposal.structure.tags.values()}
    assert list(by_name) == ["r", "a", "part", "name", "b", "c"]
    assert by_name["part"].id in by_name["part"].children
    assert by_name["b"].type == "event"
    assert propose(graph_of_dtd(DTD, "d.dtd", "part")).structure[1].local == "part"


@pytest.mark.parametrize(
    ("dtd", "said"),
    [
        (b"<!ELEMENT a (b", "incomplete markup"),
        (b"<!ELEMENT a ANY>", "content of a must be declared; got ANY"),
        (b"<!-- -->", "declares no elements"),
        (b"<!ENTITY % x SYSTEM 'http://x/y'>%x;", "refers to http://x/y, which is not fetched"),
    ],
)
def test_a_dtd_that_cannot_be_read_says_why(dtd: bytes, said: str) -> None:
    with pytest.raises(Error, match=said):
        graph_of_dtd(dtd, "d.dtd")


XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="u" xmlns:u="u"
 elementFormDefault="qualified">{include}
<xs:element name="r"><xs:complexType><xs:sequence>
 <xs:element name="i" type="u:I" maxOccurs="unbounded"/><xs:element ref="u:g"/>
 <xs:group ref="u:G"/></xs:sequence></xs:complexType></xs:element>
<xs:group name="G"><xs:choice><xs:element name="x"/><xs:element name="x" form="unqualified"/>
 </xs:choice></xs:group>
{base}
<xs:complexType name="I"><xs:complexContent><xs:extension base="u:B"><xs:choice>
 <xs:element name="sub" type="u:I" minOccurs="0"/></xs:choice></xs:extension></xs:complexContent>
</xs:complexType><xs:element name="g"/></xs:schema>"""
BASE = """<xs:complexType name="B"><xs:sequence><xs:element name="base" type="xs:string"/>
</xs:sequence><xs:attribute name="at" type="xs:dateTime"/></xs:complexType>"""


def test_a_schema_tells_what_stands_in_what(tmp_path: Path) -> None:
    head = XSD.partition("{include}")[0]
    (tmp_path / "b.xsd").write_text(head + BASE + "</xs:schema>")
    (tmp_path / "one.xsd").write_text(XSD.format(include="", base=BASE))
    included = XSD.format(include='<xs:include schemaLocation="b.xsd"/>', base="")
    (tmp_path / "two.xsd").write_text(included)
    for name in ("one.xsd", "two.xsd"):
        structure = propose(graph_of_xsd(str(tmp_path / name))).structure
        names = [tag.name for tag in structure.children(1)]
        assert names == ["{u}i", "{u}g", "{u}x", "x"]
        (i,) = structure.named("u", "i")
        assert i.type == "event"
        assert [tag.local for tag in structure.children(i.id)] == ["base", "sub"]
        (sub,) = structure.named("u", "sub")
        assert sub.id in sub.children


def test_a_schema_that_lacks_a_type_says_which(tmp_path: Path) -> None:
    (tmp_path / "s.xsd").write_text(XSD.format(include="", base=""))
    with pytest.raises(Error, match="the schema must declare type u:B"):
        graph_of_xsd(str(tmp_path / "s.xsd"))


@pytest.mark.parametrize(
    ("inside", "kind", "why"),
    [
        ("<v at='2024-05-01' version='{0}'/>", "temporal", "carries a version (@version)"),
        ("<v updated='2024-05-01' n='{0}'/>", "temporal", "carries when it changed (@updated)"),
        ("<v at='2024-05-01' n='{0}'/>", "event", "carries an instant (@at)"),
        ("<v><d>Wed, 01 May 2024 09:00:00 GMT</d></v>", "event", "carries an instant (d)"),
    ],
)
def test_instants_and_versions_say_whether_it_changes(inside: str, kind: str, why: str) -> None:
    found = proposed(f"<r>{inside.format(1)}{inside.format(2)}</r>".encode())
    tag = next(one for one in found.structure.tags.values() if one.local == "v")
    assert tag.type == kind
    assert why in found.reasons[tag.id]
