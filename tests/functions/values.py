"""Lexical forms of atomic values, likely and unlikely ones."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from hypothesis import strategies as st

from xstreamcast.functions.cast.facets import RANGE
from xstreamcast.model.atomic import ATOMIC

_EDGES: Final = [
    0,
    1,
    -1,
    127,
    128,
    255,
    2**31 - 1,
    -(2**31),
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    2**64,
]
integers = st.one_of(st.integers(-20, 20), st.sampled_from(_EDGES), st.integers()).map(str)
decimals = st.one_of(
    integers,
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-999, max_value=999).map(
        str
    ),
    st.tuples(integers, st.integers(0, 10**22)).map(lambda t: f"{t[0]}.{t[1]:022d}"),
)
doubles = st.one_of(
    st.floats().map(repr).map(lambda t: {"nan": "NaN", "inf": "INF", "-inf": "-INF"}.get(t, t)),
    st.sampled_from(["0", "-0", "NaN", "INF", "-INF", "0.5", "-0.5", "1.5", "2.5", "1e6", "1e-7"]),
    st.floats(-1e7, 1e7).map(repr),
    decimals,
)
zones = st.one_of(
    st.just(""), st.just("Z"), st.sampled_from(["+14:00", "-14:00", "+05:30", "-00:01"])
)
years = st.one_of(st.integers(1900, 2100), st.integers(-20, 20), st.integers(-9999, 99999)).map(
    lambda y: f"{'-' if y < 0 else ''}{abs(y):04d}"
)
_months = st.integers(1, 12).map("{:02d}".format)
_days = st.integers(1, 28).map("{:02d}".format)
_late = st.sampled_from(["01-31", "02-28", "02-29", "12-31", "03-01"])
dates = st.tuples(years, st.one_of(st.tuples(_months, _days).map("-".join), _late)).map("-".join)
_fraction = st.sampled_from(["", ".5", ".001", ".999999999", ".000000001"])
times = st.one_of(
    st.tuples(st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), _fraction).map(
        lambda t: f"{t[0]:02d}:{t[1]:02d}:{t[2]:02d}{t[3]}"
    ),
    st.sampled_from(["24:00:00", "00:00:00", "23:59:59.999999999"]),
)
_small = st.integers(0, 10_000)
_sign = st.sampled_from(["", "-"])
months = st.tuples(_sign, _small, _small).map(lambda t: f"{t[0]}P{t[1]}Y{t[2]}M")
seconds = st.tuples(_sign, _small, _small, _small, _small, _fraction).map(
    lambda t: f"{t[0]}P{t[1]}DT{t[2]}H{t[3]}M{t[4]}{t[5]}S"
)
durations = st.one_of(
    months,
    seconds,
    st.tuples(_small, _small, _fraction).map(lambda t: f"-P{t[0]}MT{t[1]}{t[2]}S"),
)
texts = st.one_of(st.text("abz:-. \té0157", max_size=6), integers, doubles, dates, durations)


def _zoned(forms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(forms, zones).map("".join)


FORMS: Final[dict[str, st.SearchStrategy[str]]] = {
    "string": texts,
    "untypedAtomic": texts,
    "anyURI": st.text("ab:/#", max_size=5),
    "boolean": st.sampled_from(["true", "false", "0", "1"]),
    "integer": integers,
    "decimal": decimals,
    "double": doubles,
    "float": doubles,
    "date": _zoned(dates),
    "dateTime": _zoned(st.tuples(dates, times).map("T".join)),
    "time": _zoned(times),
    "gYear": _zoned(years),
    "gYearMonth": _zoned(st.tuples(years, _months).map("-".join)),
    "gMonth": _zoned(_months.map("--{}".format)),
    "gDay": _zoned(_days.map("---{}".format)),
    "gMonthDay": _zoned(st.tuples(_months, _days).map(lambda t: f"--{t[0]}-{t[1]}")),
    "duration": durations,
    "yearMonthDuration": months,
    "dayTimeDuration": seconds,
    "hexBinary": st.binary(max_size=3).map(bytes.hex),
    "base64Binary": st.sampled_from(["", "AA==", "qrs=", "AAAA", "//79"]),
}
DERIVED: Final = [name for name, row in ATOMIC.items() if row.tag in RANGE]
NUMERIC: Final = ["integer", "decimal", "double", "float"]


# Factors of durations: large ones leave the limits of either side, which differ.
factors = st.one_of(
    st.tuples(st.just("integer"), st.integers(-1000, 1000).map(str)),
    st.tuples(st.just("decimal"), st.integers(-9999, 9999).map(lambda n: str(Decimal(n) / 1000))),
    st.tuples(
        st.sampled_from(["double", "float"]),
        st.sampled_from(["0.5", "-0.25", "3", "1e-3", "0", "-0", "INF", "NaN"]),
    ),
)


def value(types: list[str]) -> st.SearchStrategy[tuple[str, str]]:
    """A value of one of the types, as (type, lexical form)."""
    return st.sampled_from(types).flatmap(lambda t: st.tuples(st.just(t), FORMS[t]))
