"""What places of a query hand to Spark as rows: changes, updates, and their reports."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.partitions.facts import error_facts, refused_facts

if TYPE_CHECKING:
    from xstreamcast.errors import Error
    from xstreamcast.model.update import RankedAnswer, Update

CHANGES: Final = (
    "query string, nth bigint, time bigint, diff int, key string, after string, item string"
)
UPDATES: Final = (
    "query string, key string, rank binary, item string, deleted boolean, time bigint, "
    "version bigint"
)
REFUSED, FAILED, SAID = "refused", "failed", "said"  # keys of rows that are no changes: diff is 0

Side = tuple[None, int, str, None, str]


def side(key: str, what: Any) -> Side:
    """A row that is no change: JSON."""
    return None, 0, key, None, json.dumps(what)


def failed_side(why: Error) -> Side:
    """The error that a query stops with."""
    return side(FAILED, error_facts(why))


def side_rows(refused: Iterable[Any], said: Any) -> list[Side]:
    """What is reported besides changes."""
    sides = [side(REFUSED, refused_facts(one)) for one in refused]
    return sides + ([] if said is None else [side(SAID, said)])


def ranked_updates(ranked: RankedAnswer, changes: list[Any]) -> list[tuple[int, Update]]:
    """What the changes of a tick come to, and its number."""
    return [(ranked.ticks, one) for one in ranked.updates(changes)]


def update_rows(query: str, made: list[tuple[int, Update]]) -> Any:
    """Updates as Spark takes them; of two of one key, the one with the greater version counts."""
    import pandas  # type: ignore[import-untyped]

    columns: dict[str, Any] = {
        "key": [one.key for _, one in made],
        "rank": [None if one.item is None else one.rank for _, one in made],
        "item": [one.item for _, one in made],
        "deleted": [one.item is None for _, one in made],
        "time": [one.instant for _, one in made],
        # a row that moves is taken back by one partition and emitted by another in the same tick
        "version": [2 * turn + (one.item is not None) for turn, one in made],
    }
    found = pandas.DataFrame(columns, dtype=object)
    found.insert(0, "query", query)
    return found.astype({"deleted": "bool", "time": "int64", "version": "int64"})


def change_rows(query: str, changes: list[Any], besides: list[Side]) -> Any:
    """Changes, and what else there is to say, as Spark takes them."""
    import pandas

    values = [(one.instant, one.diff, one.key, one.after, one.item) for one in changes] + besides
    columns: list[Any] = [list(one) for one in zip(*values, strict=True)] if values else [[]] * 5
    names = ("time", "diff", "key", "after", "item")
    made = pandas.DataFrame(dict(zip(names, columns, strict=True)), dtype=object)
    made.insert(0, "query", query)
    made.insert(1, "nth", range(len(values)))
    return made.astype({"nth": "int64", "diff": "int32", "time": "Int64"})
