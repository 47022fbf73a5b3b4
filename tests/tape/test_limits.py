"""What is made to harm is refused, quickly, each kind with its own code."""

from __future__ import annotations

import time

import pytest

from xstreamcast.errors import InputError
from xstreamcast.tape import Limits, Reader, read


def in_chunks(xml: bytes, size: int, limits: Limits | None) -> None:
    reader = Reader(limits=limits)
    for at in range(0, len(xml), size):
        reader.feed(xml[at : at + size])
    reader.close()


def refused(xml: bytes, limits: Limits | None = None) -> str:
    """The code with which an input is refused, whole and in chunks alike, without long work."""
    began = time.process_time()
    codes = set()
    for chunk in (len(xml), 1000):
        with pytest.raises(InputError) as found:
            in_chunks(xml, chunk, limits)
        codes.add(found.value.code)
    with pytest.raises(InputError) as found:
        read(xml, limits=limits)
    codes.add(found.value.code)
    assert time.process_time() - began < 60
    assert len(codes) == 1
    return codes.pop()


def test_a_depth_bomb():
    assert refused(b"<a>" * 100_000) == "XSCX0101"
    assert refused(b"<a>" * 11 + b"</a>" * 11, Limits(max_depth=10)) == "XSCX0101"
    deep = read(b"<a>" * 5000 + b"</a>" * 5000, limits=Limits(max_depth=5000))
    assert len(deep) == 5001
    assert len(read(b"<a>" * 10 + b"</a>" * 10, limits=Limits(max_depth=10))) == 11


def test_a_long_name():
    assert refused(b"<" + b"n" * 1_000_000 + b"/>") == "XSCX0102"
    assert refused(b"<a " + b"n" * 100_000 + b"=''/>") == "XSCX0102"
    assert refused(b"<a><?" + b"n" * 100_000 + b" d?></a>") == "XSCX0102"
    assert refused(b"<abcdef/>", Limits(max_name_length=5)) == "XSCX0102"
    assert len(read(b"<abcde/>", limits=Limits(max_name_length=5))) == 2


def test_many_attributes():
    many = b"".join(b" a%d='%d'" % (i, i) for i in range(20_000))
    assert refused(b"<a" + many + b"/>") == "XSCX0103"
    assert len(read(b"<a" + many + b"/>", limits=Limits(max_attributes=20_000))) == 20_002
    assert refused(b"<a b='' c=''/>", Limits(max_attributes=1)) == "XSCX0103"


def test_a_large_document():
    assert refused(b"<a>" + b"x" * 1000 + b"</a>", Limits(max_document_size=1000)) == "XSCX0105"
    assert len(read(b"<a>x</a>", limits=Limits(max_document_size=8))) == 3


def test_a_large_attribute_is_read_in_linear_time():
    value = b"v" * 3_000_000
    reader = Reader()
    for at in range(0, len(value), 1000):
        reader.feed((b"<a b='" if at == 0 else b"") + value[at : at + 1000])
    reader.feed(b"'/>")
    tape = reader.close()
    assert tape is not None
    assert int(tape.columns.length[2]) == len(value)


def test_a_billion_laughs():
    entities = b"<!ENTITY e0 'ha'>" + b"".join(
        b"<!ENTITY e%d '%s'>" % (i, b"&e%d;" % (i - 1) * 10) for i in range(1, 10)
    )
    assert refused(b"<!DOCTYPE a [" + entities + b"]><a>&e9;</a>") == "XSCX0104"


def test_a_quadratic_blowup():
    entity = b"<!ENTITY e '" + b"x" * 50_000 + b"'>"
    assert refused(b"<!DOCTYPE a [" + entity + b"]><a>" + b"&e;" * 5000 + b"</a>") == "XSCX0104"


def test_an_entity_within_itself():
    assert refused(b"<!DOCTYPE a [<!ENTITY e '&f;'><!ENTITY f '&e;'>]><a>&e;</a>") == "XSCX0104"


def test_external_entities_are_never_fetched(tmp_path, shared):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    xml = b"<!DOCTYPE a [<!ENTITY e SYSTEM '%s'>]><a>&e;</a>" % secret.as_uri().encode()
    assert refused(xml) == "XSCX0006"
    assert (
        refused((shared / "data" / "feeds" / "cap-alerts" / "xee.cap").read_bytes()) == "XSCX0006"
    )


def test_many_names_that_begin_alike_do_not_make_it_slow():
    names = b"".join(b"<sixteen_letters_%d/>" % i for i in range(50_000))
    began = time.process_time()
    assert len(read(b"<a>" + names + b"</a>")) == 50_002
    assert time.process_time() - began < 20
