"""Shipped mappings: numbers of two operators, removals of one instant, names of time zones."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import xstreamcast as xsc
from xstreamcast.edges.mapping.form import TimeRule
from xstreamcast.edges.mapping.times import instant_of

DAY = "2024-05-01T"


def answer(mapping: str, folder: Path, messages: list[str], query: str) -> list[str]:
    folder.mkdir()
    for number, one in enumerate(messages):
        (folder / f"{number}.xml").write_text(one)
    return list(xsc.query(query).run(s=Path(f"{mapping}:{folder}")).lines())


def bus(at: str, operator: str, kind: str = "VehicleActivity") -> str:
    journey = (
        f"<MonitoredVehicleJourney><OperatorRef>{operator}</OperatorRef>"
        "<VehicleRef>12</VehicleRef></MonitoredVehicleJourney>"
    )
    body = journey if operator else "<VehicleMonitoringRef>12</VehicleMonitoringRef>"
    return (
        '<Siri xmlns="http://www.siri.org.uk/siri"><ServiceDelivery>'
        f"<ResponseTimestamp>{DAY}{at}:30Z</ResponseTimestamp><{kind}>"
        f"<RecordedAtTime>{DAY}{at}:00Z</RecordedAtTime>{body}</{kind}></ServiceDelivery></Siri>"
    )


def test_vehicles_of_two_operators_with_one_number(tmp_path: Path) -> None:
    query = 'stream("s")//*:VehicleActivity?[now]//*:OperatorRef/string()'
    two = [bus("08:00", "A"), bus("08:01", "B")]
    assert answer("siri-vm", tmp_path / "two", two, query) == ["A", "B"]
    gone = [bus("08:00", "A"), bus("08:02", "", "VehicleActivityCancellation")]
    assert answer("siri-vm", tmp_path / "gone", gone, query) == []


def alert(name: str, kind: str, refers: str = "") -> str:
    references = f"<references>w@x,{refers},{DAY}08:00:00-00:00</references>" if refers else ""
    return (
        '<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2">'
        f"<identifier>{name}</identifier><sender>w@x</sender><sent>{DAY}08:00:00-00:00</sent>"
        f"<msgType>{kind}</msgType>{references}</alert>"
    )


@pytest.mark.parametrize("kind", ["Update", "\n Update "])
def test_an_update_of_the_same_second_in_any_order(kind: str, tmp_path: Path) -> None:
    given = [alert("A", "Alert"), alert("B", kind, "A")]
    query = 'stream("s")//*:alert?[now]/*:identifier/string()'
    for number, order in enumerate(itertools.permutations(given)):
        assert answer("cap", tmp_path / str(number), list(order), query) == ["B"]


@pytest.mark.parametrize(("zone", "hour"), [("CET", 7), ("CEST", 6), ("BST", 7), ("GMT", 8)])
def test_names_of_time_zones(zone: str, hour: int) -> None:
    found = instant_of(f"Wed, 01 May 2024 08:00:00 {zone}", TimeRule("."))
    assert found == instant_of(f"{DAY}{hour:02}:00:00Z", TimeRule("."))
