"""What a query may read: documents and texts by address, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from xstreamcast.errors import Error, error
from xstreamcast.functions.call import CallContext, FetchedText, StaticContext
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.resources.texts import decoded
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import STRING
from xstreamcast.model.column import Column
from xstreamcast.model.date_time import DateTime
from xstreamcast.tape.store import Store

STORE = Store()
DOCUMENTS = {"http://e/a.xml": STORE.read(b"<a/>")}
TEXTS = {"http://e/t.txt": b"\xef\xbb\xbfa\r\nb\n", "http://e/l.txt": b"\xe9"}


def document(uri: str) -> int:
    if uri not in DOCUMENTS:
        raise error("FODC0002")
    return DOCUMENTS[uri]


def text(uri: str) -> FetchedText:
    if uri not in TEXTS:
        raise error("FOUT1170")
    return FetchedText(TEXTS[uri])


def asked(name: str, *arguments: str) -> list[Any]:
    """A function called for one row of strings."""
    static = StaticContext(base_uri="http://e/q.xq")
    call = CallContext(1, STORE, static, DateTime.of(2024, 1, 1), documents=document, texts=text)
    row = lookup(FN, name, len(arguments))
    assert row is not None
    columns = [Column.from_rows([[argument]], STRING) for argument in arguments]
    found: list[Any] = row.body(call, *columns).items.values.tolist()
    return found


def code(name: str, *arguments: str) -> str:
    with pytest.raises(Error) as caught:
        asked(name, *arguments)
    return caught.value.code


def test_a_document_is_found_as_written_and_made_absolute() -> None:
    assert asked("doc", "http://e/a.xml") == asked("doc", "a.xml") == list(DOCUMENTS.values())
    assert asked("doc-available", "a.xml") == [True]


def test_what_is_not_allowed_is_not_there() -> None:
    assert code("doc", "b.xml") == "FODC0002"
    assert code("doc", ":/") == "FODC0005"
    assert asked("doc-available", "b.xml") == asked("doc-available", ":/") == [False]
    assert code("collection", "c") == "FODC0002"
    assert code("collection", "%zz") == "FODC0004"
    assert code("unparsed-text", "u.txt") == "FOUT1170"
    assert code("unparsed-text", "t.txt#x") == "FOUT1170"
    assert asked("unparsed-text-available", "u.txt") == [False]
    assert asked("environment-variable", "PATH") == []


def test_texts_are_decoded_and_cut_into_lines() -> None:
    assert asked("unparsed-text", "t.txt") == ["a\r\nb\n"]
    assert asked("unparsed-text-lines", "t.txt") == ["a", "b"]
    assert asked("unparsed-text", "l.txt", "iso-8859-1") == ["é"]
    assert code("unparsed-text", "l.txt") == "FOUT1200"
    assert code("unparsed-text", "l.txt", "utf-8") == "FOUT1190"
    assert code("unparsed-text", "l.txt", "no-such") == "FOUT1190"
    assert decoded("a".encode("utf-16"), None, "t") == "a"
    with pytest.raises(Error, match="FOUT1190"):
        decoded(b"\x01", None, "t")


def test_without_a_resolver_nothing_is_there() -> None:
    call = CallContext(1, STORE, StaticContext(), DateTime.of(2024, 1, 1))
    for name, wrong in (("doc", "FODC0002"), ("unparsed-text", "FOUT1170")):
        row = lookup(FN, name, 1)
        assert row is not None
        with pytest.raises(Error, match=wrong):
            row.body(call, Column.from_rows([["x"]], STRING))
