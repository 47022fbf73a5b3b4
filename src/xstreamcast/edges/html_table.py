"""The rows of an answer as a table for a notebook."""

from __future__ import annotations

from html import escape
from itertools import islice
from typing import Any, Final

from xstreamcast.edges.columns import Row, names
from xstreamcast.model.counted import counted

SHOWN: Final = 50  # rows; a notebook keeps what it shows


def html_table(rows: list[Row], items: int) -> str:
    """The first rows, their columns as a heading, and how many items there are."""
    shown = list(islice(rows, SHOWN))
    columns = names(shown)
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{_cell(row.get(name))}</td>" for name in columns) + "</tr>"
        for row in shown
    )
    first = f", the first {len(shown)} shown" if items > len(shown) else ""
    table = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
    return f"{table if shown else ''}<p>{counted(items, 'item')}{first}</p>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return escape("; ".join(map(str, value)) if isinstance(value, list) else str(value))
