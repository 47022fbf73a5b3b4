"""Shipped mappings with messages of other profiles, versions and spellings of their standards."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from xstreamcast.edges.mapping import decoder
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.finding import named_mapping
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.edges.snapshot.mapped import read_mapped, write_mapped
from xstreamcast.model.change import Accumulated
from xstreamcast.model.fragment import FragmentBatch, Op
from xstreamcast.operators.snapshot.tables import TableReader, TableWriter

DAY = "2024-05-01T"


def versions(mapping: str, folder: Path, messages: list[str], shown: str) -> list[str]:
    """`shown` of each version, with the minutes from and to which it holds; nothing is refused."""
    folder.mkdir()
    for number, one in enumerate(messages):
        (folder / f"{number:03}.xml").write_text(one)
    source, refused = Path(f"{mapping}:{folder}"), list[Any]()
    query = xsc.query(
        f'for $x in stream("s")/*/* return string-join(($x/{shown}, '
        '($x/@vtFrom, $x/@vtTo) ! (if (. = "now") then "now" else substring(., 12, 5))), " ")'
    )
    found = list(query.run(s=source, keep=refused.append).lines())
    assert refused == []
    accumulated = Accumulated()
    for change in query.watch(s=source):
        accumulated.apply(change)
    assert accumulated.items() == found
    return found


def prefixed(text: str, prefix: str) -> str:
    """The message with a prefix in place of the default namespace."""
    named = re.sub(r"<(/?)([A-Za-z])", rf"<\1{prefix}:\2", text)
    return named.replace("xmlns=", f"xmlns:{prefix}=")


def vehicle(at: str, body: str, kind: str = "VehicleActivity") -> str:
    return (
        '<Siri xmlns="http://www.siri.org.uk/siri"><ServiceDelivery>'
        f"<ResponseTimestamp>{DAY}{at}:30Z</ResponseTimestamp><VehicleMonitoringDelivery><{kind}>"
        f"<RecordedAtTime>{DAY}{at}:00Z</RecordedAtTime>{body}</{kind}>"
        "</VehicleMonitoringDelivery></ServiceDelivery></Siri>"
    )


def activity(at: str, item: str) -> str:
    return vehicle(
        at,
        f"<ItemIdentifier>{item}</ItemIdentifier><MonitoredVehicleJourney>"
        "<FramedVehicleJourneyRef><DataFrameRef>D</DataFrameRef><DatedVehicleJourneyRef>J"
        "</DatedVehicleJourneyRef></FramedVehicleJourneyRef><VehicleRef>V</VehicleRef>"
        "</MonitoredVehicleJourney>",
    )


CANCELLED_BY = {
    "item": "<ItemRef>I2</ItemRef>",
    "an older item": "<ItemRef>I1</ItemRef>",
    "journey": "<VehicleJourneyRef><DataFrameRef>D</DataFrameRef><DatedVehicleJourneyRef>J"
    "</DatedVehicleJourneyRef></VehicleJourneyRef>",
    "vehicle": "<VehicleMonitoringRef>V</VehicleMonitoringRef>",
}


@pytest.mark.parametrize("named", CANCELLED_BY)
def test_a_vehicle_is_cancelled_by_whatever_names_it(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled = vehicle("08:10", CANCELLED_BY[named], "VehicleActivityCancellation")
    messages = [activity("08:00", "I1"), activity("08:05", "I2"), cancelled]
    messages.append(activity("08:20", "I3"))
    expected = ["I1 08:00 08:05", "I2 08:05 08:10", "I3 08:20 now"]
    monkeypatch.setattr(decoder, "MOST", 1)
    for number, order in enumerate(itertools.permutations(messages)):
        found = versions("siri-vm", tmp_path / str(number), list(order), "*:ItemIdentifier")
        assert found == expected


def test_a_journey_is_cancelled_before_another_vehicle_takes_it_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled = vehicle("08:02", CANCELLED_BY["journey"], "VehicleActivityCancellation")
    other = activity("08:05", "I2").replace("<VehicleRef>V<", "<VehicleRef>W<")
    messages = [activity("08:00", "I1"), cancelled, other]
    for most in (1, 1000):
        monkeypatch.setattr(decoder, "MOST", most)
        for number, order in enumerate(itertools.permutations(messages)):
            place = tmp_path / f"{most}-{number}"
            found = versions("siri-vm", place, list(order), "*:ItemIdentifier")
            assert found == ["I1 08:00 08:02", "I2 08:05 now"]


def aixm(kind: str, number: int, correction: int, month: int, name: str) -> str:
    begin = f"<gml:beginPosition>2010-{month:02}-01T00:00:00Z</gml:beginPosition>"
    period = f"<gml:TimePeriod>{begin}<gml:endPosition/></gml:TimePeriod>"
    life = f"<aixm:featureLifetime>{period}</aixm:featureLifetime>" if kind == "BASELINE" else ""
    return (
        '<m:M xmlns:m="urn:m" xmlns:aixm="http://www.aixm.aero/schema/5.1" '
        'xmlns:gml="http://www.opengis.net/gml/3.2"><aixm:Navaid><gml:identifier>N</gml:identifier>'
        "<aixm:timeSlice><aixm:NavaidTimeSlice>"
        + (f"<gml:validTime>{period}</gml:validTime>" if month else "<gml:validTime/>")
        + f"<aixm:interpretation>{kind}</aixm:interpretation>"
        f"<aixm:sequenceNumber>{number}</aixm:sequenceNumber>"
        f"<aixm:correctionNumber>{correction}</aixm:correctionNumber>{name}{life}"
        "</aixm:NavaidTimeSlice></aixm:timeSlice></aixm:Navaid></m:M>"
    )


def named(name: str) -> str:
    return f"<aixm:name>{name}</aixm:name>"


BASELINE = aixm("BASELINE", 1, 0, 1, named("A"))
CHANGED, LATER = aixm("PERMDELTA", 2, 0, 3, named("B")), aixm("PERMDELTA", 3, 0, 9, named("C"))


@pytest.mark.parametrize(
    ("correction", "expected"),
    [
        (aixm("PERMDELTA", 2, 1, 5, named("B")), ["A 01 05", "B 05 09", "C 09 "]),
        (aixm("PERMDELTA", 2, 1, 2, named("B")), ["A 01 02", "B 02 09", "C 09 "]),
        (aixm("PERMDELTA", 2, 1, 3, named("D")), ["A 01 03", "D 03 09", "C 09 "]),
        (aixm("PERMDELTA", 2, 1, 0, ""), ["A 01 09", "C 09 "]),
    ],
    ids=["later", "earlier", "another value", "cancelled"],
)
def test_a_permanent_change_is_corrected(
    correction: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder, "MOST", 1)
    query = xsc.query(
        'for $x in stream("s")//*:name return '
        'string-join(($x, ($x/@vtFrom, $x/@vtTo) ! substring(., 6, 2)), " ")'
    )
    for number, order in enumerate(itertools.permutations([CHANGED, correction, LATER])):
        folder = tmp_path / str(number)
        folder.mkdir()
        for k, one in enumerate([BASELINE, *order]):
            (folder / f"{k}.xml").write_text(one)
        assert list(query.run(s=Path(f"aixm:{folder}")).lines()) == expected


def cap(number: str, at: str, kind: str = "Alert", more: str = "", info: str = "") -> str:
    return (
        f'<alert xmlns="urn:oasis:names:tc:emergency:cap:1.1"><identifier>{number}</identifier>'
        f"<sender>The Office</sender><sent>{DAY}{at}:00+00:00</sent><status>Actual</status>"
        f"<msgType>{kind}</msgType>{more}<info>{info}</info></alert>"
    )


def test_alerts_of_other_spellings(tmp_path: Path) -> None:
    both = f"The Office,1,{DAY}08:00:00Z\n\tThe Office,2,{DAY}08:10:00Z"
    messages = [
        prefixed(cap("1", "08:00", info="<expires/>"), "cap"),
        cap("2", "08:10", info=f"<expires>{DAY}23:00:00Z</expires>"),
        cap("3", "08:30", "Update", f"<references>{both}</references>"),
    ]
    found = versions("cap", tmp_path / "feed", messages, "*:identifier")
    assert found == ["1 08:00 08:30", "2 08:10 08:30", "3 08:30 now"]


def situation(at: str, more: str, prefix: str = "") -> str:
    text = (
        '<Siri xmlns="http://www.siri.org.uk/siri"><ServiceDelivery>'
        f"<ResponseTimestamp>{DAY}{at}:00Z</ResponseTimestamp><SituationExchangeDelivery>"
        f"<Situations><PtSituationElement><CreationTime>{DAY}07:00:00Z</CreationTime>"
        f"<ParticipantRef>P</ParticipantRef><SituationNumber>1</SituationNumber>{more}"
        "</PtSituationElement></Situations></SituationExchangeDelivery></ServiceDelivery></Siri>"
    )
    return prefixed(text, prefix) if prefix else text


def test_situations_with_update_numbers_and_open_periods(tmp_path: Path) -> None:
    messages = [
        situation("08:00", "<UpdateNumber>1</UpdateNumber><Version>1.0</Version>"),
        situation("09:00", "<UpdateNumber>2</UpdateNumber><Version>1.1</Version>", "siri"),
        situation(
            "10:00",
            "<UpdateNumber>3</UpdateNumber><ValidityPeriod><EndTime/></ValidityPeriod>",
        ),
    ]
    found = versions("siri-sx", tmp_path / "feed", messages, "*:UpdateNumber")
    assert found == ["1 07:00 09:00", "2 09:00 10:00", "3 10:00 now"]


def test_trades_of_version_4_and_by_another_identifier(tmp_path: Path) -> None:
    def message(kind: str, at: str, body: str) -> str:
        return (
            f'<{kind} xmlns="http://www.fpml.org/2007/FpML-4-4"><header>'
            f"<creationTimestamp>{DAY}{at}:00Z</creationTimestamp></header>{body}</{kind}>"
        )

    def party(number: str) -> str:
        return f"<partyTradeIdentifier><tradeId>{number}</tradeId></partyTradeIdentifier>"

    trade = f"<trade><tradeHeader>{party('A1')}{party('B1')}</tradeHeader></trade>"
    other = f"<trade><tradeHeader>{party('A2')}</tradeHeader></trade>"
    messages = [
        message("TradeCreated", "08:00", trade + other),
        message("TradeAmended", "09:00", trade),
        message("TradeCancelled", "10:00", party("B1")),
    ]
    found = versions("fpml", tmp_path / "feed", messages, "(.//*:tradeId)[1]")
    assert found == ["A1 08:00 09:00", "A1 09:00 10:00", "A2 08:00 now"]


def measured(at: str, body: str, snapshot: bool = False) -> str:
    how = "<subscription><updateMethod>snapshot</updateMethod></subscription>" * snapshot
    return (
        '<d2LogicalModel xmlns="http://datex2.eu/schema/2/2_0"><exchange>'
        f"<supplierIdentification><country>de</country></supplierIdentification>{how}</exchange>"
        f"<payloadPublication><publicationTime>{DAY}{at}:00Z</publicationTime>{body}"
        "</payloadPublication></d2LogicalModel>"
    )


def test_sites_and_signs_of_datex(tmp_path: Path) -> None:
    def site(at: str, speed: int) -> str:
        return measured(
            at,
            '<siteMeasurements><measurementSiteReference id="M"/>'
            f"<measurementTimeDefault>{DAY}{at}:00Z</measurementTimeDefault><speed>{speed}</speed>"
            "</siteMeasurements>",
        )

    found = versions(
        "datex2-v2", tmp_path / "feed", [site("08:00", 50), site("08:05", 60)], "*:speed"
    )
    assert found == ["50 08:00 08:05", "60 08:05 now"]


def test_a_snapshot_of_datex_holds_all_records(tmp_path: Path) -> None:
    def record(name: str) -> str:
        made = f"<situationRecordVersionTime>{DAY}07:00:00Z</situationRecordVersionTime>"
        return (
            f'<situation id="S"><situationRecord id="{name}">{made}</situationRecord></situation>'
        )

    messages = [
        measured("08:00", record("A") + record("B"), snapshot=True),
        measured("08:05", record("C")),
        measured("08:10", record("B"), snapshot=True),
    ]
    found = versions("datex2-v2", tmp_path / "feed", messages, "@id/string()")
    assert found == ["A 07:00 08:10", "B 07:00 now", "C 07:00 now"]


def test_items_without_dates_are_new_when_they_change(tmp_path: Path) -> None:
    def feed(at: str, *titles: str) -> str:
        items = "".join(f"<item><link>{t[0]}</link><title>{t}</title></item>" for t in titles)
        built = f"<lastBuildDate>Wed, 01 May 2024 {at}:00 GMT</lastBuildDate>"
        return f'<rss version="2.0"><channel>{built}{items}</channel></rss>'

    messages = [feed("08:00", "a"), feed("09:00", "a", "b"), feed("10:00", "a2", "b")]
    found = versions("rss", tmp_path / "feed", messages, "title")
    assert found == ["a 08:00 10:00", "a2 10:00 now", "b 09:00 now"]


def test_passing_times_known_by_their_order(tmp_path: Path) -> None:
    def journey(at: str, *times: str) -> str:
        calls = "".join(f'<Call order="{n}"><T>{t}</T></Call>' for n, t in enumerate(times))
        return (
            '<PublicationDelivery xmlns="http://www.netex.org.uk/netex">'
            f"<PublicationTimestamp>{DAY}{at}:00Z</PublicationTimestamp>"
            f'<ServiceJourney id="J" version="any"><calls>{calls}</calls></ServiceJourney>'
            "</PublicationDelivery>"
        )

    source = tmp_path / "feed"
    messages = [journey("08:00", "1", "2"), journey("09:00", "1")]
    found = versions("netex", source, messages, "string-join(*:Call/*:T)")
    assert found[-1] == "1 09:00 now"


def test_other_keys_are_part_of_a_checkpoint() -> None:
    cancelled = vehicle("08:10", CANCELLED_BY["item"], "VehicleActivityCancellation")
    for messages in ([activity("08:05", "I2"), cancelled], [cancelled, activity("08:05", "I2")]):
        first = MappingDecoder("s", named_mapping("siri-vm"))
        first.messages([Message(messages[0].encode())])
        tables = TableWriter()
        write_mapped(tables, "d", first)
        second = MappingDecoder("s", first.mapping, names=first.names)
        read_mapped(TableReader(tables.finish(), tables.facts, first.names), "d", second)
        found = second.messages([Message(messages[1].encode())])
        gone = [
            second.ids.text(int(batch.id[row]))
            for batch in found
            if isinstance(batch, FragmentBatch)
            for row in range(len(batch))
            if batch.op[row] == Op.REMOVE
        ]
        assert gone == ["vehicle:V"]
