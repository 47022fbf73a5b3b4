"""Answers that a system gave: from elements of the queries, or from lines as validators read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

TOLL, ACCIDENT, BALANCE, EXPENDITURE, TRAVEL = 0, 1, 2, 3, 4
WORDS: Final = {
    TOLL: "toll", ACCIDENT: "accident", BALANCE: "balance", EXPENDITURE: "expenditure",
    TRAVEL: "travel time",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Output:
    """`key`: car and second, or request; `time`: of the tuple that it answers."""

    kind: int
    key: tuple[int, ...]
    time: int
    values: tuple[int, ...]
    delay: float = 0.0  # seconds after the tuple was due


_KINDS: Final = {
    "toll": (TOLL, ("vid", "time"), ("lav", "toll")),
    "accident": (ACCIDENT, ("vid", "time"), ("seg",)),
    "balance": (BALANCE, ("qid",), ("result", "amount")),
    "expenditure": (EXPENDITURE, ("qid",), ("amount",)),
    "travel": (TRAVEL, ("qid",), ("seconds", "toll")),
}
_NAME = re.compile(r"<(\w+)")
_FIELD = re.compile(r'(\w+)="(-?\d+)"')


def from_element(item: str, delay: float = 0.0) -> Output:
    """<toll vid="1" time="65" lav="30" toll="50"/>  →  an answer."""
    named = _NAME.match(item)
    if named is None or named[1] not in _KINDS:
        raise ValueError(f"must be one of {', '.join(_KINDS)}; got {item}")
    kind, key, values = _KINDS[named[1]]
    fields = {name: int(value) for name, value in _FIELD.findall(item)}
    try:
        return Output(
            kind, tuple(fields[one] for one in key), fields["time"],
            tuple(fields[one] for one in values), delay,
        )  # fmt: skip
    except KeyError as missing:
        raise ValueError(f"{named[1]} must have the attribute {missing}; got {item}") from None


def from_lines(lines: Iterable[str], dialect: str) -> list[Output]:
    """Lines as the validators of a dialect read them; pseudo type 5 is left out."""
    rows = [[int(one) for one in line.split(",")] for line in lines if line.strip()]
    return [_from_line(row, dialect) for row in rows if row[0] <= TRAVEL]


def _from_line(row: list[int], dialect: str) -> Output:
    kind, *rest = row
    if kind == TOLL:  # VID, Time, Emit, LAV, Toll
        vid, time, emit, *values = rest
        return Output(kind, (vid, time), time, tuple(values), emit - time)
    time, emit, *rest = rest
    if kind == ACCIDENT:  # VID, Seg; or XWay, Seg, Dir, VID
        vid, segment = rest if dialect == "2004" else (rest[3], rest[1])
        return Output(kind, (vid, time), time, (segment,), emit - time)
    if kind == BALANCE:  # QID, ResultTime, Bal; or ResultTime, QID, Bal
        qid, result = rest[:2] if dialect == "2004" else rest[1::-1]
        return Output(kind, (qid,), time, (result, rest[2]), emit - time)
    return Output(kind, (rest[0],), time, tuple(rest[1:]), emit - time)
