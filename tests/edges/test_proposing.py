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
    assert "# 2 messages: 1 units, 1 versions, 1 removals, 0 refused" in text


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
    assert said.startswith("note: the mapping rss found no unit in 1 messages of s")
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
    assert "# 1 messages: 3 units, 3 versions, 0 removals, 0 refused" in text


def test_json_that_a_shipped_mapping_fits_says_so(tmp_path: Path, capsys: Any) -> None:
    sample = tmp_path / "quakes.json"
    one = {"type": "Feature", "id": "q", "properties": {"updated": 1717235940000}}
    sample.write_text(json.dumps({"type": "FeatureCollection", "features": [one]}, indent=1))
    assert main(["map", str(sample)]) == 0
    said = capsys.readouterr().out.splitlines()[0]
    assert said == "# geojson ships with the package and fits: -i NAME=geojson:PLACE"
