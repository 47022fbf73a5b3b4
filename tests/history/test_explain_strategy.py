"""`explain --stage strategy`: which strategy a query gets for each stream, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.history.telling import CREDIT, filler, hole
from xstreamcast.cli.main import main

SAID = {
    'stream("credit")//status/text()': """
stream credit: qac+, because paths name all elements of their tags
  fragments read: status
  passed by links alone: accounts, account, charge
  in place, where they have no holes and arrived in order
""",
    'for $a in stream("credit")//account return <n>{count($a/charge[status = "paid"])}</n>': """
stream credit: qac+, because paths name all elements of their tags
  fragments read: status
  of these only their attributes and what fills their holes: account, charge
  passed by links alone: accounts
""",
    'stream("credit")//limit/..': """
stream credit: caq, because the query reads every tag
  fragments read: accounts, account, limit, charge, status, address
""",
}


@pytest.mark.parametrize("query", SAID)
def test_a_structure_or_a_stream_says_what_is_read(
    query: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    described, arrived = tmp_path / "credit.ts", tmp_path / "credit.xml"
    described.write_text(CREDIT)
    arrived.write_text(CREDIT + filler(0, 1, "1", f"<accounts>{hole(1, 2)}</accounts>"))

    for given in (["--structure", f"credit={described}"], ["-i", f"credit={arrived}"]):
        assert main(["explain", "--stage", "strategy", "-q", query, *given]) == 0
        assert capsys.readouterr().out == SAID[query].lstrip()


def test_without_streams_there_is_nothing_to_choose(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--stage", "strategy", "-q", "1"]) == 2
    assert "no stream was given" in capsys.readouterr().err
