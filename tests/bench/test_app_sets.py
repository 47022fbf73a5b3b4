"""`bench recursion --app` measures the cases of the W3C suite, or says that they are not there."""

from pathlib import Path

import pytest

from bench import app_sets


def test_cases_that_are_not_there_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app_sets.report(tmp_path, 1, []) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert f"the W3C cases are not here: {tmp_path}" in told.err


@pytest.mark.skipif(not app_sets.SUITE.exists(), reason="the W3C cases are not beside the project")
def test_both_answer_some_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert app_sets.report(app_sets.SUITE, 1, ["xmp-queries-results-q2"]) == 0
    assert " times" in capsys.readouterr().out


@pytest.mark.skipif(not app_sets.SUITE.exists(), reason="the W3C cases are not beside the project")
def test_a_name_that_no_case_has_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert app_sets.report(app_sets.SUITE, 1, ["no such case"]) == 1
    assert "no such case" in capsys.readouterr().err
