"""Fragments from bytes: every dialect gives the same columns; a wrong one is refused alone."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.edges.documents import Case, cases
from xstreamcast.edges.cutting import cut
from xstreamcast.edges.table.rows import RowEncoder
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.table.wire import wire as wire_of
from xstreamcast.edges.wire import Decoder
from xstreamcast.edges.wire.encoder import CLOSE, EOS, OPEN, batch_lines, structure_line
from xstreamcast.errors import InputError
from xstreamcast.model.fragment import (
    Arrival,
    Ended,
    FragmentBatch,
    Heartbeat,
    NewStructure,
    Op,
    Refused,
)
from xstreamcast.model.instant import parse_instant, show_instant

TAGS = """<tag id="1" name="accounts" type="snapshot"><tag id="2" name="account" type="temporal">
<tag id="3" name="owner" type="snapshot"/><tag id="4" name="limit" type="temporal"/></tag></tag>"""
STRUCTURE = f"<stream:structure>{TAGS}</stream:structure>"
BODY = (
    '<stream:filler id="0" tsid="1" validTime="2003-01-01"><accounts>'
    '<stream:hole id="7" tsid="2"/></accounts></stream:filler>\n'
    '<stream:filler id="7" tsid="2" validTime="2003-01-02T10:00:00Z"><account><owner>J</owner>'
    '<stream:hole id="8" tsid="4"/></account></stream:filler>\n'
    '<stream:filler id="8" tsid="4" validTime="2003-01-03T12:30:00.25+01:00">'
    "<limit>5</limit></stream:filler>\n"
    '<stream:replace id="8" tsid="4" validTime="2003-01-04"><limit>6</limit></stream:replace>\n'
    '<stream:repeat id="8" tsid="4" validTime="2003-01-04"><limit>6</limit></stream:repeat>\n'
    '<stream:remove id="8" tsid="4" validTime="2003-01-05"/>\n'
)


@dataclass
class Seen:
    """What came out of a decoder."""

    decoder: Decoder
    arrivals: list[Arrival]

    @property
    def fragments(self) -> list[tuple[object, ...]]:
        """(id, tsid, instant, operation, payload as text, holes) of each fragment."""
        return [row for found in self.of(FragmentBatch) for row in rows(found, self.decoder)]

    @property
    def refused(self) -> list[tuple[str, str | None]]:
        return [(refused.code, refused.fragment) for refused in self.of(Refused)]

    def of(self, kind):
        return [arrival for arrival in self.arrivals if isinstance(arrival, kind)]


def rows(batch: FragmentBatch, decoder: Decoder) -> list[tuple[object, ...]]:
    out: list[tuple[object, ...]] = []
    for i in range(len(batch)):
        row = int(batch.payload[i])
        holes = [
            (decoder.ids.text(int(batch.hole_id[k])), int(batch.hole_tsid[k]))
            for k in range(len(batch.hole_id))
            if batch.hole_fragment[k] == i
        ]
        valid = show_instant(int(batch.valid[i]), bool(batch.flags[i] & 1))
        shown = None if row < 0 else (batch.tape[row].name, batch.tape[row].string)
        name = decoder.ids.text(int(batch.id[i]))
        out.append((name, int(batch.tsid[i]), valid, Op(int(batch.op[i])), shown, holes))
    return out


def decoded(wire: str | bytes, size: int = 1 << 20, **options) -> Seen:
    raw = wire.encode() if isinstance(wire, str) else wire
    decoder = Decoder("credit", **options)
    found: list[Arrival] = []
    for at in range(0, len(raw), size):
        found += decoder.feed(raw[at : at + size])
    return Seen(decoder, found + decoder.close())


EXPECTED = [
    ("0", 1, "2003-01-01T00:00:00", Op.FILLER, ("accounts", ""), [("7", 2)]),
    ("7", 2, "2003-01-02T10:00:00Z", Op.FILLER, ("account", "J"), [("8", 4)]),
    ("8", 4, "2003-01-03T11:30:00.25Z", Op.FILLER, ("limit", "5"), []),
    ("8", 4, "2003-01-04T00:00:00", Op.REPLACE, ("limit", "6"), []),
    ("8", 4, "2003-01-04T00:00:00", Op.FILLER, ("limit", "6"), []),
    ("8", 4, "2003-01-05T00:00:00", Op.REMOVE, None, []),
]
PLAIN = (STRUCTURE + BODY).replace("stream:", "")
DIALECTS = {
    "bare, prefix not declared": STRUCTURE + BODY,
    "declared root": f'<stream:fragments xmlns:stream="urn:xstreamcast:stream">{STRUCTURE}{BODY}'
    "</stream:fragments>",
    "root without prefix": f"<?xml version='1.0'?>\n<fragments>{STRUCTURE}{BODY}</fragments>\n",
    "root never closed": f"<stream:fragments>{STRUCTURE}{BODY}",
    "no prefix": PLAIN,
    "no prefix, root": f"<!-- c --><fragments>\n{PLAIN}</fragments>",
    "another prefix": f'<s:fragments xmlns:s="urn:xstreamcast:stream">{STRUCTURE}{BODY}'.replace(
        "stream:f", "s:f").replace("stream:r", "s:r").replace("stream:h", "s:h"),
    "structure last": BODY + STRUCTURE,
    "structure in the middle": BODY.replace("\n", STRUCTURE + "\n", 1),
    "structure twice": STRUCTURE + BODY + STRUCTURE,
    "tagStructure": BODY + f"<tagStructure>{TAGS}</tagStructure>",
    "other case": (STRUCTURE + BODY).replace("validTime", "VALIDTIME"),
    "several roots": f"<fragments>{STRUCTURE}</fragments><?xml version='1.0'?><fragments>{BODY}"
    "</fragments>",
    "references": (STRUCTURE + BODY).replace('id="7" tsid="2"', 'id="&#55;" tsid="&#x32;"'),
    "no tsid": STRUCTURE + BODY.replace(' tsid="1"', "").replace(
        'filler id="7" tsid="2"', 'filler id="7"'),
}  # fmt: skip


@pytest.mark.parametrize("size", [3, 1 << 20])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_says_the_same(dialect: str, size: int) -> None:
    seen = decoded(DIALECTS[dialect], size)
    assert seen.refused == []
    assert seen.fragments == EXPECTED
    assert len(seen.of(NewStructure)) == 1


@pytest.mark.parametrize(
    ("tags", "types", "fillers"),
    [
        (
            '<tag id="1" name="a" type="filler"><tag id="2" name="b" type="embedded"/></tag>',
            ["snapshot", "snapshot"],
            [True, False],
        ),
        (
            '<tag stream="s"><tag id="1" name="a" filler="true"><tag id="2" name="b"/></tag></tag>',
            ["snapshot", "snapshot"],
            [True, False],
        ),
    ],
)
def test_structures_that_say_filler(tags: str, types: list[str], fillers: list[bool]) -> None:
    (said,) = decoded(f"<structure>{tags}</structure>").of(NewStructure)
    assert [said.structure[t].type for t in (1, 2)] == types
    assert [said.structure[t].filler for t in (1, 2)] == fillers


def test_a_structure_without_types_learns_from_fragments_which_tags_travel() -> None:
    wire = (
        '<structure><tag id="1" name="a"><tag id="2" name="b"/><tag id="3" name="c"/></tag>'
        '</structure><a><hole id="5" tsid="2"/></a><filler id="5" tsid="2"><b/></filler>'
    )
    seen = decoded(wire)
    assert seen.refused == []
    assert [row[:2] for row in seen.fragments] == [("0", 1), ("5", 2)]
    last = seen.of(NewStructure)[-1].structure
    assert [last.travels(tsid) for tsid in (1, 2, 3)] == [True, True, False]


def test_fragments_without_valid_time_follow_a_logical_clock() -> None:
    wire = f"<structure>{TAGS}</structure>" + '<filler id="0" tsid="1"><accounts/></filler>' * 3
    assert [row[2] for row in decoded(wire, 50).fragments] == [
        f"1970-01-01T00:00:0{n}" for n in (1, 2, 3)
    ]


def test_heartbeats_and_the_end_stand_where_they_were_said() -> None:
    wire = STRUCTURE + BODY + '<stream:heartbeat validTime="2004-01-01Z"/>' + EOS.decode() + BODY
    kinds = [type(found) for found in decoded(wire).arrivals]
    assert kinds[:4] == [NewStructure, FragmentBatch, Heartbeat, Ended]
    assert decoded(wire).refused == [("XSCF0011", row[0]) for row in EXPECTED]


LIMIT = '<filler id="9" tsid="4" validTime="2003-01-01">%s</filler>'
WRONG = {
    "not well-formed": (LIMIT % "<limit>1<limit>", "XSCF0001", None),
    "never closed": ('<filler id="9" tsid="4"><limit>1</limit>', "XSCF0001", None),
    "bad attribute": ('<filler id="9" tsid=4><limit>1</limit></filler>', "XSCF0001", None),
    "stray end tag": ("</filler>", "XSCF0001", None),
    "no id": ('<filler tsid="4"><limit/></filler>', "XSCF0002", None),
    "unknown tag": ('<filler id="9" tsid="44"><limit/></filler>', "XSCF0003", "9"),
    "tsid no number": ('<filler id="9" tsid="x"><limit/></filler>', "XSCF0003", "9"),
    "other root": (LIMIT % "<account/>", "XSCF0004", "9"),
    "no payload": (LIMIT % "", "XSCF0005", "9"),
    "two payloads": (LIMIT % "<limit/><limit/>", "XSCF0005", "9"),
    "stray text": (LIMIT % "x<limit/>", "XSCF0005", "9"),
    "time": ('<filler id="9" tsid="4" validTime="soon"><limit/></filler>', "XSCF0006", "9"),
    "day": ('<filler id="9" tsid="4" validTime="2003-02-29"><limit/></filler>', "XSCF0006", "9"),
    "itself": (LIMIT % '<limit><hole id="9" tsid="4"/></limit>', "XSCF0007", "9"),
    "the root": (LIMIT % '<limit><hole id="0" tsid="1"/></limit>', "XSCF0007", "9"),
    "hole of no tag": (LIMIT % '<limit><hole id="3" tsid="33"/></limit>', "XSCF0008", "9"),
    "embedded tag": ('<filler id="9" tsid="3"><owner/></filler>', "XSCF0009", "9"),
    "no fragment": ("<other/>", "XSCF0012", "0"),
    "a heartbeat of no time": ("<heartbeat/>", "XSCF0006", None),
    "structure": ("<structure><tag name='a'/></structure>", "XSCT0001", None),
    "another root": ('<structure><tag id="9" name="a"/></structure>', "XSCT0002", None),
}


@pytest.mark.parametrize("size", [11, 1 << 20])
@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_refused_alone(what: str, size: int) -> None:
    wrong, code, name = WRONG[what]
    lines = PLAIN.replace("</structure>", "</structure>\n").splitlines(keepends=True)
    for at in range(6, len(lines) + 1):
        wire = "".join([*lines[:at], wrong, "\n", *lines[at:]])
        seen = decoded(wire, size)
        assert seen.refused == [(code, name)]
        assert seen.fragments == EXPECTED
        (refused,) = seen.of(Refused)
        assert wire.encode()[refused.offset :].startswith(wrong[:9].encode())
        assert refused.reason
        line = wire.encode()[: refused.offset].count(b"\n") + 1
        assert (refused.line, refused.column) == (line, 1)
        assert seen.decoder.counts.read + seen.decoder.counts.heartbeats >= 6


def test_the_refusal_of_a_name_in_another_namespace_names_both() -> None:
    wrong = LIMIT % '<limit xmlns="urn:x"/>'
    (refused,) = decoded(PLAIN.replace("</fragments>", "") + wrong).of(Refused)
    said = "the payload of tag 4 must be an element limit in no namespace; got namespace urn:x"
    assert refused.reason == said


@pytest.mark.parametrize("size", [1, 2, 7, 1 << 20])
@pytest.mark.parametrize("text", ["junk", '"2', "&amp;", "<!-- a -->b", "b <!-- a -->"])
def test_text_between_fragments_is_no_part_of_a_broken_one(text: str, size: int) -> None:
    lines = PLAIN.replace("</structure>", "</structure>\n").splitlines(keepends=True)
    wire = "".join([*lines[:6], text, LIMIT % "<limit>1<limit>", "\n", *lines[6:]])
    seen = decoded(wire, size)
    assert seen.refused == [("XSCF0016", None), ("XSCF0001", None)]
    assert seen.fragments == EXPECTED
    assert wire.encode()[seen.of(Refused)[1].offset :].startswith(b"<filler id=")


@pytest.mark.parametrize("size", [1, 3, 1 << 20])
def test_text_between_fragments_is_refused_and_changes_nothing(size: int) -> None:
    lines = PLAIN.replace("</structure>", "</structure>\n").splitlines(keepends=True)
    wire = "".join([*lines[:6], "some <!-- a --> words\n", *lines[6:], "the <?p?> end"])
    wire = f"<fragments>first<!-- b -->{wire}<!-- > -->last</fragments>"
    decoder = Decoder("s")
    found = [
        one for a in range(0, len(wire), size) for one in decoder.feed(wire[a : a + size].encode())
    ]
    found += decoder.close()
    refused = [one for one in found if isinstance(one, Refused)]
    texts = ["first", "some", "words", "the", "end", "last"]
    assert [(one.code, one.raw.decode()) for one in refused] == [("XSCF0016", t) for t in texts]
    assert [wire[one.offset :][: len(one.raw)] for one in refused] == texts
    seen, plain = decoded(wire, size), decoded("".join(lines), size)
    assert seen.fragments == plain.fragments


def test_on_error_stop_raises_with_the_place() -> None:
    with pytest.raises(InputError) as caught:
        decoded(PLAIN + WRONG["time"][0], on_error="stop")
    assert caught.value.code == "XSCF0006"
    assert "fragment 9, byte" in caught.value.render()


@pytest.mark.parametrize("size", [1, 7, 50, 1 << 20])
def test_what_is_refused_says_its_line_and_column_in_characters(size: int) -> None:
    good = '<filler id="0" tsid="1" validTime="2003-01-01"><a>ü\nö</a></filler>'
    wrong = '<filler id="0" tsid="1" validTime="noon"><a/></filler>'
    broken = '<filler id="1" tsid="1"><a></filler>'
    early = f'<filler id="0" tsid="2"><a/></filler> {wrong}\n'
    told = '<structure>\n<tag id="1" name="a"/></structure>'
    wire = f"{early}{told} {good}  {wrong}\n\n{broken}{good}ä {wrong}"
    for text in (wire, f"<fragments\n >{wire}</fragments>"):
        found = sorted(decoded(text, size).of(Refused), key=lambda one: one.offset)
        for one in found:
            before = text.encode()[: one.offset].decode()
            assert one.line == before.count("\n") + 1
            assert one.column == len(before) - before.rfind("\n")
        assert [one.code for one in found] == [
            *("XSCF0003", "XSCF0006", "XSCF0006", "XSCF0001", "XSCF0016", "XSCF0006")
        ]


def test_fragments_without_any_structure_are_refused_at_the_end() -> None:
    assert decoded(BODY).refused == [("XSCF0010", row[0]) for row in EXPECTED]


@given(cases(), st.integers(1, 80), st.randoms(), st.booleans())
def test_encoding_gives_what_was_decoded(
    case: Case, size: int, chance: random.Random, late: bool
) -> None:
    lines = list(cut([case.document], case.structure))
    lines += chance.sample(lines, len(lines) // 2)
    chance.shuffle(lines)
    told = structure_line(case.structure)
    wire = OPEN + b"".join([*lines, told] if late else [told, *lines]) + CLOSE
    seen = decoded(wire, size)
    assert seen.refused == []
    again = [
        line for batch in seen.of(FragmentBatch) for line in batch_lines(batch, seen.decoder.ids)
    ]
    assert again == lines
    assert seen.decoder.structure == case.structure


@given(st.text(st.sampled_from("0123456789-:T.Z+ "), max_size=28))
def test_the_kernel_reads_instants_as_the_model_does(text: str) -> None:
    check_instant(text)


@given(
    st.integers(1, 9999), st.integers(0, 13), st.integers(0, 32), st.integers(0, 24),
    st.integers(0, 60), st.sampled_from(["", ".5", ".1234567", ".000000", "."]),
    st.sampled_from(["", "Z", "+14:00", "-03:30", "+14:01", "z"]),
)  # fmt: skip
def test_the_kernel_knows_the_calendar(y, m, d, h, s, fraction, zone) -> None:
    check_instant(f"{y:04}-{m:02}-{d:02}T{h:02}:00:{s:02}{fraction}{zone}")
    check_instant(f"{y:04}-{m:02}-{d:02}{zone}")


def check_instant(text: str) -> None:
    wire = (
        f'<structure>{TAGS}</structure><filler id="1" tsid="4" validTime="{text}"><limit/></filler>'
    )
    seen = decoded(wire)
    known = parse_instant(text)
    if known is None:
        assert seen.refused == [("XSCF0006", "1")]
    else:
        (batch,) = seen.of(FragmentBatch)
        assert (int(batch.valid[0]), bool(batch.flags[0] & 1)) == known


@pytest.mark.parametrize("plain", [False, True])
def test_a_fragment_that_never_closes_is_given_up_when_the_next_begins(plain: bool) -> None:
    filler = '<stream:filler id="8" tsid="4"><limit>' + "x" * 300_000 + "</limit>%s"
    wire = STRUCTURE + filler % "" + (filler % "</stream:filler>") * 2
    decoder = Decoder("credit")
    raw = (wire.replace("stream:", "") if plain else wire).encode()
    fed = [decoder.feed(raw[at : at + 100_000]) for at in range(0, len(raw), 100_000)]
    seen = Seen(decoder, [one for part in fed for one in part])
    assert seen.refused == [("XSCF0001", None)]
    assert len(seen.fragments) == 2


def test_a_large_payload_may_have_elements_named_like_words() -> None:
    payload = '<limit><filler id="3"/><structure/>' + "x" * 300_000 + "</limit>"
    wire = STRUCTURE + f'<stream:filler id="8" tsid="4">{payload}</stream:filler>'
    assert decoded(wire, 100_000).refused == []


NOISE = (b"<!--", b"]]>", b"<", b">", b"&", b"</", b'"', b"\0", b"\xff", b"</fragments>", b"<?x")


@given(st.sampled_from(sorted(DIALECTS)), st.data())
def test_damaged_bytes_give_the_same_however_cut(dialect: str, data: st.DataObject) -> None:
    wire = DIALECTS[dialect].encode()
    for _ in range(data.draw(st.integers(1, 3))):
        # The first bytes, or a declaration, tell the encoding: damage there is the input's.
        begin = wire.index(b"?>") + 2 if wire.startswith(b"<?xml") else 8
        at, gone = data.draw(st.integers(begin, len(wire))), data.draw(st.integers(0, 12))
        wire = wire[:at] + data.draw(st.sampled_from(NOISE)) + wire[at + gone :]
    whole, cut_up = decoded(wire), decoded(wire, data.draw(st.integers(1, 60)))
    assert whole.fragments == cut_up.fragments
    assert whole.refused == cut_up.refused


def test_the_id_of_the_root_is_no_other_fragments():
    decoder = Decoder("s")
    found = decoder.feed(
        b'<structure><tag id="1" name="r"><tag id="2" name="a" type="temporal"/></tag></structure>'
        b'<filler id="top" tsid="1" validTime="2024-05-01"><r/></filler>'
        b'<filler id="0" tsid="2" in="top" validTime="2024-05-01"><a/></filler> '
    )
    *_, refused = found + decoder.close()
    assert isinstance(refused, Refused)
    assert refused.reason == "id 0 is that of the root, which must not be inside another fragment"


def test_the_unit_of_a_fragment_is_any_text_and_is_written_again() -> None:
    decoder = Decoder("s")
    told = b'<structure><tag id="1" name="r"><tag id="2" name="a" type="event"/></tag></structure>'
    wire = b'<filler id="1" tsid="2" validTime="2003-01-01" unit="%s"><a/></filler>'
    none = b'<filler id="3" tsid="2" validTime="2003-01-01"><a/></filler>'
    found = decoder.feed(told + wire % b"x" + wire % b"a&amp;&quot;b" + none)
    (batch,) = [one for one in found if isinstance(one, FragmentBatch)]
    assert batch.unit is not None
    texts = [decoder.ids.text(one) if one >= 0 else None for one in batch.unit.tolist()]
    assert texts == ["x", 'a&"b', None]
    lines = list(batch_lines(batch, decoder.ids))
    assert [b" unit=" in one for one in lines] == [True, True, False]
    again = Decoder("s").feed(told + b"".join(lines))
    assert again != []
    rows = RowEncoder("s", decoder.ids).rows(batch)
    assert rows["unit"].to_pylist() == texts
    written = b"".join(wire_of(arrow().Table.from_batches([rows])))
    assert [one.count(b" unit=") for one in written.splitlines()] == [1, 1, 0]
