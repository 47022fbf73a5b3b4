"""What earlier versions wrote is read; what a later one wrote is refused with a sentence.

The files in golden/ are never written again: they are what somebody's disk holds. Those of
snapshots are in tests/operators/snapshot/golden.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.faults.test_watch_crashes import QUERY
from xstreamcast import query
from xstreamcast.edges.changes import ChangeReader
from xstreamcast.edges.table.log import FORMAT as TABLE
from xstreamcast.edges.table.log import Log
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.edges.watching.journal_lines import FORMAT as JOURNAL
from xstreamcast.edges.watching.journal_lines import Line, read_lines
from xstreamcast.errors import Error
from xstreamcast.model.change import FORMAT as CHANGE

GOLDEN = Path(__file__).parent / "golden"
AT = 1794733920000000


def test_each_format_has_its_golden_file():
    for name, newest in (("journal", JOURNAL), ("changes", CHANGE), ("table", TABLE)):
        for number in range(2 if name == "table" else 1, newest + 1):
            assert (GOLDEN / f"{name}.{number}").exists(), f"{name}.{number}"


def test_a_journal_of_format_1():
    head, lines, end = read_lines(GOLDEN / "journal.1", 0)
    assert head is not None
    assert (head.format, head.output) == (1, "")
    assert lines[0] == Line([("roads", 787)], (AT, False), 310, None)
    assert [line.read for line in lines[1:]] == [
        [("roads", -1)],
        [("a", 5), ("a", -1), ("a", 7), ("a", -1)],
    ]
    assert end == (GOLDEN / "journal.1").stat().st_size


def test_a_journal_of_format_2():
    head, lines, _ = read_lines(GOLDEN / "journal.2", 0)
    assert head is not None
    assert (head.format, head.output, head.quarantine) == (2, "changes", 12)
    assert [line.quarantine for line in lines] == [249, 249, None, 260]
    assert lines[2] == Line([], (AT + 10_000_000, True), 350, None)


def test_a_journal_of_format_1_goes_on_in_format_2(tmp_path: Path):
    """A checkpoint that an earlier version left: it is read, and lines of today stand behind it."""
    feed = tmp_path / "feed"
    feed.mkdir()
    (feed / "0.xml").write_text("<r><a>1</a></r>")
    (tmp_path / "query").write_text("//a")
    (tmp_path / "journal").write_text(
        '[[["",15]],[1000000,false],0]\n[[["",-1]],[1000000,false],0]\n'
    )
    (tmp_path / "input.notes").write_text(f'["file","{feed / "0.xml"}"]\n["end",15,79453318]\n')
    (feed / "1.xml").write_text("<r><a>2</a></r>")
    watching = query("//a").watching(str(feed), {}, WatchOptions(checkpoint=str(tmp_path)))
    told = [change.item for changes in watching.ticks() for change in changes]
    assert told == ["<a>2</a>"]
    head, found, _ = read_lines(tmp_path / "journal", 0)
    assert head is not None
    assert (head.format, len(found)) == (2, 4)


@pytest.mark.parametrize("place", ["first", "later"])
def test_a_journal_of_a_later_format_is_refused(place: str, tmp_path: Path):
    later = '{"format":3,"output":"x","quarantine":null}\n'
    before = "" if place == "first" else (GOLDEN / "journal.2").read_text()
    (tmp_path / "journal").write_text(before + later)
    (tmp_path / "query").write_text(QUERY)
    with pytest.raises(Error, match="is of format 3, and this version reads up to 2"):
        query(QUERY).watching(None, {"roads": b"<r/>"}, WatchOptions(checkpoint=str(tmp_path)))
    assert (tmp_path / "journal").read_text() == before + later


def test_a_damaged_line_that_is_not_the_last_is_an_error(tmp_path: Path):
    lines = (GOLDEN / "journal.2").read_text().splitlines(keepends=True)
    lines[2] = lines[2].replace("787", "788")
    (tmp_path / "journal").write_text("".join(lines))
    with pytest.raises(Error, match="is damaged at byte"):
        read_lines(tmp_path / "journal", 0)


def test_changes_of_format_1():
    reader = ChangeReader()
    for line in (GOLDEN / "changes.1").read_text().splitlines():
        reader.take(line)
    assert reader.items() == ["<x/>", "ü"]


def test_changes_of_a_later_format_are_refused():
    line = (GOLDEN / "changes.1").read_text().splitlines()[0]
    with pytest.raises(Error, match="the change is of format 2, and this version reads up to 1"):
        ChangeReader().take(line.replace("{", '{"format":2,', 1))


@pytest.mark.parametrize("number", [2, 3])
def test_a_table_of_format(number: int, tmp_path: Path):
    table = shutil.copytree(GOLDEN / f"table.{number}", tmp_path / "table")
    assert Log(table).needed().number == 2
    text = 'for $a in stream("s")//a return string($a/@n)'
    assert list(query(text).run(s=f"table:{table}").lines()) == ["1", "2"]
