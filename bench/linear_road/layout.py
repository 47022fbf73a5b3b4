"""The tuples of Linear Road: fifteen integers each, -1 where a type does not use a field."""

from __future__ import annotations

import io
from typing import Final

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]

FIELDS: Final = (
    "Type", "Time", "VID", "Spd", "XWay", "Lane", "Dir", "Seg", "Pos",
    "QID", "Sinit", "Send", "DOW", "TOD", "Day",
)  # fmt: skip
TYPE, TIME, VID, SPD, XWAY, LANE, DIR, SEG, POS, QID, SINIT, SEND, DOW, TOD, DAY = range(15)

REPORT, BALANCE, EXPENDITURE, TRAVEL = 0, 2, 3, 4  # there is no input of type 1
ENTRY, EXIT = 0, 4  # lanes; cars travel in lanes 1 to 3
SEGMENTS: Final = 100
FEET: Final = 5280  # of a segment
PERIOD: Final = 30  # seconds between two reports of a car

# What each type says, by the name of its element and attributes.
ELEMENTS: Final = {
    REPORT: ("report", ((TIME, "time"), (VID, "vid"), (SPD, "speed"), (XWAY, "xway"),
                        (LANE, "lane"), (DIR, "dir"), (SEG, "seg"), (POS, "pos"))),
    BALANCE: ("balance", ((TIME, "time"), (VID, "vid"), (QID, "qid"))),
    EXPENDITURE: ("expenditure", ((TIME, "time"), (VID, "vid"), (XWAY, "xway"), (QID, "qid"),
                                  (DAY, "day"))),
    TRAVEL: ("travel", ((TIME, "time"), (VID, "vid"), (XWAY, "xway"), (QID, "qid"),
                        (SINIT, "from"), (SEND, "to"), (DOW, "dow"), (TOD, "tod"))),
}  # fmt: skip


def minute(second: int) -> int:
    """The number of a minute: 0 … 59 → 1."""
    return second // 60 + 1


def blank(n: int) -> Rows:
    """Tuples with no field set."""
    return np.full((n, len(FIELDS)), -1, np.int64)


def csv_of(rows: Rows) -> bytes:
    """Tuples as the benchmark writes them, a line each."""
    return b"".join(b"%s\n" % b",".join(b"%d" % one for one in row) for row in rows.tolist())


def xml_of(rows: Rows) -> bytes:
    """Tuples as elements with the fields of their type, a line each."""
    return b"".join(map(_element, rows.tolist()))


def _element(row: list[int]) -> bytes:
    name, fields = ELEMENTS[row[TYPE]]
    said = "".join(f' {label}="{row[at]}"' for at, label in fields)
    return f"<{name}{said}/>\n".encode()


def read_xml(lines: bytes) -> Rows:
    """The tuples of elements, a line each."""
    out = []
    for line in lines.decode("ascii").splitlines():
        kind, fields = _NAMED[line[1 : line.index(" ")]]
        values = line.split('"')[1::2]
        row = [-1] * len(FIELDS)
        row[TYPE] = kind
        for (at, _), value in zip(fields, values, strict=True):
            row[at] = int(value)
        out.append(row)
    return np.array(out, np.int64).reshape(-1, len(FIELDS))


_NAMED: Final = {name: (kind, fields) for kind, (name, fields) in ELEMENTS.items()}


def read_csv(raw: bytes) -> Rows:
    """The tuples of lines of fifteen integers."""
    if not raw.strip():
        return blank(0)
    return np.loadtxt(io.BytesIO(raw), np.int64, delimiter=",", ndmin=2)
