"""Mappings proposed from samples in which the same units come again and again."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from xstreamcast.cli.main import main
from xstreamcast.edges.mapping.form import TimeRule
from xstreamcast.edges.mapping.times import instant_of
from xstreamcast.model.instant import show_instant


def proposed(tmp_path: Path, capsys: Any, *samples: str) -> dict[str, Any]:
    files = [tmp_path / f"{number}.xml" for number in range(len(samples))]
    for file, text in zip(files, samples, strict=True):
        file.write_text(text)
    assert main(["map", *map(str, files)]) == 0
    return tomllib.loads(capsys.readouterr().out)


def test_the_same_units_in_each_document(tmp_path: Path, capsys: Any) -> None:
    parking = '<parking id="{0}"><free>{1}</free><state>{2}</state></parking>'
    found = proposed(
        tmp_path,
        capsys,
        *(
            f'<parkings time="2024-05-01T0{n}:00:00Z">{parking.format("P1", n, "open")}'
            f"{parking.format('P2', n, state)}</parkings>"
            for n, state in ((8, "open"), (9, "closed"))
        ),
    )
    assert found == {
        "message": {"time": "/parkings/@time"},
        "unit": {"parking": {"path": "//parking", "key": "@id", "remove": "state = ('closed')"}},
    }


def test_a_key_of_any_name_that_comes_again(tmp_path: Path, capsys: Any) -> None:
    tick = '<tick paper="{0}" ts="2024-05-01T09:30:0{1}Z"><bid>{1}</bid></tick>'
    samples = [f"<t>{tick.format('AA', n)}{tick.format('BB', n)}</t>" for n in (1, 2, 3)]
    assert proposed(tmp_path, capsys, *samples)["unit"]["tick"] == {
        "path": "//tick", "key": "@paper", "from": "@ts",
    }  # fmt: skip


def test_a_time_that_remains_while_the_unit_changes_is_not_when_it_is_true(
    tmp_path: Path, capsys: Any
) -> None:
    job = "<job><number>{0}</number><start>2024-05-01T0{0}:00:00</start><slots>{1}</slots></job>"
    samples = [f"<q>{job.format(1, n)}{job.format(5, n)}</q>" for n in (2, 3)]
    assert proposed(tmp_path, capsys, *samples)["unit"]["job"] == {"path": "//job", "key": "number"}


def test_an_order_in_an_envelope_and_not_its_header_or_lines(tmp_path: Path, capsys: Any) -> None:
    found = proposed(
        tmp_path,
        capsys,
        *(
            f"<Envelope><Header><MessageID>m{n}</MessageID></Header><Body><Changed>"
            f"<Timestamp>2024-05-01T0{n}:00:00Z</Timestamp><Order><OrderId>7</OrderId><Lines>"
            '<Line no="1"><Item>A</Item></Line><Line no="2"><Item>B</Item></Line></Lines>'
            f"<Status>{state}</Status></Order></Changed></Body></Envelope>"
            for n, state in ((1, "open"), (2, "paid"), (3, "cancelled"))
        ),
    )
    assert found == {
        "message": {"time": "/Envelope/Body/Changed/Timestamp"},
        "unit": {
            "order": {"path": "//Order", "key": "OrderId", "remove": "Status = ('cancelled')"}
        },
    }


def test_a_mapping_that_ships_and_finds_no_times_is_not_proposed(
    tmp_path: Path, capsys: Any
) -> None:
    item = "<item><key>{0}</key><title>{0}</title><updated>2024-05-0{1}T08:00:00Z</updated></item>"
    items = [item.format("P-1", n) + item.format("P-2", n) for n in (1, 2)]
    samples = [f"<rss><channel>{both}</channel></rss>" for both in items]
    unit = proposed(tmp_path, capsys, *samples)["unit"]["item"]
    assert (unit["key"], unit["from"]) == ("key", "updated")


def test_the_time_of_a_header_and_not_a_day_to_come(tmp_path: Path, capsys: Any) -> None:
    payments = "".join(f"<Tx><EndToEndId>E{n}</EndToEndId><Amt>{n}.5</Amt></Tx>" for n in (1, 2))
    sample = (
        "<D><I><GrpHdr><CreDtTm>2024-05-01T09:00:00</CreDtTm></GrpHdr>"
        f"<P><ReqdExctnDt>2024-05-09</ReqdExctnDt>{payments}</P></I></D>"
    )
    assert proposed(tmp_path, capsys, sample)["message"] == {"time": "/D/I/GrpHdr/CreDtTm"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("202405010929", "2024-05-01T09:29:00"),
        ("20240501092930", "2024-05-01T09:29:30"),
        ("1714550400123", "2024-05-01T08:00:00.123"),
        ("170000000000", "1975-05-22T14:13:20"),
    ],
)
def test_times_of_digits_alone(text: str, expected: str) -> None:
    found = instant_of(text, TimeRule(""))
    assert found is not None
    assert show_instant(found[0]) == expected
