"""The benchmark of running queries: what it measures is an answer that Saxon agrees with."""

from __future__ import annotations

import argparse

import pytest

from bench import credit, updates
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.circuit.nodes import Units
from xstreamcast.operators.relational.run import CircuitRun


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    updates.add_arguments(parser)
    return parser.parse_args(words)


def test_batches_and_single_fragments_are_measured():
    args = arguments("--batch", "50", "--singles", "5")
    one = updates.measure(20, 200, args)
    assert len(one.took) == 4
    assert len(one.single) == len(one.wall) == 5
    assert one.rate() > 0
    assert "| both" in updates.report([one], [], args)


def test_both_queries_keep_their_sums():
    running = updates.Running()
    running.feed(credit.opening(3, 1))
    for watch in running.network.watches.values():
        assert isinstance(watch.pipeline, CircuitRun)
        (units,) = (n for n in in_order(watch.pipeline.circuit.root) if isinstance(n, Units))
        assert len(units.inner) == 1


def test_saxon_says_the_same():
    pytest.importorskip("saxonche")
    assert updates._peer(20, arguments("--batch", "40")).equal
