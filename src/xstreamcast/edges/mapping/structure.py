"""The tag structure that a mapping makes: the root, and a tag for each kind and element name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.model.fragment import ZONED, FragmentBatch
from xstreamcast.model.structure import Tag, TagStructure
from xstreamcast.tape.reading.read import read

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.form import Mapping, UnitRule
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.tape.layout import I32
    from xstreamcast.tape.names import Names


ROOT: Final = "0"  # the id of the root
_LAST_NAME: Final = re.compile(r"(?:.*/)?(?:(?P<prefix>[\w.-]+):)?(?P<local>[\w.-]+)")
_FIRST: Final = -62_135_596_800 * 1_000_000  # the year 1: the root is there before all else


def root_batch(mapping: Mapping, names: Names, ids: Ids) -> FragmentBatch:
    """The root of a feed, to which units are attached."""
    tape = read(f"<{mapping.root}/>".encode(), names=names)
    one = np.array([ids.code(ROOT)], np.int32)
    no, none = np.zeros(1, np.uint8), np.zeros(0, np.int32)
    return FragmentBatch(
        tape, one, np.zeros(1, np.int32), np.array([_FIRST]), np.array([ZONED], np.uint8),
        no, np.ones(1, np.int32), np.zeros(1, np.int64), none, none, none, none,
    )  # fmt: skip


def expected_structure(mapping: Mapping) -> TagStructure | None:
    """The structure of a feed whose units have the names that their paths end with, before any has
    come; None if paths do not end with names, or units contain others.
    """
    tags = {0: Tag(0, "", mapping.root, "snapshot", False)}
    for rule in mapping.units:
        for path in rule.path.split("|"):
            named = _LAST_NAME.fullmatch(path.strip())
            if named is None or rule.within is not None:
                return None
            uri = mapping.namespaces.get(named["prefix"], "") if named["prefix"] else ""
            kind: Any = "event" if rule.type == "event" else "temporal"
            tags[len(tags)] = Tag(len(tags), uri, named["local"], kind, True)
    tags[0] = replace(tags[0], children=tuple(range(1, len(tags))))
    return TagStructure(0, tags)


class KindTags:
    """Tags are made when an element of a new name comes: a kind may have several."""

    def __init__(self, mapping: Mapping, names: Names) -> None:
        self._names, self._news = names, True
        self._rules = {one.name: one for one in mapping.units}
        self._known: dict[tuple[str, str, str], int] = {}
        self._of_kind: dict[str, list[int]] = {one.name: [] for one in mapping.units}
        self._by_name: dict[str, dict[int, int]] = {one.name: {} for one in mapping.units}
        self._below = {
            one.name: [kind for kind in mapping.units if kind.within == one.name]
            for one in mapping.units
        }
        self.structure = TagStructure(0, {0: Tag(0, "", mapping.root, "snapshot", False)}, True)

    def tags(self, rule: UnitRule, names: I32) -> I32:
        """The tags of elements of a kind by their names."""
        known = self._by_name[rule.name]
        distinct, at = np.unique(names, return_inverse=True)
        for name in distinct.tolist():
            if name not in known:
                known[name] = self._tag(rule, *self._names.qname(name)[:0:-1])
        found = np.array([known[name] for name in distinct.tolist()], np.int32)
        return found[at] if len(found) else np.zeros(0, np.int32)

    def news(self) -> bool:
        """Whether the structure says more than at the last call."""
        news, self._news = self._news, False
        return news

    @property
    def known(self) -> list[tuple[str, str, str]]:
        """The kind, namespace and local name of each tag, in the order in which they came."""
        return list(self._known)

    def go_on(self, known: Iterable[tuple[str, str, str]]) -> None:
        """Give the tags their numbers again; they need not be sent."""
        for kind, uri, local in known:
            self._tag(self._rules[kind], uri, local)
        self._news = False

    def _tag(self, rule: UnitRule, uri: str, local: str) -> int:
        key = rule.name, uri, local
        if key not in self._known:
            self._known[key] = number = len(self._known) + 1
            self._of_kind[rule.name].append(number)
            kind: Any = "event" if rule.type == "event" else "temporal"
            below = tuple(tag for one in self._below[rule.name] for tag in self._of_kind[one.name])
            self._add(Tag(number, uri, local, kind, True, below), rule)
        return self._known[key]

    def _add(self, tag: Tag, rule: UnitRule) -> None:
        tags = {**self.structure.tags, tag.id: tag}
        above = [0] if rule.within is None else self._of_kind[rule.within]
        for one in above:
            tags[one] = replace(tags[one], children=(*tags[one].children, tag.id))
        self.structure, self._news = TagStructure(0, tags, True), True
