"""The W3C cases in scope, judged by SaxonC-HE: what fails is in the ledger, and nothing else is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CASES = ROOT.parent / "shared" / "qt3"
REST = "cases-open-tier3.jsonl"  # maps, arrays, JSON, modules, serialisation, …
WORDS = ("never", "not yet", "to do")

pytest.importorskip("saxonche", reason="the judge is not installed")
pytestmark = pytest.mark.skipif(
    not (CASES / "run.py").exists(), reason="the W3C cases are not beside the checkout"
)


def ledger() -> dict[str, str]:
    """The word for every case that is known to fail."""
    lines = (Path(__file__).parent / "w3c_ledger.txt").read_text("utf-8").splitlines()
    rows = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    return {name: next(word for word in WORDS if rest.startswith(word)) for name, rest in rows}


def verdicts(out: Path, *choice: str, cases: str = "cases-open.jsonl") -> dict[str, str]:
    """The verdict on every case of the choice."""
    engine = f"{sys.executable} -m xstreamcast eval"
    command = [sys.executable, str(CASES / "run.py"), str(CASES / cases)]
    options = ["--cmd", engine, "--judge-python", sys.executable, "--out", str(out)]
    subprocess.run([*command, *options, *choice], cwd=ROOT, check=True, capture_output=True)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    return {row["name"]: row["verdict"] for row in rows}


def test_windows_and_flwor(tmp_path: Path) -> None:
    found = verdicts(tmp_path / "out", "--group", "window,flwor,trycatch")
    failed = {name for name, verdict in found.items() if verdict != "pass"}
    assert len(found) > 500
    assert failed <= set(ledger())


def test_lookups_arrays_and_modules(tmp_path: Path) -> None:
    groups = "lookup,array,module,string-ctor,load-module"
    found = verdicts(tmp_path / "out", "--group", groups, cases=REST)
    failed = {name for name, verdict in found.items() if verdict != "pass"}
    assert len(found) > 400
    assert failed <= set(ledger())


def test_columns_alone_answer_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rules for one row: nothing may depend on them but time."""
    monkeypatch.setenv("XSC_SINGLE_ROWS", "off")
    found = verdicts(tmp_path / "out", "--group", "flwor,trycatch")
    failed = {name for name, verdict in found.items() if verdict != "pass"}
    assert len(found) > 300
    assert failed <= set(ledger())


@pytest.mark.thorough
@pytest.mark.parametrize("rows", ["on", "off"])
def test_all_cases_in_scope(rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XSC_SINGLE_ROWS", rows)
    found = verdicts(tmp_path / "out") | verdicts(tmp_path / "rest", cases=REST)
    failed = {name for name, verdict in found.items() if verdict != "pass"}
    assert failed == set(ledger()), "the ledger names what fails, all of it and no more"
