"""Answers to the twelve queries as values that can be compared, whoever wrote them down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from html import unescape
from typing import Any, Final

from bench import queries
from bench.queries import Query

ASKED: Final = ("q01", "q02", "q05")  # selective, range and cumulative, of XMark
STREAMS: Final = {"auction": "auction", "bibliography": "bibliography"}
# The beginning of a path from the root: `//` or `/site` behind nothing that a path goes on from.
_ROOT: Final = re.compile(r"(?<![\w)\]*.])(?=//[\w*]|/site\b)")
_PAIR: Final = re.compile(r"<item>(.*?)</item>", re.S)
_FIELD: Final = re.compile(r"<(quantity|payment)\b[^>]*>(.*?)</\1>", re.S)


def twelve() -> list[Query]:
    """The nine, and the three."""
    return [*queries.nine(), *(one for one in queries.xmark() if one.name in ASKED)]


def over_stream(query: Query) -> str:
    """The query over a stream in place of a document."""
    return _ROOT.sub(f'stream("{query.kind}")', query.text)


def over_file(query: Query, path: str) -> str:
    """The query over a document that it names itself."""
    return _ROOT.sub(f'doc("{path}")', query.text)


def values(name: str, items: Sequence[str]) -> list[str]:
    """The items of an answer without tags, in no order: DataFrames promise none."""
    if name == "p7":
        found = [_pair(inner) for item in items for inner in _PAIR.findall(item)]
    elif name == "p9":
        found = [unescape(line) for line in "".join(items).split("\n") if line]
    else:
        found = [bare(item) for item in items]
    return sorted(spaced(one) for one in found)


def _pair(inner: str) -> str:
    told = {field: spaced(bare(text)) for field, text in _FIELD.findall(inner)}
    return f"{told.get('quantity', '')}|{told.get('payment', '')}"


def bare(markup: str) -> str:
    """The text of what was serialised."""
    return unescape(re.sub(r"<[^<>]*>", "", markup))


def spaced(text: str) -> str:
    """Processors indent differently."""
    return " ".join(text.split())


def digest(found: Sequence[str]) -> str:
    """The same for the same values."""
    told = sha256()
    for one in sorted(spaced(value) for value in found):
        told.update(one.encode() + b"\0")
    return f"{len(found)} {told.hexdigest()[:16]}"


def ours(name: str, table: Any) -> str:
    """The digest of an answer as our run on Spark collects it."""
    return digest(values(name, table["item"].to_pylist()))
