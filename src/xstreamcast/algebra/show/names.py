"""Constants and names in drawings."""

from __future__ import annotations

from xstreamcast.algebra import plan as p
from xstreamcast.model.atomic import BOOLEAN, BY_TAG, DECIMAL, DOUBLE, INTEGER, STRING
from xstreamcast.model.sequence_type import AtomicItem


def quoted(text: str) -> str:
    """A string literal on one line."""
    inner = text.replace("&", "&amp;").replace('"', '""').replace("\n", "&#10;")
    return f'"{inner}"'


def constant(atom: p.Atom) -> str:
    """An atomic value, with its type where the text does not show it."""
    tag, value = atom
    if tag == STRING:
        return quoted(value)
    if tag == BOOLEAN:
        return "true()" if value else "false()"
    if tag in (INTEGER, DECIMAL):
        return f"{value:f}" if tag == DECIMAL else str(value)
    return f"{value!r}e0" if tag == DOUBLE else f"xs:{BY_TAG[tag].name}({quoted(str(value))})"


def node_name(name: p.StaticName) -> str:
    """A constructed node's name with its namespace."""
    lexical = f"{name.prefix}:{name.local}" if name.prefix else name.local
    return f"{lexical}{{{name.uri}}}" if name.uri else lexical


def cast_target(target: p.CastTarget) -> str:
    """The type after `cast as`."""
    return f"xs:{BY_TAG[target.tag].name if isinstance(target, AtomicItem) else target.name}"
