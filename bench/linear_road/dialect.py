"""Two readings of the rules: the paper with the validator of 2004, and Walmart's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where the readings differ."""

    name: str
    speeds: Literal["means", "flat"]  # LAV: the mean of minutes' means of cars' means, or of all
    round_up: bool  # LAV: 39.5 → 40; otherwise truncated
    unknown: int  # LAV without any report in five minutes
    trips: bool  # a segment visited again, on another trip, counts again
    pays_at_exit: bool  # an exit ramp in a new segment: the segment before it is paid
    clears: Literal["last", "moved"]  # affected until the minute after both last reported the stop,
    #                                   or until the minute in which one of them reports otherwise


DIALECTS: Final = {
    "2004": Dialect("2004", "means", False, -1, False, False, "last"),
    "walmart": Dialect("walmart", "flat", True, 0, True, True, "moved"),
}
