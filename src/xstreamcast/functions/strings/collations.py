"""Collations: how strings compare. Each maps a string to a key whose codepoints sort in its order.

Known are the codepoint collation, HTML's ASCII case-insensitive one, and the Unicode Collation
Algorithm with its parameters: by ICU where it is installed, else by an order of our own, which the
parameter fallback=no refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from xstreamcast.errors import error
from xstreamcast.functions.call import CODEPOINT, CallContext, SeveralCollations, StaticContext
from xstreamcast.functions.cast import per_type
from xstreamcast.functions.resources.addresses import resolved
from xstreamcast.functions.rows import one_or
from xstreamcast.functions.strings.uca import UCA, uca_collation
from xstreamcast.model.atomic import ANY_URI, PRIMITIVE, STRING, UNTYPED
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items, objects

HTML_ASCII: Final = "http://www.w3.org/2005/xpath-functions/collation/html-ascii-case-insensitive"
_TEXT: Final = frozenset({STRING, UNTYPED, ANY_URI})
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


@dataclass(frozen=True, slots=True)
class Collation:
    """One collation: `key` orders and equates strings; `unit` does so for one character.

    `unit` None: strings cannot be searched by it (FOCH0004). `plain`: keys are the strings.
    """

    uri: str
    key: Callable[[str], str]
    unit: Callable[[str], str] | None
    plain: bool = False

    def text(self, value: str | None) -> str | None:
        """The key of a string, where there is one."""
        return value if value is None or self.plain else self.key(value)

    def keyed(self, items: Items) -> Items:
        """The items with strings replaced by their keys; all else stays."""
        if self.plain or not any(PRIMITIVE.get(tag) in _TEXT for tag in items.kinds()):
            return items
        return per_type(items, self._keys)

    def _keys(self, part: Items) -> Items:
        if PRIMITIVE.get(part.tag) not in _TEXT:
            return part
        return Items(part.tag, objects([self.key(value) for value in part.values.tolist()]))

    def column(self, column: Column) -> Column:
        """The column with strings replaced by their keys."""
        return column if self.plain else column.with_items(self.keyed(column.items))

    def find(self, hay: str, needle: str) -> tuple[int, int] | None:
        """Where the needle first occurs in the hay, as a range of its characters."""
        marks, wanted = self._units(hay), "".join(self._units(needle))
        if not wanted:
            return 0, 0
        for start in range(len(marks)):
            built = ""
            for end in range(start, len(marks)):
                built += marks[end]
                if built == wanted:
                    return start, end + 1
                if not wanted.startswith(built):
                    break
        return None

    def folded(self, value: str) -> str:
        """The units of a string, end to end: what is searched."""
        return "".join(self._units(value))

    def _units(self, value: str) -> list[str]:
        if self.unit is None:
            raise error("FOCH0004", f"the collation {self.uri} cannot search in strings")
        return [self.unit(char) for char in value]


def _ascii(value: str) -> str:
    return value.translate(_LOWER)


PLAIN: Final = Collation(CODEPOINT, str, str, plain=True)
_KNOWN: Final[dict[str, Collation]] = {
    CODEPOINT: PLAIN,
    HTML_ASCII: Collation(HTML_ASCII, _ascii, _ascii),
}


def register(collation: Collation) -> None:
    """Makes a collation known under its URI."""
    _KNOWN[collation.uri] = collation


def known(uri: str, base: str | None = None) -> Collation | None:
    """The collation of a URI, None where there is none."""
    absolute = resolved(uri, base)
    found = _KNOWN.get(uri) or _KNOWN.get(absolute)
    if found is None and absolute.partition("?")[0] == UCA:
        made = uca_collation(absolute)
        found = None if made is None else Collation(absolute, *made)
        if found is not None:
            _KNOWN[absolute] = found
    return found


def default_collation(static: StaticContext) -> Collation:
    """The collation of what names none."""
    found = PLAIN if static.collation == CODEPOINT else known(static.collation)
    assert found is not None, "the prolog was checked"
    return found


def one_collation(call: CallContext, collation: Column | None) -> Collation:
    """The collation that a call names, in all its rows the same; the default if it names none."""
    if collation is None or len(collation.items) == 0:
        return default_collation(call.static)
    found = {uri for uri in one_or(collation) if uri is not None}
    if len(found) > 1:
        raise SeveralCollations
    uri = found.pop()
    made = known(uri, call.static.base_uri)
    if made is None:
        hint = f"known are codepoint, {HTML_ASCII} and {UCA}"
        raise error("FOCH0002", f"the collation {uri} is not known", hint=hint)
    return made
