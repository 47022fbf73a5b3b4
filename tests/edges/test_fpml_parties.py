"""Trades of one id: in two schemes, or of two parties, they are two trades."""

from __future__ import annotations

from pathlib import Path

import pytest

import xstreamcast as xsc

HEAD = "<header><creationTimestamp>2024-05-01T08:0{0}:00Z</creationTimestamp></header>"
NAMED = '<partyTradeIdentifier><partyReference href="p"/><tradeId{0}>T1</tradeId>'
PARTY = '<party id="p"><partyId>{0}</partyId></party>'
QUERY = 'stream("t")//*:trade?[now]//*:amount/string()'


def created(minute: int, scheme: str, party: str) -> str:
    named = NAMED.format(f' tradeIdScheme="{scheme}"' if scheme else "")
    header = f"<tradeHeader>{named}</partyTradeIdentifier></tradeHeader>"
    trade = f"<trade>{header}<fra><amount>{minute}</amount></fra></trade>"
    body = f"{HEAD.format(minute)}{trade}{PARTY.format(party)}"
    return f'<requestConfirmation xmlns="urn:f">{body}</requestConfirmation>'


def retracted(scheme: str, party: str) -> str:
    named = NAMED.format(f' tradeIdScheme="{scheme}"' if scheme else "")
    body = f"{HEAD.format(9)}{named}</partyTradeIdentifier>{PARTY.format(party)}"
    return f'<confirmationRetracted xmlns="urn:f">{body}</confirmationRetracted>'


@pytest.mark.parametrize(
    ("one", "other"), [(("urn:a", "A"), ("urn:b", "A")), (("", "A"), ("", "B"))]
)
def test_trades_of_one_id(one: tuple[str, str], other: tuple[str, str], tmp_path: Path) -> None:
    messages = [created(1, *one), created(2, *other), retracted(*one)]
    for number, text in enumerate(messages):
        (tmp_path / f"{number}.xml").write_text(text)
    assert [str(item) for item in xsc.query(QUERY).run(t=f"fpml:{tmp_path}")] == ["2"]
    (tmp_path / "2.xml").unlink()
    assert [str(item) for item in xsc.query(QUERY).run(t=f"fpml:{tmp_path}")] == ["1", "2"]
