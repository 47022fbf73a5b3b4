"""Reports that correct each other in any order, and retractions that name only a correlation."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import xstreamcast as xsc

DAY = "2024-08-01T"
SPACES = 'xmlns="http://icao.int/iwxxm/3.0" xmlns:g="urn:g" xmlns:a="urn:a"'


def issued(at: str) -> str:
    return f"<issueTime><g:timePosition>{DAY}{at}:00Z</g:timePosition></issueTime>"


def metar(status: str, degrees: int) -> str:
    where = "<aerodrome><a:locationIndicatorICAO>YUDO</a:locationIndicatorICAO></aerodrome>"
    seen = f"<observationTime><g:timePosition>{DAY}12:00:00Z</g:timePosition></observationTime>"
    heat = f"<airTemperature>{degrees}</airTemperature>"
    return f"<METAR {SPACES} {status}>{issued('12:00')}{where}{seen}{heat}</METAR>"


def warning(kind: str, at: str, cancels: str = "") -> str:
    region = "<issuingAirTrafficServicesRegion><a:designator>YUDD</a:designator>"
    body = (
        f"{issued(at)}{region}</issuingAirTrafficServicesRegion><sequenceNumber>1</sequenceNumber>"
    )
    if not cancels:
        return f"<{kind} {SPACES}>{body}</{kind}>"
    named = f"<cancelledReportSequenceNumber>{cancels}</cancelledReportSequenceNumber>"
    return f'<{kind} {SPACES} isCancelReport="true">{body}{named}</{kind}>'


def answer(query: str, source: str, folder: Path, messages: tuple[str, ...]) -> list[str]:
    folder.mkdir()
    for number, text in enumerate(messages):
        (folder / f"{number}.xml").write_text(text)
    return [str(item) for item in xsc.query(query).run(s=f"{source}:{folder}")]


@pytest.mark.parametrize("word", ['reportStatus="{0}"', 'status="{0}"'])
def test_a_correction_counts_in_any_order(word: str, tmp_path: Path) -> None:
    normal, corrected = metar(word.format("NORMAL"), 81), metar(word.format("CORRECTION"), 18)
    query = 'stream("s")//*:METAR/*:airTemperature/string()'
    for number, order in enumerate(itertools.permutations([normal, corrected])):
        assert answer(query, "iwxxm", tmp_path / str(number), order) == ["18"]


def test_sigmets_and_airmets_are_numbered_apart(tmp_path: Path) -> None:
    query = 'sort(stream("s")/*/*?[now]/local-name())'
    both = warning("SIGMET", "10:00"), warning("AIRMET", "10:05")
    assert answer(query, "iwxxm", tmp_path / "both", both) == ["AIRMET", "SIGMET"]
    ended = *both, warning("AIRMET", "11:00", "1")
    assert answer(query, "iwxxm", tmp_path / "ended", ended) == ["SIGMET"]


def test_a_retraction_names_only_the_correlation(tmp_path: Path) -> None:
    def message(kind: str, minute: int, correlation: str, rest: str = "") -> str:
        made = f"<creationTimestamp>2024-02-01T09:0{minute}:00Z</creationTimestamp>"
        known = f'<correlationId correlationIdScheme="urn:c">{correlation}</correlationId>'
        return f'<{kind} xmlns="urn:f"><header>{made}</header>{known}{rest}</{kind}>'

    def trade(name: str) -> str:
        known = f"<partyTradeIdentifier><tradeId>{name}</tradeId></partyTradeIdentifier>"
        return f"<trade><tradeHeader>{known}</tradeHeader></trade>"

    messages = [
        message("executionNotification", 1, "C1", trade("T1")),
        message("executionNotification", 2, "C2", trade("T2")),
        message("executionRetracted", 3, "C1"),
    ]
    query = 'stream("s")//*:trade?[now]//*:tradeId/string()'
    for number, order in enumerate(itertools.permutations(messages)):
        assert answer(query, "fpml", tmp_path / str(number), order) == ["T2"]
