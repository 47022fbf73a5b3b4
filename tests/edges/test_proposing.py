"""Mappings proposed from samples: alternatives of a key, wrappers, logs, what ships and fits."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from xstreamcast.cli.main import main


def proposed(tmp_path: Path, capsys: Any, *samples: str) -> tuple[str, dict[str, Any]]:
    """The text that `map` prints, and what it says as TOML."""
    files = [tmp_path / f"{number}.xml" for number in range(len(samples))]
    for file, text in zip(files, samples, strict=True):
        file.write_text(text)
    assert main(["map", *map(str, files)]) == 0
    text = capsys.readouterr().out
    return text, tomllib.loads(text)


def test_units_of_which_each_has_one_of_several_keys(tmp_path: Path, capsys: Any) -> None:
    bus = "<bus><line>7</line><{0}>{1}</{0}></bus>"
    buses = "".join(bus.format(n, v) for n, v in [("id", "a"), ("id", "b"), ("number", "c")])
    _, found = proposed(tmp_path, capsys, f"<buses>{buses}</buses>")
    assert found["unit"]["bus"]["key"] == "(id, number)[1]"


def test_units_in_wrappers_that_say_what_happened(tmp_path: Path, capsys: Any) -> None:
    changes = [
        '<changes><add><stop id="1" stamp="2024-05-01T08:00:00Z"/></add></changes>',
        '<changes><delete><stop id="1" stamp="2024-05-01T09:00:00Z"/></delete></changes>',
    ]
    text, found = proposed(tmp_path, capsys, *changes)
    assert found["unit"]["stop"] == {
        "path": "//stop", "key": "@id", "from": "@stamp", "remove": "exists(parent::*:delete)",
    }  # fmt: skip
    assert "# 2 messages: 1 unit, 1 version, 1 removal, 0 refused" in text


def test_units_that_stand_in_other_units_are_not_proposed(tmp_path: Path, capsys: Any) -> None:
    inner = '<a id="{0}"><b id="{0}b"/></a>'
    samples = [f"<x>{inner.format(1)}</x>", f"<y>{inner.format(2)}</y>"]
    assert list(proposed(tmp_path, capsys, *samples)[1]["unit"]) == ["a"]


def test_a_key_of_several_lines_is_no_line_of_the_proposal(tmp_path: Path, capsys: Any) -> None:
    _, found = proposed(tmp_path, capsys, "<a>\n<b>one</b>\n<c>\ntwo = three</c></a>")
    assert found["unit"]["a"]["key"] == "."


def test_a_log_whose_root_never_closes(tmp_path: Path, capsys: Any) -> None:
    entry = '<entry id="{0}"><time>2024-05-01T08:00:0{0}Z</time></entry>'
    text, found = proposed(tmp_path, capsys, "<log>" + entry.format(1) + entry.format(2) + "<ent")
    assert found["message"] == {"level": 1}
    assert found["unit"]["entry"] == {"path": "/entry", "key": "@id", "from": "time"}
    assert "# 2 messages: 2 units, 2 versions, 0 removals, 0 refused" in text


LOG4J = '<log4j:event timestamp="1714550400123" level="INFO"/>'
ITEM = "<item><guid>g{0}</guid></item>"


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        (LOG4J, "# log4j ships with the package and fits: -i NAME=log4j:PLACE"),
        (
            f"<rss><channel>{ITEM.format(1)}{ITEM.format(2)}<item/></channel></rss>",
            "# rss ships with the package and fits: -i NAME=rss:PLACE "
            "(1 refused; map --check rss SAMPLE prints why)",
        ),
    ],
)
def test_a_mapping_that_ships_and_fits_is_named(
    sample: str, said: str, tmp_path: Path, capsys: Any
) -> None:
    assert proposed(tmp_path, capsys, sample)[0].splitlines()[0] == said


def test_a_shipped_mapping_is_printed_to_be_changed(tmp_path: Path, capsys: Any) -> None:
    assert main(["map", "--print", "cap"]) == 0
    assert "alert" in tomllib.loads(capsys.readouterr().out)["unit"]
    assert main(["map", "--print", "capp"]) == 2
    assert "cap, datex2-v2" in capsys.readouterr().err
    assert main(["map"]) == 2
    assert "map needs a SAMPLE" in capsys.readouterr().err


def test_a_watch_says_at_its_end_that_its_mapping_found_nothing(tmp_path: Path, capfd: Any) -> None:
    (tmp_path / "feed.xml").write_text('<p:feed xmlns:p="urn:p"><p:entry/></p:feed>')
    source = f"s=rss:{tmp_path / 'feed.xml'}"
    assert main(["watch", "-q", 'count(stream("s")//x)', "-i", source]) == 0
    said = capfd.readouterr().err.splitlines()[-1]
    assert said.startswith("note: the mapping rss found no unit in 1 message of s")
    words = ["watch", "-q", "1", "-i", str(tmp_path / "feed.xml")]
    assert main([*words, "--checkpoint", str(tmp_path / "feed.xml")]) == 2
    assert "feed.xml must be a folder; it is a file" in capfd.readouterr().err


def test_one_json_text_is_a_list_of_units(tmp_path: Path, capsys: Any) -> None:
    sample = tmp_path / "doors.json"
    doors = [{"id": n, "at": f"2024-05-01T07:0{n}:00Z", "state": "open"} for n in range(3)]
    sample.write_text(json.dumps({"house": {"doors": doors}, "notes": [{"x": 1}]}, indent=2))
    assert main(["map", str(sample)]) == 0
    text = capsys.readouterr().out
    assert tomllib.loads(text) == {
        "message": {"type": "json"},
        "unit": {
            "member": {
                "path": "/*/*[@key='house']/*[@key='doors']/*",
                "key": "*[@key='id']",
                "from": "*[@key='at']",
            }
        },
    }
    assert "# 1 message: 3 units, 3 versions, 0 removals, 0 refused" in text


def test_json_that_a_shipped_mapping_fits_says_so(tmp_path: Path, capsys: Any) -> None:
    sample = tmp_path / "quakes.json"
    one = {"type": "Feature", "id": "q", "properties": {"updated": 1717235940000}}
    sample.write_text(json.dumps({"type": "FeatureCollection", "features": [one]}, indent=1))
    assert main(["map", str(sample)]) == 0
    said = capsys.readouterr().out.splitlines()[0]
    assert said == "# geojson ships with the package and fits: -i NAME=geojson:PLACE"


GML = 'xmlns:gml="http://www.opengis.net/gml/3.2"'
MEMBER = """<hasMember><{0} gml:id="x{1}"><gml:identifier>{1}</gml:identifier><timeSlice>
<{0}TimeSlice gml:id="t{1}"><gml:validTime><gml:TimePeriod gml:id="p{1}">
<gml:beginPosition>2024-01-0{1}T00:00:00Z</gml:beginPosition><gml:endPosition/></gml:TimePeriod></gml:validTime></{0}TimeSlice></timeSlice>
</{0}></hasMember>"""


def test_units_of_several_names_in_wrappers_that_hold_one_each(tmp_path: Path, capsys: Any) -> None:
    members = "".join(MEMBER.format(*one) for one in [("Runway", 1), ("Taxiway", 2), ("Apron", 3)])
    text, found = proposed(tmp_path, capsys, f"<message {GML}>{members}</message>")
    assert found["unit"]["hasmember"] == {
        "path": "//hasMember/*", "key": "gml:identifier",
        "from": "timeSlice/*/gml:validTime/*/gml:beginPosition",
    }  # fmt: skip
    assert "# 1 message: 3 units, 3 versions, 0 removals, 0 refused" in text
    _, found = proposed(tmp_path, capsys, f"<message {GML}>{MEMBER.format('Runway', 1)}</message>")
    assert found["unit"]["runway"]["key"] == "gml:identifier"


def test_units_of_one_name_in_wrappers(tmp_path: Path, capsys: Any) -> None:
    report = (
        '<info><REPORT gml:id="r{0}"><issueTime><Instant gml:id="i{0}"><gml:timePosition>'
        "2024-05-0{0}T09:20:00Z</gml:timePosition></Instant></issueTime></REPORT></info>"
    )
    reports = report.format(1) + report.format(2)
    text, found = proposed(tmp_path, capsys, f"<bulletin {GML}>{reports}</bulletin>")
    assert found["unit"]["report"] == {
        "path": "//REPORT", "key": "@gml:id", "from": "issueTime/Instant/gml:timePosition",
    }  # fmt: skip
    assert "is there a better key?" in text


ALERT = """<warning><identifier>{0}</identifier><sent>2024-05-01T1{0}:00:00Z</sent><info>
<parameter><valueName>A</valueName><value>1</value></parameter>
<parameter><valueName>B</valueName><value>2</value></parameter></info></warning>"""


def test_documents_are_units_though_they_hold_lists_without_times(
    tmp_path: Path, capsys: Any
) -> None:
    _, found = proposed(tmp_path, capsys, ALERT.format(1), ALERT.format(2))
    assert found["unit"] == {
        "warning": {"path": "/warning", "key": "identifier", "from": "sent"},
    }


def test_a_key_tells_the_units_of_one_message_apart(tmp_path: Path, capsys: Any) -> None:
    trip = "<trip><DirectionRef>1</DirectionRef><about><TripRef>{0}</TripRef></about></trip>"
    sample = f"<trips>{trip.format('a')}{trip.format('b')}</trips>"
    assert proposed(tmp_path, capsys, sample)[1]["unit"]["trip"]["key"] == "about/TripRef"


def test_versions_of_few_things_are_known_by_their_id(tmp_path: Path, capsys: Any) -> None:
    way = '<way id="7" version="{0}" uid="{0}" timestamp="2024-05-0{0}T09:00:00Z"/>'
    sample = f"<osmx>{''.join(map(way.format, range(1, 6)))}</osmx>"
    assert proposed(tmp_path, capsys, sample)[1]["unit"]["way"] == {
        "path": "//way", "key": "@id", "from": "@timestamp", "version": "@version",
    }  # fmt: skip


def test_seconds_since_1970_and_flags(tmp_path: Path, capsys: Any) -> None:
    entity = "<entity><id>{0}</id><timestamp>171455039{0}</timestamp>{1}</entity>"
    gone = entity.format(2, "<is_deleted>true</is_deleted>")
    sample = f"<feed><header><timestamp>1714550400</timestamp></header>{entity.format(1, '')}{gone}"
    text, found = proposed(tmp_path, capsys, f"{sample}</feed>")
    assert found["message"] == {"time": "/feed/header/timestamp"}
    assert found["unit"]["entity"] == {
        "path": "//entity", "key": "id", "from": "timestamp", "remove": "is_deleted = ('true')",
    }  # fmt: skip
    assert "# entity:2 removed at 2024-05-01T07:59:52" in text


def test_the_word_end_removes_nothing_where_it_is_no_state(tmp_path: Path, capsys: Any) -> None:
    peak = '<peak id="{0}"><type>{1}</type></peak>'
    sample = f"<peaks>{peak.format(1, 'END')}{peak.format(2, 'MAX')}</peaks>"
    assert "remove" not in proposed(tmp_path, capsys, sample)[1]["unit"]["peak"]


def test_the_message_time_is_the_nearest_and_of_no_other_thing(tmp_path: Path, capsys: Any) -> None:
    unit = '<op id="{0}" timestamp="2024-05-01T09:00:0{0}Z"/>'
    other = '<start id="9" timestamp="2024-05-01T08:00:00Z"/>'
    ops = unit.format(1) + unit.format(2)
    assert "message" not in proposed(tmp_path, capsys, f"<log>{other}{ops}</log>")[1]
    inner = f"<frame><changed>2024-05-01T07:00:00Z</changed>{ops}</frame>"
    sample = f"<log><PublicationTimestamp>2024-05-01T10:00:00Z</PublicationTimestamp>{inner}</log>"
    found = proposed(tmp_path, capsys, sample)[1]
    assert found["message"] == {"time": "/log/PublicationTimestamp"}


def test_what_repeats_without_a_key_happens(tmp_path: Path, capsys: Any) -> None:
    line = "<line><date>2024-05-01T09:00:00Z</date><level>INFO</level></line>"
    text, found = proposed(tmp_path, capsys, f"<lines>{line * 3}</lines>")
    assert found["unit"]["line"] == {"type": "event", "path": "//line", "from": "date"}
    assert "# 1 message: 3 units" in text


def test_a_mapping_that_ships_and_fits_is_the_proposal(tmp_path: Path, capsys: Any) -> None:
    sample = f"<rss><channel>{ITEM.format(1)}{ITEM.format(2)}</channel></rss>"
    text, found = proposed(tmp_path, capsys, sample)
    assert main(["map", "--print", "rss"]) == 0
    assert tomllib.loads(capsys.readouterr().out) == found
    assert "# item:g1 from" in text


def test_numbers_and_times_that_are_abbreviated(tmp_path: Path, capsys: Any) -> None:
    order = "<o><OrderNo>{0}</OrderNo><Casino>x</Casino><TxnTm>2024-05-01T0{1}:00:00Z</TxnTm></o>"
    batch = '<batch generated="2024-05-01T0{0}:00:00Z">{1}</batch>'
    samples = [
        batch.format(8, order.format(1, 7) + order.format(2, 7)),
        batch.format(9, order.format(2, 8)),
    ]
    _, found = proposed(tmp_path, capsys, *samples)
    assert found["message"] == {"time": "/batch/@generated"}
    assert found["unit"]["o"] == {"path": "//o", "key": "OrderNo", "from": "TxnTm"}


def test_a_key_of_two_parts(tmp_path: Path, capsys: Any) -> None:
    notice = "<notice><place>X</place><series>{0}</series><number>{1}</number>{2}</notice>"
    three = [notice.format(*one, "<t/>") for one in ("A1", "A2", "B1")]
    text, found = proposed(tmp_path, capsys, f"<list>{''.join(three)}</list>")
    assert found["unit"]["notice"]["key"] == ["series", "number"]
    assert "# 1 message: 3 units, 3 versions, 0 removals, 0 refused" in text


def test_versions_of_one_thing_are_known_by_one_key(tmp_path: Path, capsys: Any) -> None:
    notice = "<notice><series>{0}</series><number>{1}</number><at>2024-05-0{2}</at></notice>"
    three = [notice.format(*one) for one in ("A11", "A22", "B13")]
    _, found = proposed(tmp_path, capsys, f"<list>{''.join(three)}</list>")
    assert found["unit"]["notice"]["key"] == "number"
