"""Each fuzz target, for as many cases as a test may take; XSC_FUZZ_SECONDS makes it longer."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import settings

from tests.fuzz.target import NAMES, Finding, plain_errors, run, target
from xstreamcast.errors import error

SLOW = {"queries": 12, "documents": 6, "checkpoints": 3, "tables": 3}  # so many times fewer


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found(name: str, tmp_path: Path) -> None:
    seconds = float(os.environ.get("XSC_FUZZ_SECONDS", "0"))
    cases = max(5, 4 * settings().max_examples // SLOW.get(name, 1))
    assert run(target(name, tmp_path), seed=20, seconds=seconds, cases=cases) >= cases


def test_a_finding_is_told_with_its_seed_and_case() -> None:
    def check(chance: random.Random) -> None:
        if chance.random() < 0.2:
            raise Finding("it is small", "the case")

    with pytest.raises(Finding, match="it is small") as caught:
        run(check, seed=5, cases=1000)
    assert caught.value.__notes__[0].startswith("seed 5, case ")


def test_what_is_no_error_for_users_is_a_finding() -> None:
    with pytest.raises(Finding, match="KeyError"), plain_errors("case"):
        raise KeyError("x")
    with pytest.raises(Finding, match="internal"), plain_errors("case"):
        raise error("XSCB0001")
    with plain_errors("case"):
        raise error("XSCF0001")
