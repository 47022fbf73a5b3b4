"""Shipped mappings with messages of other producers: other prefixes, less content, several in one
file, cancellations and corrections in each form that the standards allow.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from xstreamcast.api import compiled
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.finding import named_mapping
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.edges.snapshot.mapped import read_mapped, write_mapped
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
from xstreamcast.operators.watching.watch import Watch

DAY = "2024-05-01T"
SPANS = (
    'for $x in stream("s")/*/{0} return concat({1}, " ", substring($x/@vtFrom, 12, 5), " ", '
    'if ($x/@vtTo = "now") then "now" else substring($x/@vtTo, 12, 5))'
)


class Producer:
    """A feed of one mapping, asked once and left running."""

    def __init__(self, mapping: str, folder: Path, *messages: str) -> None:
        self.source, self.refused = Path(f"{mapping}:{folder / 'feed'}"), list[Any]()
        (folder / "feed").mkdir()
        for number, one in enumerate(messages):
            (folder / "feed" / f"{number}.xml").write_text(one)

    def ask(self, query: str, **options: Any) -> list[str]:
        self.refused.clear()
        run = xsc.query(query).run(s=self.source, keep=self.refused.append, **options)
        found = list(run.lines())
        if not options:
            accumulated = Accumulated()
            for change in xsc.query(query).watch(s=self.source):
                accumulated.apply(change)
            assert accumulated.items() == found
        return found

    def seen(self, query: str) -> list[str]:
        """What appears and goes, when messages are evaluated one by one."""
        return [
            ("+ " if one.diff > 0 else "- ") + str(one.item)
            for one in xsc.query(query).watch(s=self.source, batch=1)
        ]


def siri(at: str, body: str) -> str:
    stamp = f"<s:ResponseTimestamp>{DAY}{at}Z</s:ResponseTimestamp>"
    delivery = f"<s:ServiceDelivery>{stamp}{body}</s:ServiceDelivery>"
    return f'<s:Siri xmlns:s="http://www.siri.org.uk/siri">{delivery}</s:Siri>'


def situation(number: str, more: str, kind: str = "Pt") -> str:
    return (
        f"<s:{kind}SituationElement><s:CreationTime>{DAY}07:00:00Z</s:CreationTime>"
        f"<s:SituationNumber>{number}</s:SituationNumber>{more}</s:{kind}SituationElement>"
    )


def validity(*ends: str) -> str:
    return "".join(
        f"<s:ValidityPeriod><s:StartTime>{DAY}06:00:00Z</s:StartTime>"
        + (f"<s:EndTime>{DAY}{end}:00Z</s:EndTime>" if end else "")
        + "</s:ValidityPeriod>"
        for end in ends
    )


def test_a_situation_lasts_until_the_last_of_its_periods_whatever_their_order(
    tmp_path: Path,
) -> None:
    first = situation("a", validity("12:00", "08:00")) + situation("b", validity("", "08:00"))
    feed = Producer("siri-sx", tmp_path, siri("09:00:00", first), siri("13:00:00", ""))
    spans = SPANS.format("*:PtSituationElement", "$x/*:SituationNumber")
    assert feed.ask(spans) == ["a 07:00 12:00", "b 07:00 now"]


def test_situations_on_roads(tmp_path: Path) -> None:
    road = situation("r", "", "Road")
    feed = Producer("siri-sx", tmp_path, siri("09:00:00", road))
    assert feed.ask('stream("s")//*:RoadSituationElement/*:SituationNumber/string()') == ["r"]


def test_a_heartbeat_of_siri_moves_the_clock(tmp_path: Path) -> None:
    beat = (
        '<Siri xmlns="http://www.siri.org.uk/siri"><HeartbeatNotification>'
        f"<RequestTimestamp>{DAY}13:00:00Z</RequestTimestamp></HeartbeatNotification></Siri>"
    )
    first = siri("09:00:00", situation("a", validity("12:00")))
    feed = Producer("siri-sx", tmp_path, first, beat)
    assert feed.ask('count(stream("s")//*:PtSituationElement?[now])') == ["0"]


def test_a_vehicle_without_a_number_is_known_by_its_journey(tmp_path: Path) -> None:
    ref = "<s:DataFrameRef>d</s:DataFrameRef><s:DatedVehicleJourneyRef>j</s:DatedVehicleJourneyRef>"
    recorded = f"<s:RecordedAtTime>{DAY}08:{{0}}:00Z</s:RecordedAtTime>"
    activity = (
        f"<s:VehicleActivity>{recorded}<s:MonitoredVehicleJourney><s:FramedVehicleJourneyRef>{ref}"
        "</s:FramedVehicleJourneyRef></s:MonitoredVehicleJourney></s:VehicleActivity>"
    )
    cancelled = (
        f"<s:VehicleActivityCancellation>{recorded}<s:VehicleJourneyRef>{ref}"
        "</s:VehicleJourneyRef></s:VehicleActivityCancellation>"
    )
    messages = [
        siri("08:00:30", activity.format("00")),
        siri("08:01:30", activity.format("01")),
        siri("08:02:30", cancelled.format("02")),
    ]
    feed = Producer("siri-vm", tmp_path, *messages)
    spans = SPANS.format("*:VehicleActivity", '"v"')
    assert feed.ask(spans) == ["v 08:00 08:01", "v 08:01 08:02"]
    assert feed.refused == []


def alert(number: str, at: str, more: str = "") -> str:
    return (
        '<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2">'
        f"<identifier>{number}</identifier><sender>w</sender><sent>{DAY}{at}:00Z</sent>"
        f"<msgType>Alert</msgType>{more}</alert>"
    )


def test_several_alerts_in_one_message_are_in_force_when_the_last_was_sent(tmp_path: Path) -> None:
    expires = f"<info><expires>{DAY}08:40:00Z</expires></info>"
    both = f"<feed>{alert('a', '08:20')}{alert('b', '08:30', expires)}</feed>"
    feed = Producer("cap", tmp_path, both, alert("c", "09:30"))
    in_force = 'stream("s")//*:alert?[now]/*:identifier/string()'
    assert feed.seen(in_force) == ["+ a", "+ b", "- b", "+ c"]


@pytest.mark.parametrize("end", ["<end>1</end>", "<cancel>0</cancel><end> true </end>"])
def test_a_record_that_ends_however_true_is_written(end: str, tmp_path: Path) -> None:
    def publication(at: str, version: int, more: str) -> str:
        return (
            '<d2LogicalModel xmlns="http://datex2.eu/schema/2/2_0"><payloadPublication>'
            f"<publicationTime>{DAY}{at}:00Z</publicationTime><situation id='S'>"
            f"<situationRecord id='R' version='{version}'><situationRecordVersionTime>{DAY}{at}:00Z"
            f"</situationRecordVersionTime>{more}</situationRecord></situation>"
            "</payloadPublication></d2LogicalModel>"
        )

    cycle = f"<management><lifeCycleManagement>{end}</lifeCycleManagement></management>"
    feed = Producer(
        "datex2-v2", tmp_path, publication("08:00", 1, ""), publication("09:00", 2, cycle)
    )
    assert feed.ask(SPANS.format("*:situationRecord", "$x/@version")) == ["1 08:00 09:00"]


def fpml(root: str, at: str, body: str) -> str:
    return (
        f'<{root} xmlns="http://www.fpml.org/FpML-5/confirmation"><header><creationTimestamp>'
        f"{DAY}{at}:00Z</creationTimestamp></header>{body}</{root}>"
    )


TRADE = (
    "<trade><tradeHeader><partyTradeIdentifier><tradeId>T</tradeId></partyTradeIdentifier>"
    "</tradeHeader></trade>"
)
NAMED = "<tradeIdentifier><tradeId>T</tradeId></tradeIdentifier>"


def test_a_trade_ends_by_its_termination_and_no_reference_to_it_is_a_trade(tmp_path: Path) -> None:
    messages = [
        fpml("executionNotification", "08:00", TRADE),
        fpml("executionStatus", "08:10", NAMED),
        fpml("executionNotification", "09:00", f"<termination>{NAMED}</termination>"),
    ]
    feed = Producer("fpml", tmp_path, *messages)
    assert feed.ask(SPANS.format("*", "local-name($x)")) == ["trade 08:00 09:00"]


def test_items_without_guid_are_known_by_link_or_title(tmp_path: Path) -> None:
    items = (
        '<item xmlns:a="http://www.w3.org/2005/Atom"><a:link href="x"/><link>l</link>{0}</item>'
        "<item><title>t</title>{0}</item>"
    )
    date = "<pubDate>Wed, 01 May 2024 {0}:00 GMT</pubDate>"
    messages = [
        f"<rss><channel>{items.format(date.format(n))}</channel></rss>" for n in ("07", "08")
    ]
    messages = [one.replace(":00 GMT", ":00:00 GMT") for one in messages]
    feed = Producer("rss", tmp_path, *messages)
    spans = SPANS.format("item", "concat($x/link, $x/title)")
    assert feed.ask(spans) == ["l 07:00 08:00", "l 08:00 now", "t 07:00 08:00", "t 08:00 now"]
    assert feed.refused == []


def notification(at: str, severity: str, qualifier: str) -> str:
    return (
        '<notification xmlns="urn:ietf:params:xml:ns:netconf:notification:1.0">'
        f"<eventTime>{DAY}{at}:00Z</eventTime>"
        '<alarm-notification xmlns="urn:ietf:params:xml:ns:yang:ietf-alarms">'
        f"<resource>e0</resource><alarm-type-id>los</alarm-type-id>{qualifier}<perceived-severity>{severity}"
        "</perceived-severity></alarm-notification></notification>"
    )


@pytest.mark.parametrize("qualifier", ["", "<alarm-type-qualifier/>"])
@pytest.mark.parametrize("between", ["", "\n]]>]]>\n"])
def test_alarms_without_a_qualifier_and_with_the_marks_between_messages(
    qualifier: str, between: str, tmp_path: Path
) -> None:
    both = [notification("08:00", "major", qualifier), notification("09:00", "cleared", qualifier)]
    feed = Producer("netconf", tmp_path, "".join(one + between for one in both))
    spans = SPANS.format("*:alarm-notification", "$x/*:resource")
    assert feed.ask(spans) == ["e0 08:00 09:00"]
    assert feed.refused == []


def test_messages_in_chunks_as_netconf_frames_them(tmp_path: Path) -> None:
    both = [notification("08:00", "major", ""), notification("09:00", "cleared", "")]
    framed = "".join(
        f"\n#{len(one[:50])}\n{one[:50]}\n#{len(one[50:])}\n{one[50:]}\n##\n" for one in both
    )
    feed = Producer("netconf", tmp_path, framed)
    spans = SPANS.format("*:alarm-notification", "$x/*:resource")
    assert feed.ask(spans) == ["e0 08:00 09:00"]
    assert feed.refused == []


def journey(at: str, *stops: str) -> str:
    times = "".join(
        f'<TimetabledPassingTime><PointInJourneyPatternRef ref="{one}"/></TimetabledPassingTime>'
        for one in stops
    )
    return (
        '<PublicationDelivery xmlns="http://www.netex.org.uk/netex">'
        f"<PublicationTimestamp>{DAY}{at}:00Z</PublicationTimestamp>"
        f'<ServiceJourney id="J" version="any" changed="{DAY}{at}:00Z"><passingTimes>{times}'
        "</passingTimes></ServiceJourney></PublicationDelivery>"
    )


def test_a_stop_that_a_journey_no_longer_has(tmp_path: Path) -> None:
    other = journey("09:30", "c").replace('id="J"', 'id="K"')
    messages = [journey("08:00", "a", "b"), journey("09:00", "a"), other]
    feed = Producer("netex", tmp_path, *messages)
    stops = 'stream("s")//*:ServiceJourney?[{0}]/*:TimetabledPassingTime/*/string(@ref)'
    assert feed.refused == []
    assert feed.ask(stops.format("now")) == ["a", "c"]
    assert feed.ask(stops.format(f"{DAY}08:30:00Z")) == ["a", "b"]


@pytest.mark.parametrize("kind", ["SIGMET", "VolcanicAshSIGMET", "TropicalCycloneSIGMET", "AIRMET"])
def test_every_kind_of_sigmet_ends_by_its_cancellation(kind: str, tmp_path: Path) -> None:
    def report(number: int, at: str, more: str, body: str) -> str:
        return (
            f'<i:{kind} xmlns:i="http://icao.int/iwxxm/3.0" '
            f'xmlns:g="http://www.opengis.net/gml/3.2" {more}>'
            f"<i:issueTime><g:TimeInstant><g:timePosition>{DAY}{at}:00Z</g:timePosition>"
            "</g:TimeInstant></i:issueTime><i:issuingAirTrafficServicesRegion><designator>YUDD"
            f"</designator></i:issuingAirTrafficServicesRegion><i:sequenceNumber>{number}"
            f"</i:sequenceNumber>{body}</i:{kind}>"
        )

    named = "<i:cancelledReportSequenceNumber>2</i:cancelledReportSequenceNumber>"
    messages = [report(2, "08:00", "", ""), report(3, "09:00", 'isCancelReport="true"', named)]
    feed = Producer("iwxxm", tmp_path, *messages)
    assert feed.ask(SPANS.format("*", "$x/*:sequenceNumber")) == ["2 08:00 09:00"]


EVENT = '<log4j:event timestamp="{0}" level="{1}"><log4j:message>m</log4j:message></log4j:event>\n'
EVENTS = EVENT.format(1714550400123, "INFO") + EVENT.format("1714550401000", "WARN")
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
SET = '<log4j:eventSet xmlns:log4j="http://jakarta.apache.org/log4j/" version="1.2">\n'


@pytest.mark.parametrize(
    "log",
    [
        EVENTS,
        DECLARATION + EVENTS,
        SET + EVENTS + "</log4j:eventSet>",
        DECLARATION + "<!-- a log -->\n" + SET + EVENTS,
    ],
)
def test_a_log_with_and_without_a_root(log: str, tmp_path: Path) -> None:
    feed = Producer("log4j", tmp_path, log)
    levels = 'stream("s")//*:event/concat(@level, " ", @vtFrom)'
    expected = ["INFO 2024-05-01T08:00:00.123Z", "WARN 2024-05-01T08:00:01Z"]
    assert feed.ask(levels) == expected
    assert feed.refused == []


LOG4J2 = (
    '<Event xmlns="http://logging.apache.org/log4j/2.0/events" level="INFO">'
    '<Instant epochSecond="1714550400" nanoOfSecond="123000000"/><Message>m</Message></Event>'
    '<Event xmlns="http://logging.apache.org/log4j/2.0/events" level="WARN" '
    'timeMillis="1714550401000"><Message>m</Message></Event>'
)


@pytest.mark.parametrize(
    "root", ["", '<Events xmlns="http://logging.apache.org/log4j/2.0/events">']
)
def test_the_second_log4j(root: str, tmp_path: Path) -> None:
    feed = Producer("log4j2", tmp_path, DECLARATION + root + LOG4J2)
    levels = 'stream("s")//*:Event/concat(@level, " ", @vtFrom)'
    expected = ["INFO 2024-05-01T08:00:00.123Z", "WARN 2024-05-01T08:00:01Z"]
    assert feed.ask(levels) == expected
    assert feed.refused == []


# -- AIXM: corrections of temporary states ------------------------------------------------------


def time_slice(kind: str, number: int, correction: int, times: str, length: int | None) -> str:
    said = "" if length is None else f"<x:length>{length}</x:length>"
    return (
        '<x:Runway xmlns:x="http://www.aixm.aero/schema/5.1.1" '
        'xmlns:g="http://www.opengis.net/gml/3.2"><g:identifier>R</g:identifier><x:timeSlice>'
        f"<x:RunwayTimeSlice><g:validTime{times}</g:validTime><x:interpretation>{kind}"
        f"</x:interpretation><x:sequenceNumber>{number}</x:sequenceNumber>"
        f"<x:correctionNumber>{correction}</x:correctionNumber>{said}"
        "</x:RunwayTimeSlice></x:timeSlice></x:Runway>"
    )


def lasting(begin: int, end: int | None) -> str:
    last = ' indeterminatePosition="unknown"/>' if end is None else f">{day(end)}</g:endPosition>"
    return (
        f"><g:TimePeriod><g:beginPosition>{day(begin)}</g:beginPosition><g:endPosition{last}"
        "</g:TimePeriod>"
    )


def day(number: int) -> str:
    return f"2024-05-{number:02}T00:00:00Z"


SLICES = (
    time_slice("BASELINE", 1, 0, lasting(1, None), 3000),
    time_slice("TEMPDELTA", 1, 0, lasting(10, 20), 2000),
    time_slice("TEMPDELTA", 1, 1, lasting(12, 20), 2100),  # it begins two days later
    time_slice("TEMPDELTA", 2, 0, lasting(25, 28), 1000),
    time_slice("TEMPDELTA", 2, 1, ' nilReason="inapplicable">', None),  # it does not take place
    time_slice("TEMPDELTA", 3, 0, lasting(29, 31), 2900),
)
LENGTHS = (
    'for $x in stream("s")//*:length return concat($x, " ", substring($x/@vtFrom, 9, 2), " ", '
    'if ($x/@vtTo = "now") then "now" else substring($x/@vtTo, 9, 2))'
)
CORRECTED = ["3000 01 12", "2100 12 20", "3000 20 29", "2900 29 now"]


def test_a_correction_takes_the_place_of_a_temporary_state_or_cancels_it(tmp_path: Path) -> None:
    feed = Producer("aixm", tmp_path, *SLICES)
    assert feed.ask(LENGTHS) == CORRECTED
    assert feed.refused == []


def test_corrections_in_any_order_and_with_a_decoder_that_starts_again(tmp_path: Path) -> None:
    orders = list(itertools.permutations(SLICES[1:5]))
    for number, order in enumerate(orders):
        watch, told = Watch(compiled(LENGTHS), {"s": "fragments"}), Accumulated()
        decoder = MappingDecoder("s", named_mapping("aixm"), names=watch.names)
        for one in (SLICES[0], *order, SLICES[5]):
            if number % 4 == 0:
                decoder = started_again(decoder)
            found = decoder.messages([Message(one.encode(), "")])
            watch.on_arrivals("s", found, decoder.ids)
            for change in watch.tick():
                told.apply(change)
        assert told.items() == CORRECTED, order


def started_again(decoder: MappingDecoder) -> MappingDecoder:
    """Another decoder, with what the tables of a checkpoint hold of this one."""
    to = TableWriter()
    write_mapped(to, "d", decoder)
    other = MappingDecoder("s", decoder.mapping, names=decoder.names)
    read_mapped(TableReader(to.finish(), to.facts, decoder.names), "d", other)
    return other
