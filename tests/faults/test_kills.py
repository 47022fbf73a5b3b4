"""Commands that were killed at random moments leave what they leave undisturbed."""

from __future__ import annotations

import pytest

from tests.conftest import PROFILE
from tests.faults.kills import KINDS, round_of


@pytest.mark.parametrize("name", KINDS)
def test_killed_at_random_moments(name: str) -> None:
    kills, least = 0, 200 if PROFILE == "thorough" else 3
    for number in range(1000):
        kills += round_of(name, f"{name}.{number}").total()
        if kills >= least:
            return
    pytest.fail(f"{kills} kills in a thousand rounds: the commands end before they are killed")
