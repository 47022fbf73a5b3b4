"""Decimal formats: the characters that fn:format-number reads in pictures and writes."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from xstreamcast.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class DecimalFormat:
    """The properties of one decimal format, with the defaults of the specification."""

    decimal_separator: str = "."
    grouping_separator: str = ","
    exponent_separator: str = "e"
    minus_sign: str = "-"
    percent: str = "%"
    per_mille: str = "‰"
    zero_digit: str = "0"
    digit: str = "#"
    pattern_separator: str = ";"
    infinity: str = "Infinity"
    nan: str = "NaN"

    def distinct(self) -> bool:
        """Whether no character has two roles in a picture (else XQST0098)."""
        roles = [
            self.decimal_separator,
            self.grouping_separator,
            self.exponent_separator,
            self.percent,
            self.per_mille,
            self.digit,
            self.pattern_separator,
            *self.digits(),
        ]
        return len(set(roles)) == len(roles)

    def digits(self) -> str:
        """The ten digits of the family, from zero."""
        return "".join(chr(ord(self.zero_digit) + i) for i in range(10))


# The prolog's property names ("NaN", "decimal-separator") and the fields they set.
PROPERTIES: Final = {
    ("NaN" if f.name == "nan" else f.name.replace("_", "-")): f.name for f in fields(DecimalFormat)
}
