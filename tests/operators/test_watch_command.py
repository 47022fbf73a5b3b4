"""The command watch as a user sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from xstreamcast import ChangeReader, Error, query
from xstreamcast.model.change import Accumulated, Change

LOG = "<log>" + "".join(f'<e n="{i}"><v>{i % 7}</v></e>' for i in range(2000))


def watch(*words: str, stdin: bytes = b"", **options) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "xstreamcast", "watch", *words]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=120, **options)


def test_a_log_that_never_closes_is_answered_from_a_pipe():
    done = watch("-q", 'stream("log")//e[v = 6]/@n/string()', "-i", "log=-", stdin=LOG.encode())
    assert done.returncode == 0, done.stderr
    told = Accumulated(map(Change.from_json, done.stdout.decode().splitlines()))
    assert told.items() == [str(i) for i in range(2000) if i % 7 == 6]
    assert b"bytes of state" in done.stderr


def test_lines_and_xml_and_events(tmp_path: Path):
    path = tmp_path / "d.xml"
    path.write_text("<r><a>1</a><a>2</a></r>")
    lines = watch("-q", "//a", "-i", str(path), "--format", "lines")
    assert lines.stdout == b"+ <a>1</a>\n+ <a>2</a>\n"
    xml = watch("-q", "count(//a)", "-i", str(path), "--format", "xml")
    assert xml.stdout == b"<results>\n2\n</results>\n"
    events = watch("-q", "//a", "-i", str(path), "--format", "events")
    assert all(json.loads(line) for line in events.stdout.splitlines())
    assert len(events.stdout.splitlines()) > 4


def test_a_limit_ends_it(tmp_path: Path):
    path = tmp_path / "d.xml"
    path.write_text(LOG)
    done = watch("-q", "//e/@n/string()", "-i", str(path), "--limit", "3", "--format", "lines")
    assert done.stdout == b"+ 0\n+ 1\n+ 2\n"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["-q", "//a"], 2),
        (["-q", "//a["], 3),
        (["-q", "//a", "-i", "nowhere.xml"], 2),
        (["-q", "//a", "-i", "x.xml", "--for", "soon"], 2),
    ],
)
def test_mistakes_are_told(words, status, tmp_path: Path):
    done = watch(*words, cwd=tmp_path)
    assert done.returncode == status
    assert b"Traceback" not in done.stderr


def test_killed_and_started_again_it_tells_everything_once(tmp_path: Path):
    """Killed after ever more bytes of its output; what the file holds at the end is the answer."""
    pieces = [LOG[i : i + 9000].encode() for i in range(0, len(LOG), 9000)]
    out, folder = tmp_path / "out", tmp_path / "state"
    words = ["watch", "-q", 'for $e in stream("log")//e where $e/v = 3 return $e', "-i", "log=-"]
    words += ["--checkpoint", str(folder), "-o", str(out)]
    for turn in range(3):
        running = subprocess.Popen(
            [sys.executable, "-m", "xstreamcast", *words], stdin=subprocess.PIPE
        )
        assert running.stdin is not None
        begin = sum(path.stat().st_size for path in folder.glob("log.bytes"))
        sent = 0
        for piece in pieces:
            sent += len(piece)
            if sent <= begin:
                continue
            running.stdin.write(piece[max(0, len(piece) - (sent - begin)) :])
            running.stdin.flush()
            if turn < 2 and sent > len(LOG) * (turn + 1) / 3:
                break
        if turn < 2:
            while not (folder / "journal").exists() or not _lines(folder / "journal", turn + 1):
                assert running.poll() is None
            running.kill()
        running.stdin.close()
        running.wait(60)
    told = Accumulated(map(Change.from_json, out.read_text().splitlines()))
    expected = query("//e[v = 3]").run((LOG + "</log>").encode())
    assert told.items() == list(expected.lines())


def _lines(path: Path, least: int) -> bool:
    return path.read_bytes().count(b"\n") >= least


def test_a_checkpoint_leaves_what_the_output_held_before_it(tmp_path: Path):
    (tmp_path / "d.xml").write_text("<r><a>1</a><a>2</a></r>")
    words = ["-q", "//a", "-i", "d.xml", "--format", "lines", "--checkpoint", "kept"]
    out = tmp_path / "out"
    out.write_text("header\n")
    for _ in range(2):  # the second one has nothing to add, and cuts nothing off
        with out.open("ab") as file:
            command = [sys.executable, "-m", "xstreamcast", "watch", *words]
            subprocess.run(command, stdout=file, cwd=tmp_path, check=True, timeout=120)
        assert out.read_text() == "header\n+ <a>1</a>\n+ <a>2</a>\n"


def test_a_folder_of_queries_runs_together(tmp_path: Path):
    folder = tmp_path / "alerts"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.xq").write_text(f'stream("s")/r/t[k = "{name}"]/v/string()')
    (folder / "all.xq").write_text('count(stream("s")/r/t)')
    (folder / "notes.txt").write_text("no query")
    source = tmp_path / "d.xml"
    source.write_text(
        "<r><t><k>a</k><v>1</v></t><t><k>b</k><v>2</v></t><t><k>a</k><v>3</v></t></r>"
    )
    done = watch(str(folder), "-i", f"s={source}")
    assert done.returncode == 0, done.stderr
    assert b"3 queries run as 2 programs" in done.stderr
    answers: dict[str, list[str]] = {}
    lines = done.stdout.decode().splitlines()
    for name in ("a", "b", "all"):
        reader = ChangeReader(query=name)
        answers[name] = [list(one.items()) for one in reader.read(lines)][-1]
    assert answers == {"a": ["1", "3"], "b": ["2"], "all": ["3"]}
    with pytest.raises(Error, match="one of several"):
        list(ChangeReader().read(lines))
    lined = watch(str(folder), "-i", f"s={source}", "--format", "lines")
    assert set(lined.stdout.split(b"\n")) == {b"a + 1", b"a + 3", b"b + 2", b"all + 3", b""}


def test_a_folder_of_queries_goes_on_from_its_checkpoint(tmp_path: Path):
    folder = tmp_path / "alerts"
    folder.mkdir()
    for name in "abc":
        text = f'for $t in stream("s")/r/t?[now] where $t/k = "{name}" return $t/v/string()'
        (folder / f"{name}.xq").write_text(text)
    head = (
        '<stream:structure xmlns:stream="urn:xstreamcast:stream"><tag id="1" name="r" '
        'type="snapshot"><tag id="2" name="t" type="temporal"/></tag></stream:structure>'
    )
    holes = "".join(f'<stream:hole id="{i}" tsid="2"/>' for i in range(1, 9))
    parts = [
        f'<stream:filler id="0" tsid="1" validTime="2020-01-01"><r>{holes}</r></stream:filler>'
    ]
    parts += [
        f'<stream:filler id="{i}" tsid="2" validTime="2020-01-0{i}"><t><k>{"abc"[i % 3]}</k>'
        f"<v>{i}</v></t></stream:filler>"
        for i in range(1, 9)
    ]
    source, out = tmp_path / "s.stream", tmp_path / "out"
    words = [str(folder), "-i", f"s={source}", "-o", str(out), "--batch", "1"]
    words += ["--snapshot-every", "1", "--checkpoint", str(tmp_path / "checkpoint")]
    for end in (5, 9):
        source.write_text(head + "".join(parts[:end]))
        done = watch(*words)
        assert done.returncode == 0, done.stderr
    answers = {name: ChangeReader(query=name) for name in "abc"}
    for name, reader in answers.items():
        list(reader.read(out.read_text().splitlines()))
        own = [str(i) for i in range(1, 9) if "abc"[i % 3] == name]
        assert reader.items() == own


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "xml"], b"writes one answer"),
        (["--runner", "spark"], b"needs --runner local"),
        (["--tell", "x"], b"tell needs one query"),
    ],
)
def test_what_needs_one_query_says_so(tmp_path: Path, words: list[str], said: bytes):
    (tmp_path / "a.xq").write_text('stream("s")//a')
    (tmp_path / "d.xml").write_text("<a/>")
    done = watch(str(tmp_path), "-i", f"s={tmp_path / 'd.xml'}", *words)
    assert done.returncode == 2
    assert said in done.stderr
