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
        ({"method": "json"}, "!SEPM0016"),
        ({"doctype_public": "^"}, "!SEPM0016"),
        ({"cdata_section_elements": "a"}, "!XSCS0001"),
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
