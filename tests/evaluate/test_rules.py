"""Every node of the plan has a rule, and rules belong to nodes."""

from __future__ import annotations

from typing import get_args

from xstreamcast.algebra.plan import Expression
from xstreamcast.evaluate.rules import RULES


def test_every_expression_has_one_rule() -> None:
    assert set(RULES) == set(get_args(Expression))
