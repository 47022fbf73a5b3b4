"""The examples of shipped mappings: the answer by hand, once, left running, and in any order."""

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
from xstreamcast.operators.watch import Watch

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = sorted(one.parent.name for one in EXAMPLES.glob("*/query.xq"))


def example(name: str) -> tuple[str, str, list[str]]:
    """The query, the stream that it names, and the answer."""
    query = (EXAMPLES / name / "query.xq").read_text()
    found = re.search(r'stream\("(\w+)"\)', query)
    assert found is not None
    return query, found[1], (EXAMPLES / name / "answer.txt").read_text().splitlines()


def test_every_shipped_mapping_has_an_example():
    assert set(NAMES) == set(shipped())


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
