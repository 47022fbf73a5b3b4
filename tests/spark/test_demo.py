"""The demo on Spark: what it shows is what the local runner says of the same messages."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from xstreamcast import query
from xstreamcast.cli import bank
from xstreamcast.model.change import Accumulated

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from xstreamcast.cli.demo_spark import QUESTIONS, play

pytestmark = pytest.mark.spark


def test_nothing_that_comes_after_noon_is_valid_before_it() -> None:
    later = "".join(one.text for one in bank.second_half())
    assert min(re.findall(r'validTime="([^"]+)"', later)) > bank.QUIET


def test_the_day_as_it_is_shown(spark: Any) -> None:
    out = io.StringIO()
    assert play(lambda: spark, out, seconds=0)
    said = out.getvalue()
    assert "\x1b" not in said, "no terminal, no escapes"
    assert "That is what was on the screen at noon." in said
    shown = re.findall(r"^ +([+-]) (fraud|maxed): (.+)$", said, re.MULTILINE)
    feed = (
        bank.HEAD + bank.beginning()
        + "".join(one.text for one in [*bank.first_half(), *bank.second_half()])
    )  # fmt: skip
    for name, asked in QUESTIONS.items():
        mine = [(sign, item) for sign, of, item in shown if of == name]
        changes = list(query(asked).watch(credit=iter([feed.encode()])))
        ends = [item for sign, item in mine if sign == "+"]
        for _, item in (one for one in mine if one[0] == "-"):
            ends.remove(item)
        assert sorted(ends) == sorted(Accumulated(changes).items())
        assert any(sign == "-" for sign, _ in mine), "nothing was taken back"
