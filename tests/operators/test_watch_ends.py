"""How the command watch ends, and what it leaves behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import etree


def command(*words: str, **options) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "xstreamcast", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, **options)


def _interruptible() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupted_it_still_says_what_it_counted(tmp_path: Path):
    (tmp_path / "log.xml").write_text("<log><e/>")
    words = ["watch", "-q", "count(//e)", "-i", "log.xml", "--follow", "--format", "lines"]
    line = [sys.executable, "-m", "xstreamcast", *words]
    pipe = subprocess.PIPE
    # what is started in the background is deaf to interrupts, and so is all that it starts
    with subprocess.Popen(
        line, cwd=tmp_path, stdout=pipe, stderr=pipe, preexec_fn=_interruptible
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"+ 1\n"
        running.send_signal(signal.SIGINT)
        said = running.stderr.read()
    assert running.returncode == 130
    assert b"1 change " in said
    assert said.endswith(b"interrupted\n")


def test_a_sink_begins_anew(tmp_path: Path):
    (tmp_path / "d.xml").write_text("<r><a/></r>")
    (tmp_path / "out").write_text("of yesterday\n")
    words = ["watch", "-q", "//a", "-i", "d.xml", "-o", "out", "--format", "lines"]
    assert command(*words, cwd=tmp_path).returncode == 0
    assert (tmp_path / "out").read_text() == "+ <a/>\n"


def test_the_answer_as_xml_is_well_formed(tmp_path: Path):
    (tmp_path / "d.xml").write_text("<r><a>1 &lt; 2</a></r>")
    words = ["watch", "-q", "//a, //a/string(), '<'", "-i", "d.xml", "--format", "xml"]
    written = command(*words, cwd=tmp_path).stdout
    root = etree.fromstring(written)
    assert "".join(map(str, root.itertext())).split("\n")[1:-1] == ["1 < 2", "1 < 2", "<"]
    assert [child.tag for child in root] == ["a"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("verb", ["run", "watch"])
def test_a_full_disk_is_no_internal_error(verb, tmp_path: Path):
    (tmp_path / "d.xml").write_text("<r><a/></r>")
    done = command(verb, "-q", "//a", "-i", "d.xml", "-o", "/dev/full", cwd=tmp_path)
    assert done.returncode == 2
    assert "error[XSCU0004]" in done.stderr
    assert "no space left" in done.stderr


@pytest.mark.parametrize("verb", ["run", "watch"])
def test_a_limit_and_a_query_file_must_make_sense(verb, tmp_path: Path):
    (tmp_path / "q.xq").write_bytes(b"\xff\xfe")
    few = command(verb, "-q", "1, 2", "--limit", "-1")
    assert (few.returncode, few.stdout) == (2, "")
    odd = command(verb, "q.xq", cwd=tmp_path)
    assert odd.returncode == 2
    assert "q.xq is not UTF-8" in odd.stderr
