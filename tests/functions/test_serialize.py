"""fn:serialize: what SaxonC-HE writes with other white space, and what it cannot be asked."""

from __future__ import annotations

import pytest

from tests.functions.both import ours


def serialized(value: str, **settings: str) -> str:
    """The string, or !CODE."""
    children = "".join(
        f"<output:{name.replace('_', '-')} value='{setting}'/>"
        for name, setting in settings.items()
    )
    wrapped = f"<output:serialization-parameters>{children}</output:serialization-parameters>"
    shown = ours(f"serialize({value}, {wrapped})")
    return shown if isinstance(shown, str) else shown[0][1]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"doctype_system": "a.dtd"}, '<!DOCTYPE a SYSTEM "a.dtd"><a/>'),
        (
            {"doctype_public": "-//X//Y", "doctype_system": "a.dtd"},
            '<!DOCTYPE a PUBLIC "-//X//Y" "a.dtd"><a/>',
        ),
        ({"doctype_public": "-//X//Y"}, "<a/>"),
        (
            {"omit_xml_declaration": "no", "version": "1.1", "standalone": "no"},
            '<?xml version="1.1" encoding="UTF-8" standalone="no"?><a/>',
        ),
        ({"standalone": "omit", "indent": "yes"}, "<a/>"),
        ({"undeclare_prefixes": "yes"}, "!SEPM0010"),
        ({"method": "json"}, '"<a\\/>"'),
        ({"method": "yaml"}, "!SEPM0017"),
        ({"doctype_public": "^"}, "!SEPM0017"),
        ({"cdata_section_elements": "a"}, "<a/>"),
    ],
)
def test_parameters_shape_the_string(settings: dict[str, str], expected: str) -> None:
    assert serialized("<a/>", **settings) == expected


def test_a_document_type_is_for_one_element() -> None:
    assert serialized("(<a/>, 'text')", doctype_system="a.dtd") == "!SEPM0004"
    commented = "document { comment { 'c' }, <a/> }"
    assert serialized(commented, doctype_system="a.dtd").endswith("<!--c--><a/>")


def test_the_string_is_normalised_on_request() -> None:
    assert serialized("'e&#x301;'", normalization_form="NFC") == "\u00e9"
    assert serialized("'e&#x301;'") == "e\u0301"


ODD = (
    '<!--before--><r xmlns="urn:u" xmlns:q="urn:v" q:z="&#9;&lt;" b="2" a="&quot;"><q:e/>'
    "x &amp; y &gt; z<empty></empty><n xmlns=''/><?pi  data?></r><?after?>"
)


def test_canonical_xml_is_that_of_libxml2() -> None:
    from lxml import etree

    from xstreamcast import query

    made = query("/").run(ODD.encode()).serialize(method="xsc:canonical")
    parsed = etree.fromstring(ODD).getroottree()
    assert made == etree.tostring(parsed, method="c14n", with_comments=True).decode()


@pytest.mark.parametrize(
    ("value", "method", "expected"),
    [
        ("(1, 'a\"b', 1e0, true())", "adaptive", '1\n"a""b"\n1.0e0\ntrue()'),
        ("map { 'a': (1, 2) }", "adaptive", 'map{"a":(1,2)}'),
        ("map { 'a': (1, 2) }", "json", "!SERE0023"),
        ("map { 1: 2, '1': 3 }", "json", "!SERE0022"),
        ("(1, 2)", "json", "!SERE0023"),
        ("xs:double('NaN')", "json", "!SERE0020"),
        ("abs#1", "json", "!SERE0021"),
        ("abs#1", "xml", "!SENR0001"),
        ("[1, [2, <a>3</a>]]", "xml", "1 2<a>3</a>"),
        ("<br/>", "html", "<br>"),
        ("<p/>", "html", "<p></p>"),
        ("<script>a &lt; b</script>", "html", "<script>a < b</script>"),
        ("<input checked='checked'/>", "html", "<input checked>"),
    ],
)
def test_methods(value: str, method: str, expected: str) -> None:
    assert serialized(value, method=method) == expected
