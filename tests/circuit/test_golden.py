"""Circuits as text: what runs for a dozen queries, kept beside the queries."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.circuit.grammar import HEAD, STRUCTURE
from tests.operators.watched import Watched
from xstreamcast.circuit.show.operators import show_circuit
from xstreamcast.operators.relational.run import CircuitRun

GOLDEN = Path(__file__).parent / "golden"


def circuit_text(query: str) -> str:
    """The circuit that runs over two streams whose structures are known."""
    beside = Watched(query, {"a": "fragments", "b": "fragments"})
    for name in "ab":
        beside.feed(name, (HEAD + STRUCTURE).encode(), tick=False)
    beside.tick()
    assert isinstance(beside.watch.pipeline, CircuitRun), "no circuit runs"
    return show_circuit(beside.watch.pipeline.circuit)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: path.stem)
def test_the_circuit_is_the_one_kept(path):
    query, _, expected = path.read_text(encoding="utf-8").partition("\n\n")
    assert circuit_text(query) == expected.rstrip("\n")


def test_there_are_a_dozen():
    assert len(list(GOLDEN.glob("*.txt"))) >= 12
