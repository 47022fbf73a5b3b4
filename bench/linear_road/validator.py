"""Whether answers are right, complete and in time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from bench.linear_road.outputs import (
    ACCIDENT,
    BALANCE,
    EXPENDITURE,
    TOLL,
    TRAVEL,
    WORDS,
    Output,
)
from bench.linear_road.rules import Truth

DEADLINES: Final = {TOLL: 5, ACCIDENT: 5, BALANCE: 5, EXPENDITURE: 10, TRAVEL: 30}  # seconds
_WITHIN = 60  # seconds before the request in which a balance must have been true
_SHOWN = 5  # examples of each fault


@dataclass(slots=True)
class Verdict:
    """Faults by what they are, each with a few examples; and how much was checked."""

    checked: dict[int, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)
    slowest: dict[int, float] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong, missing, too much or late."""
        return not self.faults

    def fault(self, what: str, example: str) -> None:
        """Count a fault."""
        self.faults[what] = self.faults.get(what, 0) + 1
        shown = self.examples.setdefault(what, [])
        if len(shown) < _SHOWN:
            shown.append(example)

    def __str__(self) -> str:
        counts = ", ".join(f"{n} {WORDS[kind]}" for kind, n in sorted(self.checked.items()))
        lines = [f"{'valid' if self.valid else 'NOT VALID'}: {counts or 'no answers'}"]
        for kind, delay in sorted(self.slowest.items()):
            lines.append(f"  slowest {WORDS[kind]}: {delay:.2f} s (deadline {DEADLINES[kind]} s)")
        for what, n in self.faults.items():
            lines.append(f"  {n} × {what}")
            lines += [f"      {one}" for one in self.examples[what]]
        return "\n".join(lines)


def validate(truth: Truth, outputs: Iterable[Output]) -> Verdict:
    """Compare answers with the truth, both ways, and their delays with the deadlines."""
    verdict = Verdict()
    expected = _expected(truth)
    seen: set[tuple[int, tuple[int, ...]]] = set()
    for one in outputs:
        verdict.checked[one.kind] = verdict.checked.get(one.kind, 0) + 1
        verdict.slowest[one.kind] = max(verdict.slowest.get(one.kind, 0.0), one.delay)
        name, known = WORDS[one.kind], (one.kind, one.key)
        if one.delay > DEADLINES[one.kind]:
            verdict.fault(f"late {name}", f"{one}")
        if known not in expected:
            verdict.fault(f"{name} that nothing calls for", f"{one}")
        elif known in seen:
            verdict.fault(f"{name} given twice", f"{one}")
        elif not _is_right(one, expected[known], truth):
            verdict.fault(f"wrong {name}", f"{one}; expected {expected[known]}")
        seen.add(known)
    for kind, key in expected.keys() - seen:
        verdict.fault(f"missing {WORDS[kind]}", f"{key}: {expected[kind, key]}")
    return verdict


def _expected(truth: Truth) -> dict[tuple[int, tuple[int, ...]], tuple[int, ...]]:
    out: dict[tuple[int, tuple[int, ...]], tuple[int, ...]] = {}
    out |= {(TOLL, key): (key[1], *value) for key, value in truth.tolls.items()}
    out |= {(ACCIDENT, key): (key[1], segment) for key, segment in truth.accidents.items()}
    out |= {(BALANCE, (qid,)): value for qid, value in truth.balances.items()}
    out |= {(EXPENDITURE, (qid,)): value for qid, value in truth.expenditures.items()}
    out |= {(TRAVEL, (qid,)): value for qid, value in truth.travels.items()}
    return out


def _is_right(one: Output, expected: tuple[int, ...], truth: Truth) -> bool:
    if one.kind != BALANCE:
        return (one.time, *one.values) == expected
    time, vid = expected
    result, amount = one.values
    return one.time == time and is_balance(truth, vid, time, result, amount)


def is_balance(truth: Truth, vid: int, asked: int, result: int, amount: int) -> bool:
    """Whether an amount was right at its instant, within 60 s before the request.

    The instant may also be the last one before these 60 s at which the car was told a toll: no
    payment lies between.
    """
    quoted = [0, *truth.quoted.get(vid, [])]
    earliest = max(one for one in quoted if one <= max(asked - _WITHIN, 0))
    return earliest <= result <= asked and balance(truth, vid, result) == amount


def balance(truth: Truth, vid: int, at: int) -> int:
    """What a car has paid up to an instant."""
    charges = truth.charges.get(vid, [])
    paid = bisect_right(charges, at, key=lambda one: one[0])
    return charges[paid - 1][1] if paid else 0
