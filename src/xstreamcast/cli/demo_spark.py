"""The demo on Spark: queries keep running over a bank's messages, then read the past."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from textwrap import indent
from typing import TYPE_CHECKING, Any, Final, TextIO

from xstreamcast import query
from xstreamcast.cli import bank
from xstreamcast.live import terminal as t
from xstreamcast.live.terminal import Terminal
from xstreamcast.live.text import cut
from xstreamcast.model.change import Accumulated, Change

if TYPE_CHECKING:
    from xstreamcast.spark.watching.run import Running

SECONDS: Final = 30.0  # that the feed takes
QUESTIONS: Final = {"fraud": bank.FRAUD, "maxed": bank.MAXED}
_TITLE: Final = "Two continuous queries over messages that correct each other"
_ABOUT: Final = """\
A bank sends small XML messages: accounts, limits, charges, statuses. Some arrive late, some
in the wrong order, and some correct earlier ones. Two XQuery queries keep running over them on
Spark. Each + and - below is a change of their answers: an answer that is no longer true is
retracted."""


class Screen:
    """Lines, and below them one that is drawn again and again where that can be done."""

    def __init__(self, out: TextIO) -> None:
        self._terminal = Terminal.of(out)
        self._lock = threading.Lock()
        self._progress = ""

    def line(self, text: str = "", how: str = "") -> None:
        with self._lock:
            self._clear()
            self._terminal.write(self._terminal.paint(text, how) + "\n" + self._below())

    def progress(self, text: str) -> None:
        """What is going on just now; on paper nothing is."""
        with self._lock:
            self._progress = text
            if self._terminal.moves:
                self._clear()
                self._terminal.write(self._below())

    def _clear(self) -> None:
        if self._terminal.moves:
            self._terminal.write("\r" + t.CLEAR_LINE)

    def _below(self) -> str:
        if not self._terminal.moves or not self._progress:
            return ""
        return self._terminal.paint(cut(self._progress, self._terminal.size()[0] - 1), "dim")


class Playing:
    """The feed so far, and the current answers."""

    def __init__(self, screen: Screen, feed: Path, seconds: float) -> None:
        self._screen, self._feed = screen, feed
        self._pause = seconds / 360  # the feed is six hours
        self.answers = {name: Accumulated() for name in QUESTIONS}
        self.came = self.went = self.messages = 0
        self.took: list[float] = []  # seconds until a message was processed
        self._began = time.monotonic()

    def tell(self, _epoch: int, changes: list[tuple[str, Change]]) -> None:
        """Called by Spark with the changes of a batch."""
        for name, change in changes:
            self.answers[name].apply(change)
            self.came, self.went = self.came + (change.diff > 0), self.went + (change.diff < 0)
            sign = "+" if change.diff > 0 else "-"
            self._screen.line(f"         {sign} {name}: {change.item}", sign)

    def send(self, messages: Sequence[bank.BankMessage], taken_in: Callable[[], None]) -> None:
        """Append messages to the feed by the bank's clock; wait for those that are shown."""
        with open(self._feed, "a", encoding="utf-8") as file:
            first, began = messages[0].at, time.monotonic()
            for message in messages:
                due = began + (message.at - first) * self._pause
                time.sleep(max(0.0, due - time.monotonic()))
                if message.said:
                    self._screen.line(f"  {bank.clock(message.at)}  {message.said}")
                file.write(message.text)
                file.flush()
                self.messages += bool(message.text)
                self._screen.progress(self._state(bank.clock(message.at)))
                if message.said:
                    sent = time.monotonic()
                    taken_in()
                    self.took.append(time.monotonic() - sent)

    def _state(self, now: str) -> str:
        open_now = ", ".join(f"{name} {len(one)}" for name, one in self.answers.items())
        went = f"+{self.came} -{self.went}"
        seconds = time.monotonic() - self._began
        return (
            f"{now} at the bank · {self.messages} messages · {open_now} · {went} · {seconds:.0f} s"
        )


def play(spark: Callable[[], Any], out: TextIO, seconds: float = SECONDS) -> bool:
    """Play it → whether the past agreed with what was on the screen."""
    screen = Screen(out)
    _open(screen)
    with tempfile.TemporaryDirectory(prefix="xstreamcast-demo-") as folder:
        feed, table = Path(folder) / "credit.xml", Path(folder) / "bank"
        feed.write_text(bank.HEAD + bank.beginning(), encoding="utf-8")
        playing = Playing(screen, feed, seconds)
        with _waiting(screen):
            compiling = threading.Thread(target=_compile, daemon=True)
            compiling.start()
            session = spark()
            compiling.join()
            running = _started(session, feed, playing)
            running.query.processAllAvailable()
        try:
            then = _run(screen, playing, running)
        finally:
            running.stop()
        screen.progress("")
        return _checked(screen, session, feed, table, then)


@contextmanager
def _waiting(screen: Screen) -> Iterator[None]:
    """Say that it starts, and on a terminal for how long it has been doing so."""
    screen.line("Spark starts inside this process.", "dim")
    began, over = time.monotonic(), threading.Event()

    def tick() -> None:
        while not over.wait(0.5):
            seconds = time.monotonic() - began
            screen.progress(f"starting: {seconds:.0f} s (the first start takes longer)")

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _compile() -> None:
    """The kernels are compiled once, in a new checkout; workers find them made."""
    start = bank.HEAD + bank.beginning() + "".join(one.text for one in bank.first_half()[:40])
    for text in QUESTIONS.values():
        for _ in query(text).watch(credit=iter([start.encode()])):
            pass


def _open(screen: Screen) -> None:
    screen.line(_TITLE + "\n", "bold")
    screen.line(indent(_ABOUT, "  ") + "\n")
    for name, text in QUESTIONS.items():
        screen.line(f"  {name}", "bold")
        screen.line(indent(text, "    ") + "\n", "dim")


def _started(session: Any, feed: Path, playing: Playing) -> Running:
    from xstreamcast.edges.watching import WatchOptions
    from xstreamcast.spark.query import bound_programs
    from xstreamcast.spark.watching.run import SparkWatching, watchings

    options = WatchOptions(follow=True)
    queries = {
        name: bound_programs(query(text).telling(""), None, {"credit": str(feed)})
        for name, text in QUESTIONS.items()
    }
    return SparkWatching(session, watchings(queries, options), options).start(playing.tell)


def _run(screen: Screen, playing: Playing, running: Running) -> dict[str, list[str]]:
    """Play the feed → the answers at noon."""
    wait = running.query.processAllAvailable
    screen.line(f"They run; {len(QUESTIONS)} queries, 10 accounts. The day begins.\n", "dim")
    playing.send(bank.first_half(), wait)
    wait()
    then = {name: one.items() for name, one in playing.answers.items()}
    screen.line(f"\n  12:00  the answers at noon: {_standing(then)}\n", "bold")
    playing.send(bank.second_half(), wait)
    wait()
    took = f"{median(playing.took):.1f} s"
    screen.line(f"\n  {playing.messages} messages; an answer followed a message by {took}", "dim")
    return then


def _standing(answers: dict[str, list[str]]) -> str:
    return "  ".join(item for items in answers.values() for item in items) or "nothing"


def _checked(
    screen: Screen, session: Any, feed: Path, table: Path, then: dict[str, list[str]]
) -> bool:
    """Store all messages in a fragment table, and query it as of noon."""
    from xstreamcast.spark.ingest import ingest

    kept = ingest(session, feed, table, stream="credit")
    screen.line("\nThe past", "bold")
    screen.line(f"\n  $ xstreamcast ingest credit.xml --table bank\n    {kept.summary()}")
    agreed = True
    for name, text in QUESTIONS.items():
        answer = list(query(text).run(as_of=bank.QUIET, credit=f"table:{table}").lines())
        agreed = agreed and answer == then[name]
        options = f"-i credit=table:bank --as-of {bank.QUIET}"
        screen.line(f"  $ xstreamcast run {name}.xq {options}")
        screen.line(indent("\n".join(answer) or "(nothing)", "    "))
    same = "That is what" if agreed else "That is NOT what"
    screen.line(f"\n  {same} was on the screen at noon.", "bold")
    return agreed


def main(seconds: float) -> int:
    """Play it on stdout, without user input."""
    from xstreamcast.spark.session import session

    made: list[Any] = []

    def started() -> Any:
        made.append(session(quick=True))
        return made[0]

    try:
        return 0 if play(started, sys.stdout, seconds) else 1
    finally:
        for one in made:
            one.stop()
