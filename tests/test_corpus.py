"""Every script of the corpus: SaxonC-HE on three translations, and we with three strategies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from tests.corpus_format import Script, materialised, read_script, with_answers
from tests.corpus_functions import register
from tests.oracle import STRATEGIES, answer, canonical
from xstreamcast.algebra.translate import Strategy

pytest.importorskip("saxonche")

FOLDER = Path(__file__).parent / "corpus"
FILES = [*sorted(FOLDER.glob("*.stream")), *sorted((FOLDER / "updates").glob("*.stream"))]


OURS = (*STRATEGIES, "auto")


@pytest.fixture(scope="module", autouse=True)
def _registered() -> None:
    """The functions that scripts define in XQuery for Saxon."""
    register()


def test_the_corpus_is_there() -> None:
    assert len(FILES) > 25


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_saxon_answers_as_written_with_every_translation(
    path: Path, request: pytest.FixtureRequest
) -> None:
    script = read_script(path)
    if request.config.getoption("--accept"):
        path.write_text(with_answers(script, [a for _, a in _saxon(script, "caq")]), "utf-8")
        script = read_script(path)
    for strategy in STRATEGIES:
        for expected, found in _saxon(script, strategy):
            assert found == expected, strategy


def _saxon(script: Script, strategy: Strategy) -> list[tuple[list[str], list[str]]]:
    """Expected and found, at each moment that has an answer."""
    return [
        (
            [canonical(line) for line in moment.expected or []],
            answer(
                script.plain or script.query,
                {n: one if script.structures[n] else materialised(one) for n, one in wire.items()},
                as_of=instant,
                strategy=strategy,
                definitions=script.definitions,
            ),
        )
        for moment, wire, instant in script.questions()
    ]


@pytest.mark.parametrize("strategy", OURS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_we_answer_as_written_with_every_strategy(path: Path, strategy: str) -> None:
    script = read_script(path)
    query = xsc.query(script.query)
    for moment, wire, instant in script.questions():
        inputs: dict[str, Any] = dict(wire)
        found = query.run(as_of=instant, strategy=strategy, **inputs).lines()
        expected = [canonical(line) for line in moment.expected or []]
        assert [canonical(line) for line in found] == expected, moment
