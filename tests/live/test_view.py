"""The live view, looked at: rows in order, signs for a while, a footer, nothing beyond the edge."""

from __future__ import annotations

import io
import os
import re
import select
import sys
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.edges.change_streams import change_streams
from tests.live.screen import Screen
from xstreamcast.live.keys import keyboard
from xstreamcast.live.terminal import Terminal
from xstreamcast.live.text import cells, cut, one_line, padded, size_text
from xstreamcast.live.view import LiveView, show
from xstreamcast.model.change import Accumulated, Change


@dataclass
class Clock:
    """A clock that is set by hand."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def came(key: str, after: str | None = None, item: str | None = None) -> Change:
    return Change(0, 1, key, after, item or f"<{key}/>")


def went(key: str, item: str | None = None) -> Change:
    return Change(0, -1, key, None, item or f"<{key}/>")


def test_rows_stand_in_order_with_signs_that_fade() -> None:
    clock, screen = Clock(), Screen()
    with LiveView(screen.terminal(), clock=clock) as view:
        clock.now = 1.0
        view.take([came("a"), came("b", "a"), came("c", "b")])
        assert screen.cells[:4] == ["+ <a/>", "+ <b/>", "+ <c/>", ""]
        clock.now = 2.5
        view.tick()
        assert screen.cells[:3] == ["  <a/>", "  <b/>", "  <c/>"]
        view.take([went("b"), went("c"), came("c", "a", "<new/>")])
        clock.now = 2.7
        view.tick()
        assert screen.cells[:5] == ["  <a/>", "- <b/>", "- <c/>", "+ <new/>", ""]
        assert screen.cells[5] == "2 items · +4 -2 · 2.2 changes/s · 1970-…"
        clock.now = 3.8
        view.tick()
        assert screen.cells[:3] == ["  <a/>", "  <new/>", ""]
    assert screen.main[:2] == ["  <a/>", "\n"]
    assert (screen.own, screen.cursor) == (False, True)


def test_what_does_not_fit_is_counted() -> None:
    clock, screen = Clock(), Screen(60, 4)
    with LiveView(screen.terminal(), clock=clock, title="all the things") as view:
        clock.now = 1.0
        view.take([came(str(n), str(n - 1) if n else None) for n in range(1532)], 1_234_567)
        assert screen.cells[0] == "all the things"
        assert screen.cells[1:3] == ["+ <0/>", "+ <1/>"]
        assert screen.cells[3].startswith("showing 2 of 1,532 items · +1,532 -0 · 1,532.0 chan")
        screen.columns, screen.lines = 85, 3
        screen.cells = [""] * 3
        clock.now = 1.2
        view.tick()
        assert screen.cells[1:] == [
            "+ <0/>",
            "showing 1 of 1,532 items · +1,532 -0 · 1,276.7 changes/s · state 1.2 MB · 1970-01-01…",
        ]


def test_it_draws_at_most_every_so_often_and_says_how_long_to_wait() -> None:
    clock, screen = Clock(), Screen()
    with LiveView(screen.terminal(), clock=clock, linger=1, every=0.1) as view:
        clock.now = 1.0
        view.take([came("a")])
        writes = screen.writes
        clock.now = 1.05
        view.take([came("b")])
        assert screen.writes == writes
        assert view.wait() == pytest.approx(0.05)
        clock.now = 1.1
        view.tick()
        assert screen.cells[:2] == ["+ <b/>", "+ <a/>"]
        assert view.wait() == pytest.approx(0.9)
        clock.now = 3.0
        view.tick()
        assert view.wait() == pytest.approx(3.0)  # then the rate is another
        clock.now = 6.1
        view.tick()
        assert view.wait() is None


def test_only_lines_that_differ_are_written() -> None:
    clock, screen = Clock(), Screen()
    with LiveView(screen.terminal(), clock=clock) as view:
        clock.now = 1.0
        view.take([came("a"), came("b", "a")])
        before = len(screen.raw)
        clock.now = 1.5
        view.take([came("c", "b")])
        assert "<a/>" not in screen.raw[before:]
        assert "<c/>" in screen.raw[before:]


def test_what_comes_back_as_it_was_leaves_no_sign() -> None:
    clock, screen = Clock(), Screen()
    with LiveView(screen.terminal(), clock=clock) as view:
        view.take([came("a")])
        clock.now = 2.0
        view.take([went("a"), came("a")])
        assert screen.cells[:2] == ["  <a/>", ""]
        clock.now = 4.0
        view.take([came("b", "a"), went("b")])
        assert screen.cells[:2] == ["  <a/>", ""]


@given(change_streams(), st.integers(1, 60), st.integers(1, 8))
def test_after_any_changes_the_screen_shows_the_head_of_the_answer(changes, width, height) -> None:
    clock, screen = Clock(), Screen(width, height)
    with LiveView(screen.terminal(), clock=clock) as view:
        for change in changes:
            clock.now += 0.07
            view.take([change])
            assert all(cells(line) <= max(width, 1) + 1 for line in screen.cells)
        clock.now += 100
        view.tick()
        head = Accumulated(changes).items()[: height - 1]
        expected = [f"  {one_line(item, width - 2)}".rstrip() for item in head]
        assert [line.rstrip() for line in screen.cells[: len(head)]] == expected


def test_on_what_is_no_terminal_changes_are_lines() -> None:
    out = io.StringIO()
    terminal = Terminal.of(out, {"TERM": "xterm"})
    assert not terminal.moves
    view = show([[came("a"), came("b")], [went("a")]], terminal, clock=Clock())
    assert out.getvalue() == "+ <a/>\n+ <b/>\n- <a/>\n"
    assert view.summary().startswith("1 item · +2 -1")


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_dumb_terminal_gets_lines_and_no_color_none() -> None:
    assert not Terminal.of(Tty(), {"TERM": "dumb"}).moves
    plain = Terminal.of(Tty(), {"TERM": "xterm", "NO_COLOR": "1"})
    assert (plain.moves, plain.color) == (True, False)
    assert Terminal.of(Tty(), {"TERM": "xterm"}).color


def test_colour_is_never_the_only_sign() -> None:
    clock, screen = Clock(), Screen()
    with LiveView(screen.terminal(color=True), clock=clock) as view:
        clock.now = 0.5
        view.take([came("a")])
        clock.now = 2.0
        view.take([went("a"), came("b")])
    plain = re.sub(r"\x1b\[[0-9;]*m", "", screen.raw)
    assert "\x1b[32m+ <a/>" in screen.raw
    assert "\x1b[31m- <a/>" in screen.raw
    assert "+ <a/>" in plain
    assert "- <a/>" in plain


def test_the_terminal_is_given_back_when_something_fails() -> None:
    screen = Screen()
    with pytest.raises(KeyError), LiveView(screen.terminal(), clock=Clock()):
        raise KeyError
    assert (screen.own, screen.cursor) == (False, True)


@given(st.text(max_size=30), st.integers(1, 20))
def test_a_line_fits_its_width_and_cannot_steer_the_terminal(text, width) -> None:
    line = one_line(text, width)
    assert cells(line) <= width
    assert line.isprintable()
    assert cells(padded(line, width)) == width


def test_texts_are_cut_by_cells() -> None:
    assert cut("日本語", 4) == "日…"
    assert one_line("a\n  b\x1b[31m", 20) == "a b\ufffd[31m"
    assert size_text(999) == "999 B"
    assert size_text(1_500_000) == "1.5 MB"


def test_keys_pause_scroll_and_quit() -> None:
    clock, screen = Clock(), Screen(70, 5)
    with LiveView(screen.terminal(), clock=clock) as view:
        clock.now = 1.0
        view.take([came(str(n), str(n - 1) if n else None) for n in range(9)])
        assert view.press(" ")
        assert view.wait() is None
        clock.now = 2.0
        view.take([came("x")])
        assert screen.cells[0] == "+ <0/>"
        assert screen.cells[4].startswith("paused · showing 4 of 9 items")
        assert view.press(" ")
        clock.now = 4.0
        view.tick()
        assert screen.cells[0] == "  <x/>"
        assert view.press("j")
        assert screen.cells[0] == "  <1/>"
        assert view.press("k")
        assert screen.cells[0] == "  <x/>"
        assert [view.press(key) for key in "jjjjjg?"] == [True] * 7
        assert screen.cells[0] == "  <x/>"
        assert not view.press("q")


def test_a_keyboard_says_what_was_pressed_and_is_given_back() -> None:
    if sys.platform == "win32":
        pytest.skip("there are no pseudo-terminals here")
    import pty
    import termios

    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    with keyboard(os.ttyname(theirs)) as keys:
        assert keys() == ""
        os.write(ours, b"q")
        select.select([theirs], [], [])
        assert keys() == "q"
        assert termios.tcgetattr(theirs)[3] & termios.ICANON == 0
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


def test_where_there_is_no_keyboard_no_key_is_pressed(tmp_path) -> None:
    (tmp_path / "file").write_text("q")
    for name in ("none", "file"):
        with keyboard(str(tmp_path / name)) as keys:
            assert keys() == ""
