"""Queries by grammar over generated streams, compared with SaxonC-HE, once and left running.

Half of the streams nest what has a lifespan, and are left running a second time with a lateness,
where all that may be forgotten is forgotten at once.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

import xstreamcast as xsc
from tests.fuzz.target import Check, Finding, plain_errors
from tests.fuzz.timed_cases import timed_cases
from tests.operators.test_released_ids import forgetting_at_once, lateness, watched
from tests.oracle import STRATEGIES, answer, canonical
from tests.streams_strategies import Case, cases
from xstreamcast.model.change import Accumulated


def begin(folder: Path) -> Check:
    """Every strategy, and `watch`, answers as Saxon does."""
    pytest.importorskip("saxonche")

    def check(chance: random.Random) -> None:
        found: list[Case] = []

        @seed(chance.getrandbits(64))
        @settings(
            max_examples=4, database=None, phases=[Phase.generate], deadline=None,
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(timed_cases() if chance.random() < 0.5 else cases())
        def drawn(case: Case) -> None:
            found.append(case)

        drawn()
        for case in found[1:]:  # the first is the smallest there is
            _check(case)

    return check


def _check(case: Case) -> None:
    for query in case.queries:
        try:
            expected = answer(query, {"s": case.wire})
        except Exception:  # Saxon refuses it: so may we
            with plain_errors((query, case.wire)):
                list(xsc.query(query).run(s=case.wire).lines())
            continue
        for strategy in STRATEGIES:
            found = xsc.query(query).run(s=case.wire, strategy=strategy).lines()
            if [canonical(one) for one in found] != expected:
                raise Finding(f"{strategy} is not {expected}", (query, case.wire))
        told = Accumulated()
        for change in xsc.query(query).watch(s=case.wire, batch=2):
            told.apply(change)
        if [canonical(one) for one in told.items()] != expected:
            raise Finding(f"watch gives {told.items()}, not {expected}", (query, case.wire))
        with forgetting_at_once():
            left = watched(query, case, lateness(case.wire))
        if left is None or [canonical(one) for one in left] != expected:
            raise Finding(f"forgetting gives {left}, not {expected}", (query, case.wire))
