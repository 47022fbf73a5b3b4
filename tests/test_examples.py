"""The examples of feeds and papers: the answer by hand, once, left running, and in any order."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from xstreamcast.api import compiled
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.finding import named_mapping, shipped
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watching.watch import Watch

EXAMPLES = Path(__file__).parent.parent / "examples"
FOLDERS = sorted(one.name for one in EXAMPLES.iterdir() if one.is_dir())
PAPERS = ["paper-forseq", "paper-xcql", "paper-xflux", "paper-xfrag", "paper-xstreamcast"]
OTHERS = ["linear-road"]  # its data is generated, and tests/bench runs it
NAMES = [one for one in FOLDERS if one not in (*PAPERS, *OTHERS)]


def example(name: str) -> tuple[str, str, list[str]]:
    """The query, the stream that it names, and the answer."""
    query = (EXAMPLES / name / "query.xq").read_text()
    found = re.search(r'stream\("(\w+)"\)', query)
    assert found is not None
    return query, found[1], (EXAMPLES / name / "answer.txt").read_text().splitlines()


def inputs(name: str) -> dict[str, Any]:
    """The streams of a paper: each file of its data is named as its stream."""
    return {file.stem: file for file in (EXAMPLES / name / "data").iterdir()}


def test_every_shipped_mapping_has_an_example():
    assert set(NAMES) == set(shipped())
    assert set(PAPERS) == {one for one in FOLDERS if one.startswith("paper-")}


@pytest.mark.parametrize("name", [*NAMES, *PAPERS])
def test_an_example_is_complete_and_its_page_shows_its_answer(name):
    folder = EXAMPLES / name
    assert sorted(one.name for one in folder.iterdir()) == [
        "README.md", "answer.txt", "data", "query.xq"
    ]  # fmt: skip
    page, answer = (folder / "README.md").read_text(), (folder / "answer.txt").read_text()
    shown = re.search(r"^\$ xstreamcast run query\.xq [^\n]*\n(.*?)^```$", page, re.S | re.M)
    assert shown is not None
    assert shown[1].startswith(answer)


def test_every_example_is_listed():
    listed = re.findall(r"^\| \[`([\w-]+)`\]", (EXAMPLES / "README.md").read_text(), re.M)
    assert sorted(listed) == FOLDERS


@pytest.mark.parametrize("name", PAPERS)
def test_the_query_of_a_paper_is_answered_as_it_says(name):
    query, _, answer = example(name)
    assert list(xsc.query(query).run(**inputs(name)).lines()) == answer


@pytest.mark.parametrize("policy", ["optimistic", "strict"])
@pytest.mark.parametrize("batch", [1, 1000])
@pytest.mark.parametrize("name", PAPERS)
def test_the_query_of_a_paper_left_running_ends_with_the_same_answer(name, batch, policy):
    query, _, answer = example(name)
    told = Accumulated()
    for change in xsc.query(query).watch(**inputs(name), batch=batch, policy=policy):
        told.apply(change)
    assert told.items() == answer


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_answered_as_it_says(name):
    query, stream, answer = example(name)
    source = Path(f"{name}:{EXAMPLES / name / 'data'}")
    given: dict[str, Any] = {stream: source}
    assert list(xsc.query(query).run(**given).lines()) == answer


@pytest.mark.parametrize("name", NAMES)
def test_an_example_left_running_ends_with_the_same_answer(name):
    query, stream, answer = example(name)
    told = Accumulated()
    source = Path(f"{name}:{EXAMPLES / name / 'data'}")
    given: dict[str, Any] = {stream: source}
    for change in xsc.query(query).watch(**given):
        told.apply(change)
    assert told.items() == answer


@pytest.mark.parametrize("name", [one for one in NAMES if one not in ("log4j", "log4j2", "jul")])
def test_messages_may_come_in_any_order(name):
    query, stream, answer = example(name)
    files = sorted((EXAMPLES / name / "data").iterdir())
    messages = [Message(file.read_bytes(), file.name) for file in files]
    for order in itertools.permutations(messages):
        watch, told = Watch(compiled(query), {stream: "fragments"}), Accumulated()
        decoder = MappingDecoder(stream, named_mapping(name), names=watch.names)
        for message in order:
            watch.on_arrivals(stream, decoder.messages([message]), decoder.ids)
            for change in watch.tick():
                told.apply(change)
        assert told.items() == answer, [one.place for one in order]
