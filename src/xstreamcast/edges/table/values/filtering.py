"""Which rows of a file a query sees: those for which comparisons may hold, or may be an error.

A row is left out only where some comparison is known to be false, and none before it can fail: then
the query sees nothing of its payload.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.algebra.analysis.compared import TagComparisons
from xstreamcast.algebra.analysis.path_comparisons import PathComparison, Run
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.table.values.definitions import ValuePath, defined
from xstreamcast.edges.table.values.extracting import DATES, span_of
from xstreamcast.edges.table.values.kept import KeptValues, Values
from xstreamcast.model.atomic import BY_TAG, DECIMAL, DOUBLE, FLOAT, INTEGER, PRIMITIVE
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from xstreamcast.edges.table.log import File

_NUMBERS: Final = frozenset({INTEGER, DECIMAL, FLOAT, DOUBLE})
_TEXTS: Final = frozenset({"string", "untypedAtomic", "anyURI"})
_SHOWN: Final = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@dataclass(frozen=True, slots=True)
class _Bound:
    """A constant as a kind of values is compared with it: between two ends, mostly equal."""

    kind: str  # of columns
    low: Any
    high: Any


@dataclass(frozen=True, slots=True)
class _Test:
    """A comparison of kept values; `path` None: no values are kept, but it cannot fail."""

    path: ValuePath | None
    comparison: PathComparison
    bounds: tuple[_Bound, ...]


@dataclass(frozen=True, slots=True)
class ValueFilter:
    """By tag: runs of comparisons of kept values, of which one must hold for a row to be seen."""

    runs: Mapping[int, tuple[tuple[_Test, ...], ...]]

    @staticmethod
    def of(table: Path, stream: str, compared: Mapping[int, TagComparisons]) -> ValueFilter | None:
        """The comparisons that the table keeps values for; None if there are none."""
        if not compared:
            return None
        paths = {
            (one.tag, one.steps, one.attribute): one
            for one in defined(table)
            if one.stream == stream
        }
        found = {
            tag: tuple(_tests(run, tag, paths) for run in one.runs) for tag, one in compared.items()
        }
        kept = {tag: runs for tag, runs in found.items() if all(map(_decides, runs))}
        return ValueFilter(kept) if kept else None

    def seen(self, kept: KeptValues, file: File) -> Any | None:
        """Whether each row of a file may be seen; None: all, as far as is known."""
        runs = self.runs.get(file.tag)
        if runs is None:
            return None
        paths = {one.path for run in runs for one in run if one.path is not None}
        found = {path: kept.of(file, path) for path in paths}
        values = {path: one for path, one in found.items() if one is not None}
        if len(values) < len(found):
            return None
        seen = np.zeros(file.rows, np.bool_)
        for run in runs:
            seen |= _may_hold(run, values, file.rows)
        return seen

    def words(self) -> list[str]:
        """What is compared before payloads are read."""
        return [
            " or ".join(" and ".join(_said(run)) for run in runs) for runs in self.runs.values()
        ]


def _said(run: Sequence[_Test]) -> list[str]:
    return [
        f"{test.path.text} {_SHOWN[test.comparison.op]} {_constants(test.comparison)}"
        for test in run
        if test.path is not None
    ]


def _constants(comparison: PathComparison) -> str:
    said = [
        f'"{atom.value}"' if BY_TAG[atom.tag].name in _TEXTS else str(atom.value)
        for atom in comparison.atoms
    ]
    return said[0] if len(said) == 1 else f"({', '.join(said)})"


# -- comparisons that values are kept for ----------------------------------------------------------


def _decides(run: Sequence[_Test]) -> bool:
    return any(test.path is not None for test in run)


def _tests(run: Run, tag: int, paths: Mapping[Any, ValuePath]) -> tuple[_Test, ...]:
    """The comparisons up to the first of which it is not known whether it fails."""
    found: list[_Test] = []
    for one in run:
        bounds = None if one.anywhere else _bounds(one)
        path = paths.get((tag, one.steps, one.attribute)) if bounds is not None else None
        if path is None and not cannot_fail(one):
            break
        found.append(_Test(path, one, bounds or ()))
    return tuple(found)


def cannot_fail(one: PathComparison) -> bool:
    return one.general and all(BY_TAG[atom.tag].name in _TEXTS for atom in one.atoms)


def _bounds(one: PathComparison) -> tuple[_Bound, ...] | None:
    """The constants; None if no kept values say how untyped values compare with them."""
    found = [_bound(atom.tag, atom.value) for atom in one.atoms]
    if one.op in ("ne", "contains") or None in found:
        return None
    known = tuple(bound for bound in found if bound is not None)
    if not one.general and (len(known) != 1 or known[0].kind != "text"):
        return None  # eq compares untyped values as strings, and one with one
    return known


def _bound(tag: int, value: Any) -> _Bound | None:
    if PRIMITIVE[tag] in _NUMBERS:
        return _number(value)
    if BY_TAG[tag].name in _TEXTS:
        return _Bound("text", str(value), str(value))
    for kind, own in DATES.items():
        if tag == own:
            span = span_of(value)
            return None if span is None else _Bound(kind, *span)
    return None


def _number(value: Any) -> _Bound | None:
    try:
        return _Bound("number", float(value), float(value))
    except OverflowError:  # an integer that no double is near
        return None


# -- rows ------------------------------------------------------------------------------------------


def _may_hold(run: Sequence[_Test], values: Mapping[ValuePath, Values], n: int) -> Any:
    """Whether all comparisons of a run may hold for each row, or one of them may fail."""
    undecided, seen = np.ones(n, np.bool_), np.zeros(n, np.bool_)
    for test in run:
        if test.path is None:
            continue  # it neither fails, nor is known to be false
        false, fails = _judged(test, values[test.path], n)
        seen |= undecided & fails
        undecided &= ~false & ~fails
    return seen | undecided


def _judged(test: _Test, values: Values, n: int) -> tuple[Any, Any]:
    """Whether a comparison is false for sure, and whether it may be an error."""
    false, fails = np.ones(n, np.bool_), np.zeros(n, np.bool_)
    groups = values.groups()
    wanted = [g for g in range(len(groups)) if not _is_skipped(test, values, g)]
    if not wanted:
        return false, fails
    rows = np.concatenate([np.arange(*groups[g]) for g in wanted])
    columns = {"count", "unknown"}
    for bound in test.bounds:
        columns |= {f"{bound.kind}_min", f"{bound.kind}_max"}
        columns |= set() if bound.kind == "text" else {f"{bound.kind}_odd"}
    read = values.read(wanted, sorted(columns))
    fails[rows] = _fails(test, read)
    false[rows] = _is_false(test, read) & ~fails[rows]
    return false, fails


def _is_skipped(test: _Test, values: Values, group: int) -> bool:
    """Whether the statistics of a row group say that the comparison is false for all its rows."""
    for column in ("unknown", *(f"{b.kind}_odd" for b in test.bounds if b.kind != "text")):
        found = values.statistics(group, column)
        if found is None or not found.has_min_max or found.max:
            return False
    count = values.statistics(group, "count")
    if count is None or not count.has_min_max or (count.max > 1 and not test.comparison.general):
        return False
    return all(_excludes(test, bound, values, group, count) for bound in test.bounds)


def _excludes(test: _Test, bound: _Bound, values: Values, group: int, count: Any) -> Any:
    """Whether the statistics say that a constant is outside of the values of all rows."""
    low = values.statistics(group, f"{bound.kind}_min")
    high = values.statistics(group, f"{bound.kind}_max")
    if low is None or high is None:
        return False
    if bound.kind == "text" and (low.null_count or high.null_count):
        return bool(count.max == 0)
    if not (low.has_min_max and high.has_min_max):
        return bool(count.max == 0)
    return _outside(test.comparison.op, low.min, high.max, bound)


def _outside(op: str, low: Any, high: Any, bound: _Bound) -> Any:
    """Whether no value between two ends compares so with a constant."""
    match op:
        case "eq":
            return (high < bound.low) | (low > bound.high)
        case "lt":
            return low >= bound.high
        case "le":
            return low > bound.high
        case "gt":
            return high <= bound.low
        case _:
            return high < bound.low


def _fails(test: _Test, read: Any) -> Any:
    fails = _plain(read["unknown"])
    for bound in test.bounds:
        if bound.kind != "text":
            fails = fails | _plain(read[f"{bound.kind}_odd"])
    if not test.comparison.general:
        fails = fails | (read["count"].to_numpy() > 1)
    return fails


def _is_false(test: _Test, read: Any) -> Any:
    """Whether every constant is outside of the values of each row."""
    pa, count = arrow(), read["count"].to_numpy()
    false = np.ones(read.num_rows, np.bool_)
    for bound in test.bounds:
        low, high = read[f"{bound.kind}_min"], read[f"{bound.kind}_max"]
        if bound.kind == "text":
            none = _plain(pa.compute.is_null(low))
            outside = _outside_texts(test.comparison.op, low, high, bound)
            false &= np.where(none, count == 0, outside)
        else:
            none = _plain(pa.compute.is_null(low))
            ends = (low.fill_null(0).to_numpy(), high.fill_null(0).to_numpy())
            false &= none | _outside(test.comparison.op, *ends, bound)
    return false


def _outside_texts(op: str, low: Any, high: Any, bound: _Bound) -> Any:
    """As `_outside`; Arrow compares UTF-8, which sorts as code points do."""
    pc = arrow().compute
    match op:
        case "eq":
            outside = pc.or_(pc.less(high, bound.low), pc.greater(low, bound.high))
        case "lt":
            outside = pc.greater_equal(low, bound.high)
        case "le":
            outside = pc.greater(low, bound.high)
        case "gt":
            outside = pc.less_equal(high, bound.low)
        case _:
            outside = pc.less(high, bound.low)
    return _plain(outside.fill_null(False))


def _plain(column: Any) -> Any:
    """A column of booleans."""
    return np.asarray(column.combine_chunks().to_numpy(zero_copy_only=False), np.bool_)
