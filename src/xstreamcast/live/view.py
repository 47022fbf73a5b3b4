"""The live view: the current answer on a terminal, redrawn as changes come.

    view = LiveView(Terminal.of(sys.stdout))
    with view:
        for changes in batches:
            view.take(changes)

Nothing here waits: `take` draws if it is time to, `tick` too; `wait` says for how long nothing
need be done. `press` obeys a key that was read elsewhere. On what is no terminal each change
is a line.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Final

from xstreamcast.live import terminal as t
from xstreamcast.live.rows import ShownAnswer, ShownRow
from xstreamcast.live.terminal import Terminal
from xstreamcast.live.text import cut, one_line, size_text
from xstreamcast.model.change import Change
from xstreamcast.model.instant import NOW, START, show_instant

_WINDOW: Final = 5.0  # seconds over which a rate is taken


class LiveView:
    """An answer for eyes."""

    def __init__(
        self,
        terminal: Terminal,
        *,
        clock: Callable[[], float] = time.monotonic,
        title: str = "",
        linger: float = 1.0,
        every: float = 0.1,
    ) -> None:
        self._terminal, self._clock, self._title, self._every = terminal, clock, title, every
        self.rows = ShownAnswer(linger)
        self.state_bytes: int | None = None
        self._began = clock()
        self._drawn: list[str] | None = None
        self._due = self._began  # the earliest time to draw again
        self._stale = True
        self._size = (0, 0)
        self._recent: deque[tuple[float, int]] = deque()
        self.paused = False
        self._skipped = 0  # rows above the first that is shown

    def __enter__(self) -> LiveView:
        if self._terminal.moves:
            self._terminal.write(t.ENTER + t.HIDE + t.CLEAR)
            self.tick()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if self._terminal.moves:
            self._terminal.write(t.SHOW + t.LEAVE)
            self._terminal.write("".join(line + "\n" for line in self._last_frame()))

    def take(self, changes: Iterable[Change], state_bytes: int | None = None) -> None:
        """Apply changes, with the size of the engine's state if it is known."""
        now, count = self._clock(), 0
        self._stale |= self.rows.expire(now)
        for change in changes:
            self.rows.take(change, now)
            count += 1
            if not self._terminal.moves:
                self._terminal.write(f"{'+' if change.diff > 0 else '-'} {change.item}\n")
        if count:
            self._recent.append((now, count))
        self._stale = self._stale or count > 0 or state_bytes != self.state_bytes
        self.state_bytes = self.state_bytes if state_bytes is None else state_bytes
        self.tick()

    def press(self, key: str) -> bool:
        """Obey a key → whether to continue: Space pauses, j k g scroll (down, up, top), q quits."""
        page = max(1, self._terminal.size()[1] // 2)
        match key:
            case " ":
                self.paused = not self.paused
            case "j":
                self._skipped = min(self._skipped + page, max(0, len(self.rows) - 1))
            case "k":
                self._skipped = max(0, self._skipped - page)
            case "g":
                self._skipped = 0
            case _:
                return key != "q"
        self._draw(self._clock())
        return True

    def tick(self) -> None:
        """Draw, if something changed and it is time to."""
        now = self._clock()
        if not self._terminal.moves or now < self._due or self.paused:
            return
        slower = bool(self._recent) and self._recent[0][0] <= now - _WINDOW
        if self.rows.expire(now) or slower or self._stale or self._terminal.size() != self._size:
            self._draw(now)

    def wait(self) -> float | None:
        """Seconds until a tick would draw; None if only changes can make it."""
        now = self._clock()
        if self.paused or not self._terminal.moves:
            return None
        if self._stale:
            return max(0.0, self._due - now)
        times = [] if self.rows.next_expiry is None else [self.rows.next_expiry]
        times += [self._recent[0][0] + _WINDOW] if self._recent else []
        return max(0.0, min(times) - now, self._due - now) if times else None

    def summary(self) -> str:
        """The footer in full: for the terminal's last line, and for the end."""
        counts, now = self.rows.answer.counts, self._clock()
        parts = [
            f"{len(self.rows):,} {'item' if len(self.rows) == 1 else 'items'}",
            f"+{counts.came:,} -{counts.went:,}",
            f"{self._rate(now):,.1f} changes/s",
        ]
        if self.state_bytes is not None:
            parts.append(f"state {size_text(self.state_bytes)}")
        last = self.rows.answer.last
        if last is not None and last.instant not in (START, NOW):
            parts.append(show_instant(last.instant, zoned=True))
        return " · ".join(parts)

    def _rate(self, now: float) -> float:
        while self._recent and self._recent[0][0] <= now - _WINDOW:
            self._recent.popleft()
        elapsed = min(_WINDOW, max(now - self._began, self._every))
        return sum(count for _, count in self._recent) / elapsed

    # -- drawing ----------------------------------------------------------------------------------

    def _draw(self, now: float) -> None:
        """Write the lines that differ from those on the screen."""
        size = self._terminal.size()
        columns, lines = size
        if size != self._size:
            self._terminal.write(t.CLEAR)
            self._drawn, self._size = None, size
        frame = self._frame(columns, lines, fill=True)
        old = self._drawn or [""] * len(frame)
        changed = [
            f"{t.to(n)}{line}{t.CLEAR_LINE}"
            for n, (line, was) in enumerate(zip(frame, old, strict=True), 1)
            if line != was
        ]
        if changed:
            self._terminal.write("".join(changed))
        self._drawn, self._due, self._stale = frame, now + self._every, False

    def _frame(self, columns: int, lines: int, fill: bool) -> list[str]:
        head = [self._terminal.paint(one_line(self._title, columns), "bold")] if self._title else []
        room = max(0, lines - len(head) - 1)
        rows = self.rows.shown(room, self._skipped if fill else 0)
        body = [self._line(row, columns) for row in rows]
        body += [""] * (room - len(body)) if fill else []
        there = sum(row.sign != "-" for row in rows)
        said = self.summary()
        if there < len(self.rows):
            said = f"showing {there:,} of {said}"
        if self.paused and fill:
            said = f"paused · {said}"
        return (head + body + [self._terminal.paint(cut(said, columns), "dim")])[: max(lines, 1)]

    def _line(self, row: ShownRow, columns: int) -> str:
        return self._terminal.paint(f"{row.sign} {one_line(row.item, columns - 2)}", row.sign)

    def _last_frame(self) -> list[str]:
        """What stays on the screen: the answer as it was at the end, without signs."""
        self.rows.expire(float("inf"))
        columns, lines = self._terminal.size()
        return self._frame(columns, lines - 1, fill=False)


def show(
    batches: Iterable[Iterable[Change]],
    terminal: Terminal,
    *,
    clock: Callable[[], float] = time.monotonic,
    title: str = "",
) -> LiveView:
    """Show batches of changes until there are no more → the view as it ended."""
    with LiveView(terminal, clock=clock, title=title) as view:
        for changes in batches:
            view.take(changes)
    return view
