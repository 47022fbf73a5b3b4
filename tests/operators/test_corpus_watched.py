"""The scripts of the corpus, watched: the changes so far add up to the answer of each moment."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.corpus_format import Moment, Script, read_script
from tests.corpus_functions import register
from tests.operators.watched import Watched
from tests.oracle import canonical
from xstreamcast.errors import Error
from xstreamcast.model.change import Change
from xstreamcast.operators.watching.inputs import Policy

FOLDER = Path(__file__).parents[1] / "corpus"
SCRIPTS = [*sorted(FOLDER.glob("*.stream")), *sorted((FOLDER / "updates").glob("*.stream"))]


@pytest.fixture(scope="module", autouse=True)
def _registered() -> None:
    register()


class WatchedScript(Watched):
    """A script on its way through a watch."""

    def __init__(
        self, script: Script, policy: Policy = "optimistic", shallow: bool = False
    ) -> None:
        updates = [name for name, structure in script.structures.items() if not structure]
        super().__init__(
            script.query, dict.fromkeys(script.structures, "fragments"), updates=updates,
            on_error="stop", policy=policy, shallow=shallow,
        )  # fmt: skip
        for name in self.decoders:
            self.feed(name, script.beginning(name))

    def check(self, moment: Moment) -> None:
        """The accumulated answer is what the script expects by now."""
        if moment.expected is not None:
            expected = [canonical(line) for line in moment.expected]
            assert [canonical(item) for item in self.told.items()] == expected, moment.line


def moments(script: Script) -> list[Moment]:
    return [one for one in script.moments if not one.past]


def shown(changes: list[Change]) -> list[str]:
    return [f"{'+' if one.diff > 0 else '-'} {canonical(one.item)}" for one in changes]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_watched_says_what_it_says_asked(path: Path):
    script = read_script(path)
    watched = WatchedScript(script)
    for moment in moments(script):
        changes = watched.feed(moment.stream, moment.arrives.encode())
        watched.check(moment)
        if "optimistic" in moment.changes:
            expected = [canonical(line[2:]) for line in moment.changes["optimistic"]]
            assert [one[2:] for one in shown(changes)] == expected, moment.line
            assert [one[0] for one in shown(changes)] == [
                line[0] for line in moment.changes["optimistic"]
            ]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
@given(data=st.data())
@settings(max_examples=examples(2))
def test_however_what_arrives_is_cut(path: Path, data: st.DataObject):
    script = read_script(path)
    watched = WatchedScript(script)
    for moment in moments(script):
        raw = moment.arrives.encode()
        while raw:
            size = data.draw(st.integers(1, max(1, len(raw))))
            watched.feed(moment.stream, raw[:size])
            raw = raw[size:]
        watched.check(moment)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_strict_says_the_same_at_the_end(path: Path):
    script = read_script(path)
    watched, both = WatchedScript(script, "strict"), WatchedScript(script)
    for moment in moments(script):
        changes = watched.feed(moment.stream, moment.arrives.encode())
        both.feed(moment.stream, moment.arrives.encode())
        if "strict" in moment.changes:
            assert shown(changes) == moment.changes["strict"], moment.line
    watched.end()
    both.end()
    assert watched.told.items() == both.told.items()


def test_the_corpus_has_scripts():
    assert len(SCRIPTS) > 20
    every = [one for path in SCRIPTS for one in moments(read_script(path))]
    assert [one.line for one in every if "optimistic" not in one.changes] == []
    with pytest.raises(Error):
        WatchedScript(Script(Path(), query="1 +"))
