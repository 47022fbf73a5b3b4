"""`watch --checkpoint` after a crash at every call that writes: the answer is that of no crash."""

from __future__ import annotations

import shutil
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pytest

from tests.faults.disk import Failing, restore, state_of, states
from tests.operators.test_checkpoints import INCIDENTS, ROADS
from xstreamcast.cli.main import main
from xstreamcast.edges.disk import FolderLock, using

QUERY = """for $i in stream("roads")//incident?[now] where $i/severity >= 4
    order by $i/@n return <hot n="{$i/@n}">{$i/severity/text()}</hot>"""
BAD = '<filler id="{}" tsid="2" validTime="no time"><incident n="{}"/></filler>\n'
OUTPUTS = ("out", "refused")


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    """A folder of files, each with fragments and one that is refused."""
    folder = tmp_path / "feed"
    folder.mkdir()
    parts = [ROADS, *("".join(INCIDENTS[at : at + 6]) for at in range(0, 18, 6))]
    for number, part in enumerate(parts):
        (folder / f"{number}.xml").write_text(part + BAD.format(number + 1, number))
    return folder


class Watched:
    """The command over one feed, in a folder of its own each time."""

    def __init__(self, feed: Path, *words: str) -> None:
        self.feed, self.words = feed, words

    def run(self, root: Path) -> tuple[int, str]:
        """Start it, or start it again → its exit code, and what it said."""
        command = ["watch", "-q", QUERY, "-i", f"roads={self.feed}", "--batch", "3"]
        command += ["-o", str(root / "out"), "--quarantine", str(root / "refused")]
        command += ["--checkpoint", str(root / "state"), *self.words]
        with redirect_stderr(StringIO()) as said:
            status = main(command)
        return status, said.getvalue()

    def undisturbed(self, root: Path) -> tuple[Failing, dict[str, bytes]]:
        root.mkdir()
        calls = Failing(root)
        with using(calls):
            status, said = self.run(root)
        assert status == 0, said
        return calls, outputs(root)


def outputs(root: Path) -> dict[str, bytes]:
    return {name: (root / name).read_bytes() for name in OUTPUTS if (root / name).exists()}


EVERY = ("--snapshot-every", "1")
WAYS = {
    "snapshots and events": ("--format", "events", *EVERY),
    "xml": ("--format", "xml"),
    "a limit": ("--format", "lines", "--limit", "9"),
}
MORE = {
    "changes": ("--format", "changes"),
    "lines": ("--format", "lines"),
    "events": ("--format", "events"),
    "events-xml": ("--format", "events-xml"),
    "updates": ("--format", "updates"),
    "snapshots": ("--format", "changes", *EVERY),
    "snapshots and updates": ("--format", "updates", *EVERY),
    "snapshots and xml": ("--format", "xml", *EVERY),
    "snapshots and events as XML": ("--format", "events-xml", *EVERY),
    "strict": ("--format", "changes", "--policy", "strict"),
}


def crashes(words: tuple[str, ...], feed: Path, tmp_path: Path) -> None:
    watched = Watched(feed, *words)
    calls, expected = watched.undisturbed(tmp_path / "whole")
    assert set(expected) == set(OUTPUTS)
    tried = 0
    for number, variant, state in states(calls.root_path, calls.log):
        root = tmp_path / "crashed"
        restore(state, calls.root_path, root)
        status, said = watched.run(root)
        assert (status, outputs(root)) == (0, expected), (number, variant, calls.log[:number], said)
        shutil.rmtree(root)
        tried += 1
    assert tried > len(calls.log)


@pytest.mark.parametrize("words", WAYS.values(), ids=WAYS)
def test_power_is_lost_after_any_call(words: tuple[str, ...], feed: Path, tmp_path: Path):
    crashes(words, feed, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("words", MORE.values(), ids=MORE)
def test_power_is_lost_after_any_call_in_other_ways(words, feed: Path, tmp_path: Path):
    crashes(words, feed, tmp_path)


@pytest.mark.thorough
def test_power_is_lost_a_second_time_after_any_call(feed: Path, tmp_path: Path):
    """After some crashes, again after every call of the command that goes on."""
    watched = Watched(feed, *WAYS["snapshots and events"])
    calls, expected = watched.undisturbed(tmp_path / "whole")
    for number, (_, variant, state) in enumerate(states(calls.root_path, calls.log)):
        if number % 23:
            continue
        root = tmp_path / "crashed"
        restore(state, calls.root_path, root)
        more = Failing(root)
        with using(more):
            watched.run(root)
        left = list(states(root, more.log, state_of(state, calls.root_path, root)))
        for again, how, second in left[::3]:
            third = tmp_path / "again"
            restore(second, root, third)
            status, said = watched.run(third)
            assert (status, outputs(third)) == (0, expected), (number, variant, again, how, said)
            shutil.rmtree(third)
        shutil.rmtree(root)


@pytest.mark.parametrize("how", ["full", "cut", "broken"])
def test_any_call_fails(how: str, feed: Path, tmp_path: Path):
    """A full or broken disk ends the command with a sentence; started again it goes on."""
    watched = Watched(feed, *WAYS["snapshots and events"])
    calls, expected = watched.undisturbed(tmp_path / "whole")
    ended = 0
    for number in range(len(calls.log)):
        root = tmp_path / "failing"
        root.mkdir()
        with using(Failing(root, number, how)):
            status, said = watched.run(root)
        assert "Traceback" not in said, said
        assert "internal error" not in said, said
        assert status in (0, 2), said
        if status:
            assert "error[XSCU0004]" in said
            assert "cannot be written" in said or "does not fit" in said, said
            assert str(root) in said
            ended += 1
        status, said = watched.run(root)
        assert (status, outputs(root)) == (0, expected), (number, calls.log[number], said)
        shutil.rmtree(root)
    assert ended > len(calls.log) // 2


def test_two_processes_do_not_share_a_checkpoint(feed: Path, tmp_path: Path):
    watched = Watched(feed, "--format", "changes")
    watched.undisturbed(tmp_path / "whole")
    lock = FolderLock(tmp_path / "whole" / "state", "the checkpoint")
    status, said = watched.run(tmp_path / "whole")
    lock.close()
    assert status == 2
    assert "is in use by another process" in said
    assert watched.run(tmp_path / "whole")[0] == 0


def test_an_output_that_is_not_what_was_written_is_refused(feed: Path, tmp_path: Path):
    root = tmp_path / "whole"
    watched = Watched(feed, "--format", "changes")
    watched.undisturbed(root)
    (root / "out").write_bytes(b"")
    status, said = watched.run(root)
    assert status == 2
    assert "holds 0 bytes, where the checkpoint counts" in said
    assert (root / "out").read_bytes() == b""


def test_a_checkpoint_belongs_to_one_form(feed: Path, tmp_path: Path):
    root = tmp_path / "whole"
    Watched(feed, "--format", "changes").undisturbed(root)
    before = outputs(root)
    status, said = Watched(feed, "--format", "events").run(root)
    assert status == 2
    assert "was begun with --format changes, not events" in said
    assert outputs(root) == before
