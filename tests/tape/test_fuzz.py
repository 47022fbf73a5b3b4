"""The fuzz target itself, for as many cases as a test may take."""

from __future__ import annotations

import random

from hypothesis import settings

from tests.fuzz.read_xml import SEEDS, check, mutate


def test_mutated_documents_are_read_or_refused_as_by_expat():
    chance = random.Random(20)
    for _ in range(10 * settings().max_examples):
        check(mutate(chance.choice(SEEDS), chance), chance)
