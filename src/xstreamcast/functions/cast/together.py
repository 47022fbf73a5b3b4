"""Texts of one plain form, read together: one match for all of them in place of one each."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from typing import Final

from xstreamcast.model.date_time import DateTime

_FEW_DIGITS: Final = 18  # so many fit into 64 bits, whatever they are
_DECIMALS: Final = re.compile(r"(?:[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\n)*")
_DATES: Final = re.compile(r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}\n)*")
_MOST_DIGITS: Final = 4000  # longer ones have a limit that is looked up


def integers(texts: list[str]) -> list[int] | None:
    """The integers that texts of nothing but a few digits are: most of those that feeds have."""
    together = "".join(texts)
    if not (together.isascii() and together.isdigit() and all(texts)):
        return None
    return None if max(map(len, texts)) > _FEW_DIGITS else list(map(int, texts))


def decimals(texts: list[str]) -> list[Decimal] | None:
    """Those of texts without white space; None if one is anything else."""
    if not _all_match(_DECIMALS, texts) or max(map(len, texts)) >= _MOST_DIGITS:
        return None
    return list(map(Decimal, texts))


def dates(texts: list[str]) -> list[DateTime] | None:
    """Those of years from 0001 to 9999 without time zone; None if one is anything else."""
    if not _all_match(_DATES, texts):
        return None
    try:
        return [DateTime(date.fromisoformat(text).toordinal() - 1) for text in texts]
    except ValueError:  # a day that the month lacks, or the year 0
        return None


def _all_match(pattern: re.Pattern[str], texts: list[str]) -> bool:
    """Whether each text, none of which has a line end inside, matches."""
    lines = "\n".join([*texts, ""])
    return lines.count("\n") == len(texts) and pattern.fullmatch(lines) is not None
