"""Functions that read the context item by themselves, over a document that comes in pieces."""

from __future__ import annotations

import pytest

from xstreamcast import query
from xstreamcast.model.change import Accumulated

DOCUMENT = b'<r xml:lang="en"><a xml:id="a1" n="7">x</a><a>y <b/></a></r>'
QUERIES = [
    'id("a1")/@n/string()', 'idref("a1")', 'element-with-id("a1")/name()', "string()", "data()",
    "root()/r/a", "string-length()", "normalize-space()", "path()", 'lang("en")', "has-children()",
    "name()", "local-name()", "namespace-uri()", "node-name()", "nilled()", "number()",
    "generate-id() eq generate-id(.)",
    "for $a in //a return <s of='{string-length()}'>{$a/string()}</s>",
    "if (has-children()) then //a[string() = 'x'] else 'none'",
    "declare variable $all := string(); (count(//a), $all)",
]  # fmt: skip


@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("size", [len(DOCUMENT), 7])
def test_they_see_the_document_that_run_sees(text, size):
    pieces = [DOCUMENT[at : at + size] for at in range(0, len(DOCUMENT), size)]
    found = Accumulated(query(text).watch(iter(pieces), batch=1)).items()
    assert found == list(query(text).run(DOCUMENT).lines())
