"""Shipped mappings: updates that keep their key, parts of trades, days of validity, changesets."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import xstreamcast as xsc
from xstreamcast.edges.mapping import decoder
from xstreamcast.model.change import Accumulated

DAY = "2024-05-01T"


@pytest.fixture(autouse=True)
def one_message_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder, "MOST", 1)


def check(mapping: str, folder: Path, messages: list[str], query: str, expected: list[str]) -> None:
    """The answer, once and left running, in every order of arrival."""
    for number, order in enumerate(itertools.permutations(messages)):
        source = folder / str(number)
        source.mkdir()
        for k, one in enumerate(order):
            (source / f"{k}.xml").write_text(one)
        place = Path(f"{mapping}:{source}")
        assert list(xsc.query(query).run(s=place).lines()) == expected
        accumulated = Accumulated()
        for change in xsc.query(query).watch(s=place):
            accumulated.apply(change)
        assert accumulated.items() == expected


def alert(
    name: str, minute: int, kind: str = "Alert", refers: str = "", version: str = "1.2"
) -> str:
    uri = {"1.0": "http://www.incident.com/cap/1.0"}.get(
        version, f"urn:oasis:names:tc:emergency:cap:{version}"
    )
    references = f"<references>{refers}</references>" if refers else ""
    return (
        f'<alert xmlns="{uri}"><identifier>{name}</identifier><sender>w@x</sender>'
        f"<sent>{DAY}08:{minute:02}:00-00:00</sent><msgType>{kind}</msgType>{references}</alert>"
    )


ALERTS = (
    'for $a in stream("s")//*:alert return string-join(($a/*:identifier, ($a/@vtFrom, $a/@vtTo) '
    '! (if (. = "now") then "now" else substring(., 15, 2))), " ")'
)


def test_an_update_may_keep_the_identifier_of_what_it_updates(tmp_path: Path) -> None:
    named = f"w@x,A,{DAY}08:00:00-00:00"
    messages = [alert("A", 0), alert("A", 10, "Update", named)]
    check("cap", tmp_path, messages, ALERTS, ["A 00 10", "A 10 now"])
    (tmp_path / "gone").mkdir()
    messages.append(alert("A", 20, "Cancel", f"{named} w@x,A,{DAY}08:10:00-00:00"))
    check("cap", tmp_path / "gone", messages, ALERTS, ["A 00 10", "A 10 20"])


def test_references_of_the_first_version_of_cap(tmp_path: Path) -> None:
    update = alert("C", 20, "Update", "A/w@x B/w@x", "1.0")
    messages = [alert("A", 0, version="1.0"), alert("B", 10, version="1.0"), update]
    check("cap", tmp_path, messages, ALERTS, ["A 00 20", "B 10 20", "C 20 now"])


def identifier(name: str) -> str:
    return f"<partyTradeIdentifier><tradeId>{name}</tradeId></partyTradeIdentifier>"


def trade(name: str, element: str = "trade") -> str:
    return f"<{element}><tradeHeader>{identifier(name)}</tradeHeader></{element}>"


def confirmation(minute: int, body: str) -> str:
    made = f"<creationTimestamp>{DAY}08:{minute:02}:00Z</creationTimestamp>"
    return (
        f'<requestConfirmation xmlns="urn:f"><header>{made}</header>'
        f"<correlationId>{minute}</correlationId>{body}</requestConfirmation>"
    )


@pytest.mark.parametrize(("rest", "expected"), [(60, ["T1"]), (0, [])])
def test_a_part_of_a_trade_is_terminated(rest: int, expected: list[str], tmp_path: Path) -> None:
    left = f"<outstandingNotionalAmount><amount>{rest}</amount></outstandingNotionalAmount>"
    known = f"<tradeIdentifier>{identifier('T1')}</tradeIdentifier>"
    for number, named in enumerate([known, trade("T1", "originalTrade")]):
        folder = tmp_path / str(number)
        folder.mkdir()
        messages = [
            confirmation(0, trade("T1")),
            confirmation(1, f"<termination>{named}{left}</termination>"),
        ]
        query = 'stream("s")//*:trade?[now]//*:tradeId/string()'
        check("fpml", folder, messages, query, expected)


@pytest.mark.parametrize(("rest", "expected"), [("", ["T9"]), ("40", ["T1", "T9"])])
def test_a_novation_replaces_a_trade(rest: str, expected: list[str], tmp_path: Path) -> None:
    left = f"<remainingAmount><amount>{rest}</amount></remainingAmount>" if rest else ""
    body = f"{trade('T1', 'oldTrade')}{trade('T9', 'newTrade')}{left}"
    messages = [
        confirmation(0, trade("T1")),
        confirmation(1, f"<novation>{body}</novation>"),
    ]
    query = 'sort(stream("s")/*/*?[now]//*:tradeId/string())'
    check("fpml", tmp_path, messages, query, expected)


def journey(hour: int, name: str, departs: str, valid: str = "") -> str:
    return (
        '<PublicationDelivery xmlns="http://www.netex.org.uk/netex">'
        f"<PublicationTimestamp>{DAY}{hour:02}:00:00Z</PublicationTimestamp>"
        f'<ServiceJourney id="{name}" version="{hour}">{valid}<passingTimes>'
        f'<TimetabledPassingTime id="P"><DepartureTime>{departs}</DepartureTime>'
        "</TimetabledPassingTime></passingTimes></ServiceJourney></PublicationDelivery>"
    )


def valid(begin: int, end: int | None, within: str = "") -> str:
    to = "" if end is None else f"<ToDate>{DAY}{end:02}:00:00Z</ToDate>"
    body = f"<ValidBetween><FromDate>{DAY}{begin:02}:00:00Z</FromDate>{to}</ValidBetween>"
    return f"<{within}>{body}</{within}>" if within else body


@pytest.mark.parametrize("within", ["", "validityConditions"])
def test_journeys_hold_from_their_first_to_their_last_day(within: str, tmp_path: Path) -> None:
    query = 'for $j in stream("s")//*:ServiceJourney?[now] return $j/@id || $j//*:DepartureTime'
    messages = [
        journey(6, "over", "08:00:00", valid(0, 7, within)),
        journey(7, "kept", "08:00:00", valid(0, None, within)),
        journey(8, "kept", "09:00:00", valid(20, None, within)),
        journey(9, "other", "10:00:00"),
    ]
    check("netex", tmp_path, messages, query, ["kept08:00:00", "other10:00:00"])


def test_changesets_are_closed(tmp_path: Path) -> None:
    def changeset(number: int, changes: int, closed: str = "") -> str:
        rest = f' closed_at="{DAY}09:00:00Z"' if closed else ""
        return (
            f'<osm version="0.6"><changeset id="{number}" created_at="{DAY}08:00:00Z"{rest} '
            f'open="{"false" if closed else "true"}" num_changes="{changes}"/></osm>'
        )

    messages = [changeset(1, 2), changeset(1, 3), changeset(1, 5, "closed"), changeset(2, 1)]
    query = 'stream("s")//changeset?[now]/concat(@id, @open, @num_changes)'
    check("osmchange", tmp_path, messages, query, ["1false5", "2true1"])


def test_an_entry_deleted_in_the_second_of_its_update(tmp_path: Path) -> None:
    at = f"{DAY}08:00:00Z"
    entry = f'<entry xmlns="http://www.w3.org/2005/Atom"><id>e</id><updated>{at}</updated></entry>'
    gone = f'<deleted-entry xmlns="http://purl.org/atompub/tombstones/1.0" ref="e" when="{at}"/>'
    check("atom", tmp_path, [entry, gone], 'stream("s")//*:entry?[now]/*:id/string()', [])


def test_identifiers_with_spaces_in_references(tmp_path: Path) -> None:
    def spaced(text: str) -> str:
        return text.replace(">w@x<", ">The Office<").replace(">A<", ">urn oid 1<")

    named = f"The Office,urn oid 1,{DAY}08:00:00-00:00"
    messages = [spaced(alert("A", 0)), spaced(alert("B", 10, "Update", named))]
    check("cap", tmp_path, messages, ALERTS, ["B 10 now", "urn oid 1 00 10"])


def test_a_message_that_is_rejected_says_nothing_of_its_trade(tmp_path: Path) -> None:
    original = f"<originalMessage><executionNotification>{trade('T9')}</executionNotification>"
    messages = [
        confirmation(0, trade("T1")),
        confirmation(1, f"<additionalData>{original}</originalMessage></additionalData>"),
    ]
    check("fpml", tmp_path, messages, 'stream("s")//*:tradeId/string()', ["T1"])


def test_a_trade_is_withdrawn(tmp_path: Path) -> None:
    messages = [
        confirmation(0, trade("T1")),
        confirmation(1, f"<withdrawal>{identifier('T1')}</withdrawal>"),
    ]
    query = 'stream("s")//*:trade ! minutes-from-dateTime(@vtTo)'
    check("fpml", tmp_path, messages, query, ["1"])


def test_invoices_are_known_by_who_issued_them(tmp_path: Path) -> None:
    def invoice(kind: str, number: str, by: str, day: int) -> str:
        party = f"<AccountingSupplierParty><Party><EndpointID>{by}</EndpointID></Party>"
        issued = f"<IssueDate>2024-05-0{day}</IssueDate>"
        return f"<{kind}><ID>{number}</ID>{issued}{party}</AccountingSupplierParty></{kind}>"

    messages = [
        invoice("Invoice", "1", "a", 1),
        invoice("Invoice", "1", "b", 2),
        invoice("CreditNote", "1", "a", 3),
    ]
    query = 'sort(stream("s")/*/*?[now] ! (name() || day-from-date(xs:date(*:IssueDate))))'
    expected = ["CreditNote3", "Invoice1", "Invoice2"]
    check("ubl", tmp_path, messages, query, expected)
