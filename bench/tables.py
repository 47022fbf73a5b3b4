"""Markdown tables of medians, rates and ratios."""

from collections.abc import Iterable, Sequence
from math import exp, log

ABSENT = "–"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is words and whose others are numbers, padded to read as text."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(3, *(len(line[i]) for line in lines)) for i in range(len(header))]
    rule = ["-" * widths[0], *["-" * (width - 1) + ":" for width in widths[1:]]]
    lines.insert(1, rule)
    return "".join(_line(line, widths) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    others = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return f"| {' | '.join([first, *others])} |\n"


def seconds(value: float | None) -> str:
    """Three digits that matter."""
    if value is None:
        return ABSENT
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def rate(size: int, took: float) -> str:
    """Megabytes each second."""
    return f"{size / 1e6 / took:.0f}"


def ratio(value: float | None) -> str:
    """How many times as fast."""
    if value is None:
        return ABSENT
    return f"{value:.1f} ×" if value < 10 else f"{value:.0f} ×"


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """The mean of ratios, over those that there are."""
    logs = [log(value) for value in values if value is not None]
    return exp(sum(logs) / len(logs)) if logs else None
