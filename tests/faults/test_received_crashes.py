"""What cannot be read again after a crash: the bytes of pipes, and frames of the network."""

from __future__ import annotations

import os
import shutil
import threading
import time
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

from tests.faults.disk import Failing, restore, states
from tests.faults.test_watch_crashes import QUERY
from tests.operators.test_checkpoints import INCIDENTS, ROADS
from xstreamcast.cli.main import main
from xstreamcast.edges.disk import using
from xstreamcast.edges.sources.frames import MESSAGE, FrameLog, MessageFrame
from xstreamcast.edges.sources.xml_log import XmlLog
from xstreamcast.edges.watching.journal_lines import read_lines

PIECES = [part.encode() for part in (ROADS, *("".join(INCIDENTS[at : at + 4]) for at in (0, 4, 8)))]


class Sender(threading.Thread):
    """Sends what did not count before, a piece after each line of the journal."""

    def __init__(self, pipe: Path, journal: Path) -> None:
        super().__init__(daemon=True)
        self.pipe, self.journal = pipe, journal
        self.counted = sum(n for line in self._lines() for _, n in line.read if n > 0)

    def _lines(self):
        return read_lines(self.journal, 0)[1]

    def run(self) -> None:
        passed = self.counted
        known = len(self._lines())
        with open(self.pipe, "wb", buffering=0) as pipe:
            for piece in PIECES:
                rest, passed = piece[passed:], max(passed - len(piece), 0)
                if not rest:
                    continue
                pipe.write(rest)
                until = time.monotonic() + 20
                while len(self._lines()) <= known and time.monotonic() < until:
                    time.sleep(0.001)
                known = len(self._lines())


def piped(root: Path, pipe: Path) -> tuple[int, str]:
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    sender = Sender(pipe, root / "state" / "journal")
    sender.start()
    words = ["watch", "-q", QUERY, "-i", f"roads={pipe}", "--batch", "3", "-o", str(root / "out")]
    with redirect_stderr(StringIO()) as said:
        status = main([*words, "--checkpoint", str(root / "state"), "--format", "lines"])
    sender.join()
    return status, said.getvalue()


def test_power_is_lost_while_a_pipe_is_read(tmp_path: Path):
    whole, pipe = tmp_path / "whole", tmp_path / "pipe"
    whole.mkdir()
    calls = Failing(whole)
    with using(calls):
        assert piped(whole, pipe)[0] == 0
    expected = (whole / "out").read_bytes()
    assert expected.count(b"\n") > 5
    for number, variant, state in states(whole, calls.log):
        root = tmp_path / "crashed"
        restore(state, whole, root)
        status, said = piped(root, pipe)
        assert (status, (root / "out").read_bytes()) == (0, expected), (number, variant, said)
        shutil.rmtree(root)


def test_frames_that_were_written_are_there_whole_and_in_order(tmp_path: Path):
    whole = tmp_path / "whole"
    whole.mkdir()
    calls, returned = Failing(whole), list[int]()
    frames = [MessageFrame(MESSAGE, b"<m>%d</m>" % n * 20, b"mark %d" % n) for n in range(5)]
    with using(calls):
        log = FrameLog(whole / "state" / "in.frames")
        session = log.identity()
        begun = len(calls.log)
        for frame in frames:
            log.write([frame])
            returned.append(len(calls.log))
        log.close()
    for number, variant, state in states(whole, calls.log):
        root = tmp_path / "crashed"
        restore(state, whole, root)
        left = FrameLog(root / "state" / "in.frames")
        there = list(left.frames())
        assert there == frames[: len(there)], (number, variant)
        assert len(there) >= sum(done <= number for done in returned), (number, variant)
        assert number < begun or left.identity() == session
        left.close()
        shutil.rmtree(root)


def test_messages_kept_as_files_are_there_before_their_marks(tmp_path: Path):
    whole = tmp_path / "whole"
    whole.mkdir()
    calls = Failing(whole)
    with using(calls):
        log = XmlLog(whole / "in")
        for n in range(4):
            log.write(
                [MessageFrame(MESSAGE, b"<?xml version='1.0'?><m>%d</m>" % n, b"mark %d" % n)]
            )
        log.close()
    for number, variant, state in states(whole, calls.log):
        root = tmp_path / "crashed"
        restore(state, whole, root)
        left = XmlLog(root / "in")
        texts = [path.read_bytes() for path in sorted((root / "in").glob("*.xml"))]
        for mark in left.marks:
            assert any(b"<m>" + mark[5:] + b"</m>" in text for text in texts), (number, variant)
        left.close()
        shutil.rmtree(root)
