"""The command explain: every stage, from the line or from a file, and its mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from xstreamcast.cli.main import main


def explained(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["explain", *words])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def test_the_plan_is_what_is_shown_if_no_stage_is_asked_for(capsys) -> None:
    assert explained(capsys, "-q", "1 + 2") == (0, "+(1, 2)\n", "")


def test_the_tree_is_shown_as_parsed(capsys) -> None:
    status, out, _ = explained(capsys, "--stage", "tree", "-q", "1 + 2")
    assert status == 0
    assert "Arithmetic" in out


def test_a_file_is_read_and_named_in_errors(capsys, tmp_path: Path) -> None:
    path = tmp_path / "watch.xq"
    path.write_text("let $bids := 1\nreturn $bid", "utf-8")
    status, out, err = explained(capsys, str(path))
    assert (status, out) == (3, "")
    assert "watch.xq:2:8" in err
    assert "did you mean $bids, bound on line 1?" in err


def test_a_query_is_given_once(capsys) -> None:
    assert explained(capsys)[0] == 2
    assert explained(capsys, "-q", "1", "file.xq")[0] == 2


def test_a_file_that_is_not_there_is_said(capsys, tmp_path: Path) -> None:
    status, _, err = explained(capsys, str(tmp_path / "nosuch.xq"))
    assert status == 2
    assert "nosuch.xq" in err


def test_what_waits_for_an_end_is_noted_or_refused(capsys) -> None:
    query = "declare variable $s as (temp)** external; count($s)"
    status, out, _ = explained(capsys, "-q", query)
    assert status == 0
    assert "note: fn:count needs the end of $s" in out
    assert explained(capsys, "--policy", "strict", "-q", query)[0] == 3
