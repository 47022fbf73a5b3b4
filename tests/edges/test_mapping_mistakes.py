"""Mistakes in a mapping: each is an error that names the entry, or a note of `map --check`."""

from __future__ import annotations

from pathlib import Path

import pytest

import xstreamcast as xsc
from xstreamcast.cli.main import main
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.form import parse_mapping
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.errors import Error
from xstreamcast.model.fragment import FragmentBatch

ORDER = '[unit.order]\npath = "//f:order"\nkey = "@id"\n'
SPACE = '[namespaces]\nf = "urn:f"\n'
GOOD = SPACE + ORDER
MESSAGE = b'<f:orders xmlns:f="urn:f"><f:order id="1" day="1.5.2024"/></f:orders>'

MISTAKES = {
    GOOD.replace('"@id"', "1"): "unit.order.key must be an XPath or a list of them; got 1",
    GOOD.replace('"@id"', "{a = 1}"): "unit.order.key must be an XPath or a list of them",
    GOOD.replace('"@id"', '["@id", 2]'): "unit.order.key must be an XPath or a list",
    ORDER: "no namespace is bound to the prefix f",
    GOOD.replace("f:order", "f:order/@id"): "'//f:order/@id' must lead to elements",
    GOOD.replace("//f:order", "count(//f:order)"): "must lead to elements",
    SPACE + '[stream]\nroot = "a b"\n' + ORDER: "stream.root must be a name without a prefix",
    SPACE + "[stream]\nroot = 1\n" + ORDER: "stream.root must be a string; got 1",
    SPACE.replace("f =", "1f =") + ORDER: "a prefix must be a name; got '1f'",
    SPACE.replace('"urn:f"', "3") + ORDER: "namespaces.f must be a string; got 3",
    GOOD + 'from = {path = "@day", format = "d.M.yyyy"}\n': "from.format must be epoch",
    GOOD + 'from = {path = "@day", format = "%Q"}\n': "from.format must be epoch",
    GOOD + 'to = {path = "@day", zone = "Europe/Berlin"}\n': "unit.order.to.zone must be",
    GOOD + 'from = {path = "@day", default = "never"}\n': "from.default must be a time; got",
    GOOD + 'type = "event"\nwhole = true\n': 'whole has no meaning for type = "event"',
    GOOD + 'type = "event"\nwhole = "@day"\n': "an event has happened",
    GOOD + 'type = "event"\ntemporary = "@day"\n': 'temporary has no meaning for type = "event"',
    SPACE + '[message]\ntime = {path = "@at", zone = "+1"}\n' + ORDER: "time.zone must be",
}


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_a_mistake_is_an_error_that_names_the_entry(number: int) -> None:
    text, said = list(MISTAKES.items())[number]
    with pytest.raises(Error) as failed:
        MappingDecoder("s", parse_mapping(text, "m.toml")).messages([Message(MESSAGE)])
    assert failed.value.code == "XSCU0007"
    assert failed.value.message.startswith("m.toml: ")
    assert said in failed.value.message
    if text == ORDER:
        assert failed.value.hint == '[namespaces] declares prefixes: s = "http://…"'


@pytest.mark.parametrize("uri", ["http://x?a=1&b=2", "a'b", 'a"b', "a{b}"])
def test_a_namespace_may_have_any_characters(uri: str) -> None:
    quoted = uri.replace('"', '\\"')
    text = f'[namespaces]\nf = "{quoted}"\n{ORDER}'
    markup = uri.replace("&", "&amp;").replace('"', "&quot;")
    decoder = MappingDecoder("s", parse_mapping(text, "m.toml"))
    decoder.messages([Message(f'<order id="1" xmlns="{markup}"/>'.encode())])
    assert decoder.counts.units == 1


@pytest.mark.parametrize("default", ['"1.1.2024"', '"2024-01-01T00:00:00Z"', "2024-01-01"])
def test_a_default_is_written_as_the_times_are_or_in_any_form(default: str) -> None:
    rule = f'from = {{path = "@no", format = "%d.%m.%Y", zone = "+01:00", default = {default}}}\n'
    decoder = MappingDecoder("s", parse_mapping(SPACE + ORDER + rule, "m.toml"))
    found = decoder.messages([Message(MESSAGE)])
    times = [one.valid.tolist() for one in found if isinstance(one, FragmentBatch)]
    hour = 0 if "Z" in default else 3600
    assert times[-1] == [(1704067200 - hour) * 1_000_000]


def test_entries_that_find_no_time_are_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mapping, sample = tmp_path / "m.toml", tmp_path / "s.xml"
    sample.write_bytes(MESSAGE)
    mapping.write_text(f'{SPACE}[message]\ntime = "/*/@at"\n{ORDER}from = "f:at"\n')
    assert main(["map", "--check", str(mapping), str(sample)]) == 0
    assert capsys.readouterr().err == (
        "note: message.time = '/*/@at' found no time in 1 message\n"
        "note: unit.order.from = 'f:at' found no time in 1 unit\n"
    )
    mapping.write_text(f"{SPACE}{ORDER}from = {{path = '@day', format = '%d.%m.%Y'}}\n")
    assert main(["map", "--check", str(mapping), str(sample)]) == 0
    assert capsys.readouterr().err == ""


def test_times_without_a_zone_are_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mapping, sample = tmp_path / "m.toml", tmp_path / "s.xml"
    sample.write_text('<r><a id="1" at="2024-05-01T09:00:00" to="2024-05-02"/></r>')
    entries = '[unit.a]\npath = "//a"\nkey = "@id"\nto = "@to"\n'
    for rule, noted in (('"@at"', True), ('{path = "@at", zone = "+02:00"}', False)):
        mapping.write_text(f"{entries}from = {rule}\n")
        assert main(["map", "--check", str(mapping), str(sample)]) == 0
        said = capsys.readouterr().err
        assert said.startswith("note: unit.a.from finds times without a time zone") == noted
        assert said.count("note:") == noted


def test_now_is_in_utc_where_times_have_no_zone(tmp_path: Path) -> None:
    """?[now], current-dateTime() and lifespans agree, by any clock."""
    (tmp_path / "m.toml").write_text(
        '[unit.a]\npath = "//a"\nkey = "@id"\nfrom = "@from"\nto = "@to"\n'
    )
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "1.xml").write_text(
        '<r><a id="over" from="2024-05-01T07:00:00" to="2024-05-01T08:59:00"/>'
        '<a id="on" from="2024-05-01T08:00:00" to="2024-05-01T09:01:00"/>'
        '<a id="plan" from="2024-05-01T09:00:30"/></r>'
    )
    source = Path(f"{tmp_path / 'm.toml'}:{tmp_path / 'feed'}")
    asked = (
        'stream("s")//a?[now]/@id/string(), current-dateTime() = xs:dateTime("{}"), '
        'stream("s")//a[xs:dateTime(@from) le current-dateTime()]'
        "[@vtTo = 'now' or xs:dateTime(@vtTo) gt current-dateTime()]/@id/string()"
    )
    for clock, shows in (
        ("2024-05-01T09:00:00Z", ["on"]),
        ("2024-05-01T11:00:00+02:00", ["on"]),
        ("2024-05-01T09:00:00", ["on"]),
        ("event", ["on", "plan"]),
    ):
        now = "2024-05-01T09:00:30Z" if clock == "event" else clock
        answered = xsc.query(asked.format(now)).run(s=source, clock=clock)
        assert list(answered.lines()) == [*shows, "true", *shows], clock
