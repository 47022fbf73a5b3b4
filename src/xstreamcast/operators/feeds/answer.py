"""The answer of another query on its way in: its items are units, its changes make them dirty."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary
from xml.parsers import expat

import numpy as np

from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.items import Items
from xstreamcast.model.markup import escape
from xstreamcast.operators.units.units import Minis, UnitDelta
from xstreamcast.tape.fragments.wrap import wrapped
from xstreamcast.tape.reading.places import PlacedReading

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I64, Tape
    from xstreamcast.tape.names import Names
    from xstreamcast.tape.store import Store

ROOT: Final = "answer"  # the element around the items
ITEM: Final = "item"  # the element around an item that is no element


class AnswerFeed:
    """Keeps the current items: an element `answer`, and below it a unit for each of them.

    feed(changes), feed(more)  →  the document of the accumulated changes
    """

    def __init__(self, name: str, names: Names) -> None:
        self.name, self._names = name, names
        self._answer = Accumulated()
        self._places: dict[str, int] = {}
        self._used = 0  # places that were given
        self._bytes = 0

    def feed(self, changes: Iterable[Change]) -> UnitDelta:
        """Apply changes → the units that are new or changed, and those that went."""
        dirty: dict[str, None] = {}
        after: dict[str, str | None] = {}  # of what went, the item before it
        for change in changes:
            if change.diff < 0:
                after.setdefault(change.key, self._answer.behind(change.key))
                dirty.pop(change.key, None)
                self._bytes -= len(change.item)
            self._answer.apply(change)
            if change.diff > 0:
                dirty[change.key] = None
                self._bytes += len(change.item)
        gone = tuple(k for k in after if k not in self._answer and k in self._places)
        stays = self._settled(dirty, after, gone)
        minis = self._minis(sorted(dirty, key=self._places.__getitem__)) if dirty else None
        return UnitDelta(minis, gone, self._places, reordered=not stays)

    def _settled(
        self, dirty: Iterable[str], after: dict[str, str | None], gone: Sequence[str]
    ) -> bool:
        """Give new items their places → whether those of all others are what they were."""
        fresh = [key for key in dirty if key not in self._places]
        moved = any(key in after and self._answer.behind(key) != after[key] for key in dirty)
        for key in gone:
            del self._places[key]
        if not moved and self._at_the_end(fresh):
            self._places |= {key: self._used + i for i, key in enumerate(fresh)}
            self._used += len(fresh)
            return True
        self._number()
        return False

    def _number(self) -> None:
        self._places = {key: place for place, (key, _) in enumerate(self._answer)}
        self._used = len(self._places)

    def _at_the_end(self, fresh: Sequence[str]) -> bool:
        """Whether new items follow all others, in this order."""
        return all(
            self._answer.is_last(key) if at == len(fresh) - 1
            else self._answer.behind(fresh[at + 1]) == key
            for at, key in enumerate(fresh)
        )  # fmt: skip

    def everything(self) -> UnitDelta:
        """All units, to be evaluated again."""
        self._number()
        minis = self._minis(list(self._places)) if self._places else None
        return UnitDelta(minis, places=self._places, reordered=True, complete=True)

    def again(self, keys: Sequence[str]) -> UnitDelta:
        """Some units, to be evaluated again; those that are no longer there are left out."""
        known = sorted((key for key in keys if key in self._places), key=self._places.__getitem__)
        minis = self._minis(known) if known else None
        return UnitDelta(minis, places=self._places)

    def _minis(self, keys: list[str]) -> Minis:
        return self._minis_of(keys, [self._item(key) for key in keys])

    def _minis_of(self, keys: list[str], items: list[str]) -> Minis:
        """Each item below a root of its own."""
        mini, documents = parsed(self.name, elements_of(items), self._names)
        return Minis(mini, documents, tuple(keys))

    def items(self) -> Iterator[str]:
        """All items, in their order."""
        return iter(self._answer.items())

    def _item(self, key: str) -> str:
        return self._answer[key]

    def close(self) -> None:
        """End the input."""

    def whole(self, store: Store) -> Items:
        """The document of the answer, in a store."""
        return Items.of_nodes(np.array([store.read(document_of(self._answer.items()))], np.int64))

    @property
    def state_bytes(self) -> int:
        """About what is kept."""
        return self._bytes + 300 * len(self._answer)


_VALUE: Final = r'"[^"<&\x00-\x1f\ud800-\udfff\ufffe\uffff]*"'
_PLAIN: Final = re.compile(rf"<[a-z][\w.-]*(?: [a-z][\w.-]*={_VALUE})*/>", re.ASCII | re.IGNORECASE)
_PLAIN_LINES: Final = re.compile(
    rf"(?><[a-z][\w.-]*+(?: [a-z][\w.-]*+={_VALUE})*+/>\n)*+", re.ASCII | re.IGNORECASE
)
_QUOTED: Final = re.compile('"[^"]*"')
_ATTRIBUTE: Final = re.compile(r' ([^ ="]+)="')
_START: Final = f"<{ROOT}>".encode()
_END: Final = f"</{ROOT}>".encode()


_PARSED: WeakKeyDictionary[Names, tuple[str, bytes, Tape, I64]] = WeakKeyDictionary()


def parsed(name: str, raw: bytes, names: Names) -> tuple[Tape, I64]:
    """Elements, each below a root of its own → and the rows of these roots.

    Queries that read one stream are given the same items, one query after the other, so the last
    items are kept for as long as their names are.
    """
    known = _PARSED.get(names)
    if known is not None and known[:2] == (name, raw):
        return known[2:]
    (run,) = PlacedReading(1, names, name).runs(_START + raw)
    first = run.tape.roots().astype(np.int64)
    last = first + run.tape.columns.size[first] + 1
    made = wrapped(run.spine, run.tape, first, last)
    _PARSED[names] = (name, raw, *made)
    return made


def document_of(items: Iterable[str]) -> bytes:
    """The document that a query sees of another query's answer."""
    return _START + b"".join(map(element_of, items)) + _END


def elements_of(items: Sequence[str]) -> bytes:
    """The elements of items, one after another: plain ones are recognised all at once."""
    text = "\n".join((*items, ""))
    # a plain element has no line break, so each line is an item
    if text.count("\n") == len(items) and _PLAIN_LINES.fullmatch(text) is not None:
        shapes = set(_QUOTED.sub("", text).splitlines())  # items of one query have few
        if all(map(_names_each_once, shapes)):
            return "".join(items).encode()
    return b"".join(map(element_of, items))


def _names_each_once(shape: str) -> bool:
    """Whether no two attributes of a plain element without its values have one name."""
    names = shape.removesuffix("/>").split(" ")[1:]
    return len(names) == len(set(names))


def element_of(item: str) -> bytes:
    """<a>5</a> → itself; 5 → <item>5</item>: a node that is no element is wrapped as well."""
    if item.startswith("<"):
        kind = is_plain(item) or _content(item)
        if kind is not None:
            return item.encode() if kind else f"<{ITEM}>{item}</{ITEM}>".encode()
    return f"<{ITEM}>{escape(item, {chr(13): '&#13;'})}</{ITEM}>".encode()


def is_plain(text: str) -> bool:
    """Whether a text is one empty element with plain attributes, which needs no parser to see."""
    if _PLAIN.fullmatch(text) is None:
        return False
    names = _ATTRIBUTE.findall(text)
    return len(names) == len(set(names))


def _content(text: str) -> bool | None:
    """Whether a text is one element; None where it is not well-formed at all."""
    depth, tops = 0, 0

    def start(_: str, __: object) -> None:
        nonlocal depth, tops
        tops += depth == 1
        depth += 1

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    def outside(*_: object) -> None:
        nonlocal tops
        tops += 2 * (depth == 1)

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = parser.CommentHandler = outside
    parser.ProcessingInstructionHandler = outside
    try:
        parser.Parse(f"<x>{text}</x>", True)
    except (expat.ExpatError, UnicodeEncodeError):
        return None
    return tops == 1
