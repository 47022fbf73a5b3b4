"""Bad files and options thrown at every command: each gets a message, none an internal error."""

from __future__ import annotations

import argparse
import gzip
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bench.start import FRAGMENTS
from xstreamcast.cli.arguments import Parser, parser
from xstreamcast.cli.main import main
from xstreamcast.cli.table import COMMANDS
from xstreamcast.model.query_limits import query_limits, set_query_limits
from xstreamcast.tape.limits import default_limits, set_default_limits

# The others make what they show, or start Spark: tests of their own.
LEFT_OUT = {"demo", "bench", "kernels"}
ROWS = {row.name: row for row in COMMANDS if row.name not in LEFT_OUT}
# Options that wait for more, or leave the process.
WAITING = {"--follow", "--master", "--help", "-h", "--runner", "--for", "--clean", "--listen"}

FILES = {
    "good.xml": b'<feed><item id="1"><title>a</title></item></feed>',
    "credit.xml": FRAGMENTS.encode(),
    "unclosed.xml": b"<feed><item>",
    "mismatch.xml": b"<feed><item></feed>",
    "latin.xml": b"<a>\xe9</a>",
    "utf16.xml": "<a>\u00e9</a>".encode("utf-16"),
    "entity.xml": b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;&d;</a>",
    "loop.xml": b"<!DOCTYPE a [<!ENTITY b '&c;'><!ENTITY c '&b;'>]><a>&b;</a>",
    "json.json": b'{"a": [1, 2]}',
    "page.html": b"<!DOCTYPE html><html><p>one<p>two</html>",
    "text.txt": b"only text",
    "empty.xml": b"",
    "zeros.xml": bytes(300),
    "junk.bin": bytes(range(256)) * 3,
    "gz.xml": gzip.compress(b"<a/>"),
    "broken.xml.gz": gzip.compress(b"<a/>" * 100)[:40],
    "fake.xml.gz": b"<a/>",
    "fragment.xml": b'<stream:filler id="1" tsid="9" validTime="never"><x/></stream:filler>',
    "structure.xml": b'<stream:structure><tag name="a"/></stream:structure>',
    "known.xml": b"<tag id='1' name='feed'><tag id='2' name='item' type='temporal'/></tag>",
    "list.csv": b'id,name\n1,"a\n2,b,c\n',
    "rows.ndjson": b'{"id": 1, "name": "a"}\n{"id": [}\n',
    "changes.ndjson": b'{"time":"x","diff":2}\n{"diff":1}\nno json\n',
    "query.xq": b"for $i in //item return $i/title",
    "broken.xq": b"for $i in",
    "latin.xq": b"'\xe9'",
    "schema.dtd": b"<!ELEMENT a (b",
    "schema.xsd": b"<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element/>",
}
QUERIES = (
    "//item", "1 +", "count(//title)", 'stream("s")//limit?[now]', "//item[", "?[nwo]", "",
    'stream("x")', "error()", "1 div 0", "$x", "declare variable $x external; $x", "f(", "😀",
    "xs:date('x')", 'doc("s")', "for $a in //a group by $b := 1 return $b", "(1 to 100)[. = 'a']",
)  # fmt: skip
VALUES = (
    "", "0", "-1", "1", "99999999999999999999", "x", "x=1", "s=credit.xml", "=", "a=b=c", "now",
    "2003-01-01", "yesterday", "PT1H", "1h", "out/of/reach", ".", "out.txt", "-", "s=nowhere",
    "table:nowhere", "table:.", "ü", "//a", "s=//a", "lines", "xml", "table", "changes",
)  # fmt: skip


# How many words without an option a command takes, usually.
WORDS = {
    "infer": 2, "fragment": 1, "ingest": 1, "refused": 1, "compact": 1, "functions": 1, "map": 2,
    "index": 2, "cast": 2, "tune": 1, "serve": 2, "completion": 1, "manual": 1,
}  # fmt: skip
# Ways to name a source that is none, or that nothing answers at.
PLACES = (
    "nowhere", ".", "..", "table", "/dev/null", "*.xml", "**", "[", "~", "http://", "http://[",
    "http://127.0.0.1:1/", "https://127.0.0.1:1/x?every=1s", "ws://127.0.0.1:1/x", "tcp://:1",
    "tcp://127.0.0.1:1", "tcp://127.0.0.1:x", "mqtt://", "kafka://", "ftp://x/", "file://x",
    "table:", "table:table", "table:good.xml", "cap:good.xml", "cap:", "siri-sx:json.json",
    "nope:good.xml", "good.xml:good.xml", ":good.xml", "a b", "good.xml ", "query.xq/x",
)  # fmt: skip
OUTPUTS = ("/dev/full", ".", "out/of/reach", "good.xml/x", "/proc/none", "out.txt", "")
# What keeps a command from waiting for clients, and for servers that are not there.
ENDING = {
    "serve": ["--listen", "127.0.0.1:0", "--for", "0s"], "cast": ["--for", "0s"],
    "watch": ["--for", "1s"], "tune": ["--for", "1s"],
}  # fmt: skip


def actions(command: str) -> dict[str, argparse.Action]:
    """The options of a command, as it declares them itself."""
    made: Parser = parser(command, "")
    ROWS[command].load().add_arguments(made)
    return {name: one for name, one in made._option_string_actions.items() if name not in WAITING}


def values(action: argparse.Action) -> st.SearchStrategy[str]:
    """Values for an option: mostly of its kind, some of any."""
    anything = st.sampled_from((*VALUES, *FILES))
    if action.choices is not None:
        return st.sampled_from([str(one) for one in action.choices]) | anything
    if action.type is not None:
        return st.sampled_from(("1", "2", "1000", "0", "-1", "x"))
    return anything


@st.composite
def mistyped(draw: Any, word: str) -> str:
    """A word with a letter that is left out, doubled, or another."""
    at = draw(st.integers(0, len(word) - 1))
    letter: str = draw(st.sampled_from(("", word[at] * 2, "x", "-", "=")))
    return word[:at] + letter + word[at + 1 :]


@st.composite
def command_lines(draw: Any) -> list[str]:
    command = draw(st.sampled_from(sorted(ROWS)))
    words = [command]
    if command in ("run", "watch", "explain"):
        words += ["-q", draw(st.sampled_from(QUERIES))]
    known = actions(command)
    for option in draw(st.lists(st.sampled_from(sorted(known)), max_size=3)) if known else ():
        action = known[option]
        count = 0 if isinstance(action, argparse._StoreTrueAction) else action.nargs or 1
        several = count if isinstance(count, int) else 1
        name = draw(st.just(option) | mistyped(option)) if draw(st.booleans()) else option
        given = st.sampled_from(OUTPUTS) if action.dest == "output" else values(action)
        words += [name, *draw(st.lists(given, min_size=several, max_size=several))]
    places = st.sampled_from((*FILES, *FILES, *PLACES))
    most = WORDS.get(command, 0)
    words += draw(st.lists(places, min_size=min(most, 1), max_size=most))
    if command in ("run", "watch", "serve"):
        for source in draw(st.lists(places, min_size=1, max_size=2)):
            words += ["-i", draw(st.sampled_from(("", "s=", "x=", "credit="))) + source]
    if command == "ingest":
        words += ["--runner", "local", "--table", draw(st.sampled_from(("table", "good.xml")))]
    if command == "cast":
        words += ["--to", draw(st.sampled_from(("tcp://127.0.0.1:0", "sse", "ws://", "x")))]
    if command in ("fragment", "ingest", "cast") and draw(st.booleans()):
        words += [
            "-s",
            draw(st.sampled_from(("structure.xml", "good.xml", "text.txt", "known.xml"))),
        ]
    return words + ENDING.get(command, [])


@contextmanager
def folder() -> Iterator[None]:
    """An empty folder with the files, and standard input that has ended."""
    before, limits, stdin = Path.cwd(), default_limits(), sys.stdin
    of_query = query_limits()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        for file, content in FILES.items():
            Path(file).write_bytes(content)
        sys.stdin = io.TextIOWrapper(io.BytesIO(b"junk\n{}\n"), "utf-8")
        try:
            yield
        finally:
            sys.stdin = stdin
            os.chdir(before)
            set_default_limits(limits)
            set_query_limits(of_query)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(words=command_lines())
@example(words=["run", "-q", "//item", "-i", "broken.xml.gz"])
@example(words=["run", "-q", "//item", "-i", "fake.xml.gz"])
@example(words=["watch", "-q", "//item", "-i", "fake.xml.gz"])
@example(words=["eval"])
def test_whatever_is_given_the_answer_is_a_message(words: list[str], capfd) -> None:
    with folder():
        status = main(words)
    said = capfd.readouterr().err
    assert status in (0, 1, 2, 3, 4), words
    assert "internal error" not in said, (words, said)
    assert "Traceback" not in said, (words, said)


@given(content=st.binary(max_size=200) | st.text(max_size=60).map(str.encode))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@pytest.mark.parametrize("command", ["run", "watch", "infer", "fragment", "ingest"])
def test_whatever_a_file_holds_the_answer_is_a_message(command: str, content: bytes, capfd) -> None:
    words = {
        "run": ["run", "-q", "count(//*)", "-i", "any.xml"],
        "watch": ["watch", "-q", 'stream("s")//a', "-i", "s=any.xml"],
        "infer": ["infer", "any.xml"],
        "fragment": ["fragment", "any.xml", "-s", "any.xml"],
        "ingest": ["ingest", "any.xml", "--table", "table", "--runner", "local"],
    }[command]
    with folder():
        Path("any.xml").write_bytes(content)
        status = main(words)
    said = capfd.readouterr().err
    assert status in (0, 1, 2, 3, 4), content
    assert "internal error" not in said, (content, said)


INTERRUPTED = """
import sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
sys.argv = ["xstreamcast", "run", "-q", "count(//item)", "-i", {path!r}]
from xstreamcast.cli.entry import entry
entry()
"""


@pytest.mark.parametrize(
    "module",
    [
        "xstreamcast.cli.main",
        "argparse",
        "xstreamcast.cli.run",
        "xstreamcast.api",
        "numpy",
        "xstreamcast.syntax",
        "xstreamcast.edges.binding",
        "xstreamcast.tape.reading.read_bytes",
    ],
)
def test_an_interruption_at_the_start_leaves_no_trace(module: str, tmp_path: Path) -> None:
    """Ctrl-C in the first half second finds a command that is still importing."""
    path = tmp_path / "good.xml"
    path.write_bytes(FILES["good.xml"])
    code = INTERRUPTED.format(module=module, path=str(path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
