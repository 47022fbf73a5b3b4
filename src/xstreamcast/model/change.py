"""A change of an answer adds or retracts a keyed item; accumulated changes are the answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

from xstreamcast.errors import error
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import NOW, START, parse_instant, show_instant

Diff = Literal[1, -1]
FORMAT: Final = 1  # of a line; a line that names no format has this one


@dataclass(frozen=True, slots=True)
class Change:
    """At `instant`, the item under `key` is retracted (-1), or added (+1) after the key `after`.

    A key names a place in the answer: a revision retracts and adds an item under the same
    key. `after` is the key it is behind, None for the first; of what goes it says nothing.
    `item` is the serialised node or the value as a string. Where several queries run together,
    `query` is the name of the one whose answer changes: keys are names in its answer.
    """

    instant: int
    diff: Diff
    key: str
    after: str | None
    item: str
    query: str = ""

    def to_json(self) -> str:
        """The change as a line of JSON."""
        record = {
            "time": show_time(self.instant),
            "diff": self.diff,
            "key": self.key,
            "after": self.after,
            "item": self.item,
        }
        if self.query:
            record = {"query": self.query, **record}
        return json.dumps(record, ensure_ascii=False, separators=(",", ":"))

    @staticmethod
    def from_json(line: str) -> Change:
        """The change that a line describes: from_json(to_json(change)) → change."""
        found: Any = None
        try:
            match found := json.loads(line):
                case {"format": int(version)} if version > FORMAT:
                    raise error(
                        "XSCC0001", f"the change is of format {version}, and this version reads "
                        f"up to {FORMAT}", hint="read it with a newer xstreamcast",
                    )  # fmt: skip
                case {"time": str(said), "diff": 1 | -1 as diff, "key": str(key), "item": str(item),
                      "after": (str() | None) as after, **more}:  # fmt: skip
                    query = str(more.get("query", ""))
                    return Change(_instant(said), diff, key, after, item, query)
        except ValueError:
            pass  # reported below: a line that is not JSON is not a change
        names = "time, diff, key, after, item"
        if isinstance(found, dict) and found.keys() >= set(names.split(", ")):
            names += ", of which diff is 1 or -1, after a string or null, and the others strings"
        raise error("XSCC0001", f"a change must have {names}; got {line[:80]}")


def restart_line(instant: int) -> str:
    """A line between changes: all items so far are gone, and what follows is the whole answer."""
    return json.dumps({"time": show_time(instant), "diff": 0}, separators=(",", ":"))


def restarts(line: str) -> int | None:
    """The instant of a line that says so; None: it does not."""
    if '"diff"' not in line or '"key"' in line:
        return None
    try:
        match json.loads(line):
            case {"time": str(said), "diff": 0}:
                return _instant(said)
    except ValueError:
        pass  # reported by who reads it as a change
    return None


def show_time(instant: int) -> str:
    """An instant as changes and updates have it."""
    return show_instant(instant, zoned=instant not in (START, NOW))


def _instant(said: str) -> int:
    if said in ("start", "now"):
        return START if said == "start" else NOW
    found = parse_instant(said)
    if found is None:
        raise ValueError(said)
    return found[0]


class Accumulated:
    """The answer after all changes so far: keys in the order of the answer, each with its item.

    accumulate(changes of q over a history)  →  q over that history
    """

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        self._item: dict[str | None, str] = {}
        self._next: dict[str | None, str | None] = {None: None}
        self._before: dict[str, str | None] = {}
        for change in changes:
            self.apply(change)

    def __len__(self) -> int:
        return len(self._item)

    def __contains__(self, key: str) -> bool:
        return key in self._item

    def __getitem__(self, key: str) -> str:
        return self._item[key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Keys and items in the order of the answer."""
        key = self._next[None]
        while key is not None:
            yield key, self._item[key]
            key = self._next[key]

    def behind(self, key: str) -> str | None:
        """The key before a key; None for the first key, and for an unknown one."""
        return self._before.get(key)

    def is_last(self, key: str) -> bool:
        """Whether a key is the last one."""
        return self._next[key] is None

    def items(self) -> list[str]:
        """The items without keys, in order."""
        return [item for _, item in self]

    def apply(self, change: Change) -> None:
        """Apply a change; one that does not match the answer so far is an error."""
        if change.diff < 0:
            self._remove(change)
        else:
            self._insert(change)

    def _remove(self, change: Change) -> None:
        if change.key not in self._item:
            raise error("XSCC0001", f"a change takes away {change.key}, which is not there")
        before, behind = self._before.pop(change.key), self._next.pop(change.key)
        del self._item[change.key]
        self._next[before] = behind
        if behind is not None:
            self._before[behind] = before

    def _insert(self, change: Change) -> None:
        key, after = change.key, change.after
        if key in self._item:
            raise error("XSCC0001", f"a change adds {key}, which is there already")
        if after is not None and after not in self._item:
            raise error("XSCC0001", f"a change puts {key} after {after}, which is not there")
        behind = self._next[after]
        self._item[key] = change.item
        self._next[after], self._next[key], self._before[key] = key, behind, after
        if behind is not None:
            self._before[behind] = key
