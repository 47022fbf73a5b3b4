"""Progress: on a terminal, after a while, with the time that is left; and nothing of it stays."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from xstreamcast.cli import progress as module
from xstreamcast.cli.progress import Progress, amount

IMPATIENT = """
import sys
from xstreamcast.cli import progress
progress.Progress.__init__.__defaults__ = (None, 0.0)
progress._PAUSE = 0.001  # a fast machine is done sooner than the usual picture comes
from xstreamcast.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """Time that passes when it is told to."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    monkeypatch.setenv("TERM", "xterm")
    return made


def test_nothing_is_shown_before_two_seconds_have_passed(clock: Clock) -> None:
    out = Terminal()
    shown = Progress("work", out)
    shown.show(1, 10)
    clock.now += 1.9
    shown.show(2, 10)
    assert out.getvalue() == ""
    shown.clear()
    assert out.getvalue() == ""


def test_a_bar_with_what_is_done_and_the_time_left(clock: Clock) -> None:
    out = Terminal()
    shown = Progress("work", out)
    clock.now += 5
    shown.show(1, 4, "1 of 4")
    assert out.getvalue() == "\rwork  [██████··················]  25%  15 s left  1 of 4\x1b[K"
    shown.show(2, 4)
    assert "50%" not in out.getvalue(), "drawn again only after a pause"
    clock.now += 1000
    shown.show(2, 4)
    assert "50%  16 min left" in out.getvalue()
    shown.clear()
    assert out.getvalue().endswith("\r\x1b[K")


def test_nothing_is_shown_where_nobody_looks(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    shown = Progress("work", out)
    clock.now += 5
    shown.show(1, 4)
    dumb = Terminal()
    monkeypatch.setenv("TERM", "dumb")
    other = Progress("work", dumb)
    clock.now += 5
    other.show(1, 4)
    assert (out.getvalue(), dumb.getvalue()) == ("", "")


def test_amounts() -> None:
    assert [amount(n) for n in (0, 999, 1000, 25_300_000, 4e12)] == [
        "0 B", "999 B", "1.0 kB", "25.3 MB", "4000.0 GB",
    ]  # fmt: skip


def on_a_terminal(*words: str) -> tuple[bytes, bytes]:
    """The real command on a real terminal, with no patience: the file need not be large."""
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-c", IMPATIENT, *words],
        stdout=subprocess.PIPE, stderr=theirs, env=os.environ | {"TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:  # how a terminal says that the other side is gone
        pass
    finally:
        os.close(ours)
    out, _ = done.communicate()
    assert done.returncode == 0, said
    return out, said


def test_a_query_over_a_large_file_shows_its_progress_on_a_terminal(tmp_path: Path) -> None:
    feed = tmp_path / "feed.xml"
    feed.write_text(f"<feed>{'<a>1</a>' * 400_000}</feed>")
    query = "count(for $a in //a order by $a/text() descending return $a)"
    out, said = on_a_terminal("run", "-q", query, "-i", str(feed))
    assert out == b"400000\n"
    assert b"read, evaluating for" in said
    assert said.endswith(b"\r\x1b[K"), "nothing stays on the screen"


def test_cutting_a_document_and_a_look_at_one_show_their_progress(tmp_path: Path) -> None:
    feed, structure, cut = (str(tmp_path / name) for name in ("feed.xml", "feed.ts", "cut.xml"))
    Path(feed).write_text(f"<feed>{'<a>1</a>' * 200_000}</feed>")
    _, said = on_a_terminal("infer", feed, "--temporal", "a", "-o", structure)
    assert b"1.6 MB" in said
    assert b"3.2 MB" not in said, "what is read is counted once"
    _, said = on_a_terminal("fragment", feed, "-s", structure, "-o", cut)
    assert b"1.6 MB" in said
    assert b"[\xe2\x96\x88" in said, "a bar"
    _, said = on_a_terminal("fragment", cut, "--join", "-o", str(tmp_path / "joined.xml"))
    assert b" MB" in said
