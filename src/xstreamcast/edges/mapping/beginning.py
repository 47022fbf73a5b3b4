"""How a log begins: whether its messages have a root, and the bytes that a reader gets first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.form import Mapping
    from xstreamcast.tape.names import Names
    from xstreamcast.tape.reading.units import UnitReading

_FIRST: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?P<declaration><\?xml\s[^>]*\?>)?"
    rb"(?:\s|<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^>\[]*>)*<(?P<name>[^\s/>!?<]+)(?=[\s/>])",
    re.DOTALL,
)
_LAST_NAME: Final = re.compile(r"[\w.-]+(?=\s*$)")
_MOST: Final = 1 << 16  # bytes in which the first element is looked for
_WIDE: Final = (b"\xfe\xff", b"\xff\xfe")  # of UTF-16: only a document with a root is written so


def first_bytes(held: bytes, mapping: Mapping) -> bytes | None:
    """The bytes to read as a root with messages in it; None as long as the root is not known."""
    if mapping.level not in (0, "auto") or held.startswith(_WIDE):
        return held
    first = _FIRST.match(held)
    if first is None:
        waits = held.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"<", b"") and len(held) < _MOST
        return None if waits else root_tag(mapping) + held
    local = first["name"].decode("utf-8", "replace").rpartition(":")[2]
    if mapping.level == "auto" and local not in unit_names(mapping):
        return held
    declaration = first["declaration"] or b""
    behind = first.end("declaration") if declaration else 0
    return declaration + root_tag(mapping) + held[behind:].removeprefix(b"\xef\xbb\xbf")


def tree_reading(mapping: Mapping, names: Names, name: str) -> UnitReading:
    """What reads the messages of a root that may never close."""
    from xstreamcast.tape.limits import default_limits
    from xstreamcast.tape.reading.units import UnitReading

    level = max(mapping.level, 1) if isinstance(mapping.level, int) else 1
    return UnitReading(level, default_limits(), names, name)


def unit_names(mapping: Mapping) -> set[str]:
    """The local names that the paths of units end with."""
    parts = (part for one in mapping.units for part in one.path.split("|"))
    return {found[0] for part in parts if (found := _LAST_NAME.search(part)) is not None}


def root_tag(mapping: Mapping) -> bytes:
    """The root that messages without one are given; it binds what the mapping binds."""
    bound = "".join(
        f' xmlns{":" if prefix else ""}{prefix}="{uri}"'
        for prefix, uri in mapping.namespaces.items()
    )
    return f"<messages{bound}>".encode()
