"""The units of a batch of messages: for each kind, in columns, what the mapping says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.mapping.asking import TextColumn, Whys, XPath, joined_texts
from xstreamcast.edges.mapping.times import default_of, instants_of
from xstreamcast.model import fragment as model
from xstreamcast.model.atomic import NODE
from xstreamcast.model.column import offsets_of
from xstreamcast.model.instant import DAY, NOW, START

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.form import Mapping, TimeRule, UnitRule
    from xstreamcast.edges.mapping.messages import Messages
    from xstreamcast.tape.layout import I64, Bools
    from xstreamcast.tape.store import Store

_PLACES: Final = 10 ** np.arange(15, -1, -1, dtype=np.int64)  # of the digits of a number


@dataclass(slots=True)
class Times:
    """An instant for each row: whether it has a time zone, whether there is one or a faulty one."""

    value: I64
    zoned: Bools
    there: Bools
    bad: Bools
    texts: TextColumn | None = None

    def put(self, at: Bools, other: Times) -> None:
        """Take the other's values at some rows."""
        self.value[at], self.zoned[at] = other.value[at], other.zoned[at]
        self.there[at] = other.there[at]


@dataclass(slots=True)
class Found:
    """The units of one kind in a batch, a row each."""

    rule: UnitRule
    message: I64  # which message of the batch
    parent: I64  # which row of the kind it is nested in, -1 = none
    row: I64  # on the tape
    id: TextColumn
    begins: Times
    ends: Times | None
    version: I64
    remove: Bools
    skip: Bools
    temporary: Bools
    cancels: list[tuple[int, str]]  # (row, key)
    aliases: list[tuple[int, str]]  # (row, key)
    statements: list[str | None]  # what a row is part of; empty where the mapping does not say
    timeless: Bools  # it does not say itself when it begins
    why: dict[int, tuple[str, str]] = field(default_factory=dict)  # row → code, reason


def accepted(kind: Found) -> Bools:
    """Which units say something that fits."""
    fits = ~kind.skip
    fits[list(kind.why)] = False
    return fits


def ends_of(kind: Found, at: I64, valid: I64, zoned: Bools, fallen: Bools) -> tuple[I64, Any]:
    """(where units end, their flags); `fallen`: temporary ones that were never there."""
    flags = np.where(zoned, model.ZONED, 0).astype(np.uint8)
    flags[kind.temporary[at]] |= model.TEMPORARY
    to = np.full(len(at), NOW)
    if kind.ends is not None:
        there = kind.ends.there[at]
        to[there] = kind.ends.value[at][there]
        flags[there & kind.ends.zoned[at]] |= model.ENDS_ZONED
    # a temporary one that ends before it begins would take back another
    to = np.where(kind.temporary[at], np.maximum(to, valid), to)
    to[fallen] = valid[fallen]
    return to, flags


def refuse_messages(said: Times, failed: Whys, found: dict[str, Found]) -> None:
    """A message whose time is none is refused with all its units."""
    for row in np.flatnonzero(said.bad).tolist():
        assert said.texts is not None
        text = said.texts.text(row)
        failed.setdefault(row, ("XSCM0004", f"message.time must be a time; got {text!r}"))
    for row, why in failed.items():
        for kind in found.values():
            for unit in np.flatnonzero(kind.message == row).tolist():
                kind.why.setdefault(unit, why)


class KindReader:
    """What finds the units of one kind."""

    def __init__(self, mapping: Mapping, rule: UnitRule) -> None:
        def xpath(word: str, text: str | None) -> XPath | None:
            return None if text is None else XPath(mapping, f"unit.{rule.name}.{word}", text)

        path = xpath("path", rule.path)
        assert path is not None
        self.rule, self._path = rule, path
        self._keys = [XPath(mapping, f"unit.{rule.name}.key", one) for one in rule.key]
        self._from = xpath("from", rule.begins.path if rule.begins else None)
        self._to = xpath("to", rule.ends.path if rule.ends else None)
        self._version = xpath("version", rule.version)
        self._tests = {
            word: xpath(word, getattr(rule, word)) for word in ("remove", "skip", "temporary")
        }
        self._cancels = xpath("cancels", rule.cancels)
        self._alias = xpath("alias", rule.alias)
        self._statement = xpath("statement", rule.statement)
        self.count = 0  # units that were known by their number
        self.read, self.timed = 0, 0  # units, and those of them that say when they begin
        self.unzoned: dict[str, None] = {}  # entries that find times without a time zone

    def found(self, store: Store, batch: Messages, said: Times, above: Found | None) -> Found:
        """The units of a batch; `said`: message times, `above`: the units they are nested in."""
        given = batch.documents if above is None else above.row
        rows, nodes = self._path.nodes(store, given)
        if above is None:
            message, parent = rows, np.full(len(rows), -1, np.int64)
            prefix: list[TextColumn | bytes] = [f"{self.rule.name}:".encode()]
        else:
            message, parent = above.message[rows], rows
            prefix = [_taken(above.id, rows), f"/{self.rule.name}:".encode()]
        n, why = len(nodes), dict[int, tuple[str, str]]()
        ids = self._ids(store, nodes, prefix, why)
        begins = times_of(store, nodes, self._from, self.rule.begins, why)
        _refuse_times(begins, f"unit.{self.rule.name}.from", why)
        ends = None
        if self._to is not None:
            ends = times_of(store, nodes, self._to, self.rule.ends, why)
            _refuse_times(ends, f"unit.{self.rule.name}.to", why)
        for word, times in (("from", begins), ("to", ends)):
            if times is not None and _without_zone(times):
                self.unzoned[word] = None
        timeless = ~begins.there
        self.read, self.timed = self.read + n, self.timed + int((~timeless | begins.bad).sum())
        if above is not None:
            begins.put(~begins.there, _rows(above.begins, rows))
        begins.put(~begins.there, _rows(said, message))
        tests = {
            word: np.zeros(n, np.bool_)
            if test is None
            else test.safely(test.holds, store, nodes, why)
            for word, test in self._tests.items()
        }
        if above is not None and above.why:
            for row, parent_row in enumerate(rows.tolist()):
                if parent_row in above.why:
                    why.setdefault(row, above.why[parent_row])
        return Found(
            self.rule, message, parent, nodes & 0xFFFFFFFF, ids, begins, ends,
            self._versions(store, nodes, why), tests["remove"], tests["skip"], tests["temporary"],
            _keys(self._cancels, store, nodes, why), _keys(self._alias, store, nodes, why),
            self._stated(store, nodes, above, rows, why), timeless, why,
        )  # fmt: skip

    def _ids(
        self, store: Store, nodes: I64, prefix: list[TextColumn | bytes], why: dict[int, Any]
    ) -> TextColumn:
        """What units are known by: the kind, then the parts of the key."""
        parts = list(prefix)
        if not self._keys:
            parts.append(_numbers(self.count, len(nodes)))
            self.count += len(nodes)
        for number, key in enumerate(self._keys):
            texts = key.safely(key.texts, store, nodes, why)
            for row in np.flatnonzero((texts.counts != 1) | (texts.lengths == 0)).tolist():
                count = int(texts.counts[row])
                got = "several values" if count > 1 else "an empty value" if count else "none"
                why.setdefault(
                    row, ("XSCM0003", f"the key {key.text} must be one value; got {got}")
                )
            parts += [b"|", texts] if number else [texts]
        return joined_texts(parts)

    def _versions(self, store: Store, nodes: I64, why: dict[int, Any]) -> I64:
        out = np.zeros(len(nodes), np.int64)
        if self._version is None:
            return out
        texts = self._version.safely(self._version.texts, store, nodes, why)
        for row in np.flatnonzero(texts.counts > 0).tolist():
            text = texts.text(row)
            if text.isascii() and text.isdigit() and len(text) < 18:
                out[row] = int(text)
            else:
                why.setdefault(row, ("XSCM0005", f"a version must be a whole number; got {text}"))
        return out

    def _stated(
        self, store: Store, nodes: I64, above: Found | None, rows: I64, why: Whys
    ) -> list[str | None]:
        """What each unit is part of; the unit that it is nested in is part of the name."""
        if self._statement is None:
            return []
        texts = self._statement.safely(self._statement.texts, store, nodes, why)
        about = [""] * len(nodes) if above is None else [above.id.text(r) for r in rows.tolist()]
        return [
            f"{about[row]} {texts.text(row)}" if count else None
            for row, count in enumerate(texts.counts.tolist())
        ]


def _keys(path: XPath | None, store: Store, nodes: I64, why: Whys) -> list[tuple[int, str]]:
    """(row, key) of each key that a path finds."""
    if path is None:
        return []
    rows, items = path.safely(path.items, store, nodes, why)
    texts = store.strings(items.values) if items.tag == NODE else items.values
    return [(row, str(text).strip()) for row, text in zip(rows.tolist(), texts, strict=True)]


def _numbers(first: int, count: int) -> TextColumn:
    """Numbers from `first` on, as texts that are ordered as they are: of one instant, the event
    that came first is the first."""
    values = np.arange(first, first + count, dtype=np.int64)
    heap = (values[:, None] // _PLACES % 10 + ord("0")).astype(np.uint8).reshape(-1)
    lengths = np.full(count, len(_PLACES), np.int64)
    return TextColumn(heap, offsets_of(lengths), np.ones(count, np.int64))


def times_of(
    store: Store, nodes: I64, path: XPath | None, rule: TimeRule | None, why: Whys
) -> Times:
    """The times that a rule finds at some nodes."""
    n = len(nodes)
    none = Times(
        np.full(n, START), np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    )
    if path is None or rule is None:
        return none
    texts = path.safely(path.texts, store, nodes, why)
    value, zoned, good = instants_of(texts, rule)
    given = (texts.counts > 0) & (texts.lengths > 0)
    default = None if rule.default is None else default_of(rule)
    if default is not None:
        value[~given], zoned[~given], good[~given] = *default, True
        given = np.ones(n, np.bool_)
    return Times(np.where(good, value, START), zoned & good, good & given, given & ~good, texts)


def _without_zone(times: Times) -> bool:
    """Whether there is a time of day without a time zone."""
    return bool((times.there & ~times.zoned & (times.value % DAY != 0)).any())


def _refuse_times(times: Times, entry: str, why: dict[int, tuple[str, str]]) -> None:
    for row in np.flatnonzero(times.bad).tolist():
        assert times.texts is not None
        text = times.texts.text(row)
        why.setdefault(row, ("XSCM0004", f"{entry} must be a time; got {text!r}"))


def _rows(times: Times, rows: I64) -> Times:
    return Times(times.value[rows], times.zoned[rows], times.there[rows], times.bad[rows])


def _taken(texts: TextColumn, rows: I64) -> TextColumn:
    lengths = texts.lengths[rows]
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    at = np.arange(total) + np.repeat(texts.offsets[:-1][rows] - ends + lengths, lengths)
    offsets = np.concatenate((np.zeros(1, np.int64), ends))
    return TextColumn(texts.heap[at], offsets, texts.counts[rows])
