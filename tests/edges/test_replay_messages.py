"""Files of a feed with a mapping that are read in batches: each message counts once."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the spark extra is not installed")

import xstreamcast as xsc
from xstreamcast.edges.ingesting import Ingested, ingest
from xstreamcast.edges.replay import mapped

LINES = '[message]\ntype = "csv"\n[unit.u]\ntype = "event"\nfrom = "at"\n'
DOCUMENTS = '[unit.u]\npath = "/m/u"\nfrom = "@at"\ntype = "event"\n'


def event(text: str, second: int = 1) -> str:
    """An event of a log; nothing identifies it."""
    said = f"<log4j:message>{text}</log4j:message>"
    return f'<log4j:event timestamp="17145504000{second:02}">{said}</log4j:event>\n'


def unit(text: str) -> str:
    return f'<m><u at="2024-05-01T10:00:00Z">{text}</u></m>'


class Feed:
    """A folder that is read into a table again and again, and the texts of its units."""

    def __init__(self, folder: Path, mapping: str) -> None:
        self.files, self.table = folder / "files", folder / "table"
        self.files.mkdir()
        if "[" in mapping:
            (folder / "m.toml").write_text(mapping)
            mapping = str(folder / "m.toml")
        self.source = f"{mapping}:{self.files}"

    def add(self, name: str, text: str, *, anew: bool = False) -> None:
        with open(self.files / name, "w" if anew else "a", encoding="utf-8") as file:
            file.write(text)

    def ingest(self, *, follow: bool = True, restart: bool = False) -> Ingested:
        if restart:
            mapped._LEFT.clear()
        return ingest(self.source, self.table, stream="s", follow=follow)

    @property
    def texts(self) -> list[str]:
        found = xsc.query('stream("s")/*/*/normalize-space()').run(s=f"table:{self.table}")
        return list(found.lines())


@pytest.mark.parametrize("restart", [False, True], ids=["running", "started again"])
def test_a_log_that_grows_is_read_on(restart: bool, tmp_path: Path) -> None:
    feed = Feed(tmp_path, "log4j")
    feed.add("a.log", event("a") + event("b"))
    feed.ingest(restart=restart)
    half = event("c")
    feed.add("a.log", half[:50])
    assert feed.ingest(restart=restart).refused == 0
    feed.add("a.log", half[50:] + event("c"))
    feed.ingest(restart=restart)
    assert feed.texts == ["a", "b", "c", "c"]
    assert feed.ingest(restart=restart).batches == 0


@pytest.mark.parametrize("restart", [False, True], ids=["running", "started again"])
@pytest.mark.parametrize("root", ["", "<log4j:log xmlns:log4j='http://jakarta.apache.org/log4j/'>"])
def test_logs_that_grow_in_turn_are_read_on(root: str, restart: bool, tmp_path: Path) -> None:
    feed, said = Feed(tmp_path, "log4j"), list[str]()
    for number in range(6):
        name = "ab"[number % 2]
        feed.add(name, (root if number < 2 else "") + event(str(number), number))
        feed.ingest(restart=restart)
        said.append(str(number))
        assert feed.texts == said


def test_events_of_one_instant_stand_in_the_order_of_the_log(tmp_path: Path) -> None:
    numbers = [str(n) for n in range(120)]
    feed = Feed(tmp_path, "log4j")
    feed.add("a.log", "".join(map(event, numbers)))
    found = xsc.query('stream("s")/*/*/normalize-space()').run(s=feed.source).lines()
    assert list(found) == numbers
    feed.ingest()
    feed.add("a.log", event("120"))
    feed.ingest(restart=True)
    assert feed.texts == [*numbers, "120"]


def test_a_message_that_is_not_whole_is_awaited(tmp_path: Path) -> None:
    feed, message = Feed(tmp_path, DOCUMENTS), unit("a")
    feed.add("1.xml", message[:20])
    assert (feed.ingest().refused, feed.ingest().batches) == (0, 0)
    feed.add("1.xml", message[20:])
    feed.ingest()
    feed.add("1.xml", unit("b"))  # another one behind it
    feed.ingest()
    assert feed.texts == ["a", "b"]


def test_a_message_that_was_cut_off_is_refused_and_read_when_it_is_whole(tmp_path: Path) -> None:
    feed, message = Feed(tmp_path, DOCUMENTS), unit("a")
    feed.add("1.xml", message[:20])
    feed.add("2.xml", unit("b"))
    assert feed.ingest().refused == 1
    feed.add("1.xml", message[20:])
    assert feed.ingest(restart=True).refused == 0
    assert sorted(feed.texts) == ["a", "b"]


def test_a_file_that_is_written_anew_is_read_though_it_is_as_long(tmp_path: Path) -> None:
    feed = Feed(tmp_path, '[unit.u]\npath = "/m/u"\nkey = "@k"\n')
    feed.add("1.xml", '<m><u k="1">a</u></m>')
    feed.ingest()
    feed.add("1.xml", '<m><u k="1">b</u></m>', anew=True)
    os.utime(feed.files / "1.xml", ns=(1, 1))
    feed.ingest()
    assert feed.texts == ["a", "b"]


def test_a_last_line_without_an_end_counts_and_is_read_when_it_is_whole(tmp_path: Path) -> None:
    feed = Feed(tmp_path, LINES)
    feed.add("1.csv", "at,v\n2024-05-01T10:00:00Z,a\n2024-05-01T10:00:00Z,b")
    feed.ingest(follow=False)
    assert [text[-1] for text in feed.texts] == ["a", "b"]
    feed.add("2.csv", "at,v\n2024-05-01T10:00:01Z,c\n2024-05-01")
    assert feed.ingest(restart=True).refused == 0
    feed.add("2.csv", "T10:00:02Z,d\n")
    feed.ingest(restart=True)
    assert [text[-1] for text in feed.texts] == ["a", "b", "c", "d"]


def test_a_file_is_read_when_it_has_its_name(tmp_path: Path) -> None:
    feed = Feed(tmp_path, DOCUMENTS)
    feed.add("1.xml.tmp", unit("a")[:9])
    feed.add("0.xml", unit("b"))
    assert feed.ingest(follow=False).refused == 0
    feed.add("1.xml.tmp", unit("a")[9:])
    os.rename(feed.files / "1.xml.tmp", feed.files / "1.xml")
    feed.ingest(follow=False)
    assert feed.texts == ["b", "a"]


@pytest.mark.parametrize("kind", ["stdin", "pipe"])
@pytest.mark.parametrize("words", [(), ("--follow",)], ids=["once", "followed"])
def test_messages_of_a_pipe_go_into_a_table(
    kind: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    table, place, given = tmp_path / "t", "-", io.BytesIO()
    if kind == "pipe":
        place = str(tmp_path / "pipe")
        os.mkfifo(place)
    command = [
        sys.executable, "-m", "xstreamcast", "ingest", f"log4j:{place}", "--table", str(table),
        "--stream", "s", "--runner", "local", *words,
    ]  # fmt: skip
    given.write((event("a") + event("b")).encode())
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        if kind == "pipe":  # in a thread: it waits for a reader
            write = partial(Path(place).write_bytes, given.getvalue())
            threading.Thread(target=write, daemon=True).start()
        _, said = running.communicate(given.getvalue() if kind == "stdin" else b"", timeout=100)
    assert running.returncode == 0, said
    assert b"s: 3 fragments" in said  # the root is one
    found = xsc.query('stream("s")//*:event/string()').run(s=f"table:{table}")
    assert list(found.lines()) == ["a", "b"]
