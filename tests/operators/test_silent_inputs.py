"""Inputs that say nothing for a while, and queries that have none."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from xstreamcast import query
from xstreamcast.model.change import Accumulated


def begun(*words: str, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "xstreamcast", "watch", "--format", "lines", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, **options)


def test_a_silent_pipe_holds_nobody_up(tmp_path: Path):
    names = [tmp_path / "a", tmp_path / "b"]
    for name in names:
        os.mkfifo(name)
    asked = 'for $e in stream("a")//e return string($e/@n), stream("b")//x/string()'
    words = ["-q", asked, "-i", f"a={names[0]}", "-i", f"b={names[1]}"]
    with begun(*words) as running, names[0].open("wb", 0) as one:
        assert running.stdout is not None
        one.write(b'<a><e n="1"/>')
        other = names[1].open("wb", 0)
        other.write(b"<b>")
        assert running.stdout.readline() == b"+ 1\n"
        one.write(b'<e n="2"/>')
        assert running.stdout.readline() == b"+ 2\n"
        other.write(b"<x>later</x>")
        assert running.stdout.readline() == b"+ later\n"
        one.close()
        other.close()
        assert running.stdout.read() == b""
    assert running.returncode == 0


def test_a_silent_pipe_does_not_hold_up_a_file_that_grows(tmp_path: Path):
    path = tmp_path / "log.xml"
    path.write_text('<log><e n="1"/>')
    asked = 'stream("a")//e/string(@n), stream("b")//x/string()'
    words = ["-q", asked, "-i", f"a={path}", "-i", "b=-", "--follow", "--limit", "2"]
    with begun(*words, stdin=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b"<b>")
        running.stdin.flush()
        assert running.stdout.readline() == b"+ 1\n"
        with path.open("a") as more:
            more.write('<e n="2"/>')
        assert running.stdout.readline() == b"+ 2\n"
        assert running.wait(60) == 0


def test_an_input_that_never_begins_does_not_outlast_the_time_given():
    began = time.monotonic()
    with begun("-q", "count(//a)", "-i", "-", "--for", "1s", stdin=subprocess.PIPE) as running:
        assert running.wait(60) == 0
    assert time.monotonic() - began < 50


TWO = "declare stream two := 2; stream('two')/answer/item/data()"


@pytest.mark.parametrize("asked", ["1 + 1", TWO])
def test_a_query_that_reads_nothing_has_an_answer(asked):
    assert [change.item for change in query(asked).watch()] == ["2"]


@pytest.mark.parametrize("rest", ["", "<e n='4'><v>", "<e", "<!-- "])
@pytest.mark.parametrize(
    "asked", ["count(//e)", "//e/string(@n)", "/log/e[last()]/string(@n)", "string(max(//e/@n))"]
)
def test_a_root_that_never_closes_ends_with_what_was_complete(asked, rest):
    told = query(asked).watch(b"<log><e n='1'/><e n='2'/><e n='3'/>" + rest.encode())
    whole = query(asked).run(b"<log><e n='1'/><e n='2'/><e n='3'/></log>")
    assert Accumulated(told).items() == list(whole.lines())
