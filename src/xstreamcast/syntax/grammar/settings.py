"""Setters of the prolog, decimal formats, and what may be declared only once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from xstreamcast.syntax.grammar.names import eqname, string, uri_literal
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    BaseUriDecl,
    BoundarySpaceDecl,
    ConstructionDecl,
    ContextItemDecl,
    CopyNamespacesDecl,
    DecimalFormatDecl,
    Declaration,
    DefaultCollationDecl,
    DefaultNamespaceDecl,
    EmptyOrderDecl,
    ExecutionDecl,
    FunctionDecl,
    ModuleImport,
    Name,
    NamespaceDecl,
    OrderingModeDecl,
    VariableDecl,
)

_PICTURE: Final = {
    "decimal-separator": ".",
    "grouping-separator": ",",
    "percent": "%",
    "per-mille": "\u2030",
    "zero-digit": "0",
    "digit": "#",
    "pattern-separator": ";",
    "exponent-separator": "e",
}
_ONE_CHARACTER: Final = (*_PICTURE, "minus-sign")
_PROPERTIES: Final = (*_ONE_CHARACTER, "infinity", "NaN")


def _boundary_space(cur: Cursor, start: int) -> Declaration:
    return BoundarySpaceDecl(_preserve(cur), cur.span(start))


def _construction(cur: Cursor, start: int) -> Declaration:
    return ConstructionDecl(_preserve(cur), cur.span(start))


def _preserve(cur: Cursor) -> bool:
    return cur.expect_word("preserve", "strip") == "preserve"


def _base_uri(cur: Cursor, start: int) -> Declaration:
    return BaseUriDecl(uri_literal(cur), cur.span(start))


def _ordering(cur: Cursor, start: int) -> Declaration:
    return OrderingModeDecl(cur.expect_word("ordered", "unordered") == "ordered", cur.span(start))


def _copy_namespaces(cur: Cursor, start: int) -> Declaration:
    preserve = cur.expect_word("preserve", "no-preserve") == "preserve"
    cur.expect(",")
    inherit = cur.expect_word("inherit", "no-inherit") == "inherit"
    return CopyNamespacesDecl(preserve, inherit, cur.span(start))


def _execution(cur: Cursor, start: int) -> Declaration:
    cur.expect_word("sequential")
    return ExecutionDecl(cur.span(start))


def _collation(cur: Cursor, start: int) -> Declaration:
    return DefaultCollationDecl(uri_literal(cur), cur.span(start))


def _empty_order(cur: Cursor, start: int) -> Declaration:
    cur.expect_word("empty")
    return EmptyOrderDecl(cur.expect_word("greatest", "least") == "greatest", cur.span(start))


def _named_format(cur: Cursor, start: int) -> Declaration:
    return _format(cur, start, eqname(cur, "the name of the format"))


def _default_format(cur: Cursor, start: int) -> Declaration:
    return _format(cur, start, None)


def _format(cur: Cursor, start: int, name: Name | None) -> DecimalFormatDecl:
    found: dict[str, str] = {}
    while cur.word():
        begin = cur.pos
        word = cur.expect_word(*_PROPERTIES)
        cur.expect("=")
        value = string(cur).value
        if word in found:
            raise cur.error("XQST0114", f"{word} is given twice", cur.span(begin))
        _refuse_unfit(cur, word, value, begin)
        found[word] = value
    _refuse_ambiguous(cur, found, start)
    return DecimalFormatDecl(name, tuple(found.items()), cur.span(start))


def _refuse_unfit(cur: Cursor, word: str, value: str, begin: int) -> None:
    if word in _ONE_CHARACTER and len(value) != 1:
        raise cur.error("XQST0097", f"{word} must be one character; got '{value}'", cur.span(begin))
    if word == "zero-digit" and not (value.isdigit() and int(value) == 0):
        raise cur.error("XQST0097", f"zero-digit must be a zero; got '{value}'", cur.span(begin))


def _refuse_ambiguous(cur: Cursor, found: dict[str, str], start: int) -> None:
    """The characters of a picture must be distinct; those not given have their defaults."""
    picture = {**_PICTURE, **{w: c for w, c in found.items() if w in _PICTURE}}
    zero = ord(picture.pop("zero-digit"))
    characters = [*picture.values(), *(chr(zero + n) for n in range(10))]
    if len(set(characters)) < len(characters):
        message = "two properties of the decimal format have the same character"
        raise cur.error("XQST0098", message, cur.span(start))


SETTINGS: Final[dict[str, Callable[[Cursor, int], Declaration]]] = {
    "boundary-space": _boundary_space,
    "base-uri": _base_uri,
    "construction": _construction,
    "ordering": _ordering,
    "copy-namespaces": _copy_namespaces,
    "decimal-format": _named_format,
    "execution": _execution,
}
DEFAULTS: Final[dict[str, Callable[[Cursor, int], Declaration]]] = {
    "collation": _collation,
    "order": _empty_order,
    "decimal-format": _default_format,
}


def refuse_repeated(cur: Cursor, made: Declaration, before: list[Declaration]) -> None:
    """What is declared a second time under the same name as written."""
    key = _identity(made)
    if key is not None and any(_identity(d) == key for d in before):
        code, what = key[0], key[1]
        raise cur.error(code, f"{what} is declared more than once", made.span)


def _identity(made: Declaration) -> tuple[str, str] | None:
    """The code of the error and what would be declared twice."""
    match made:
        case BoundarySpaceDecl():
            return "XQST0068", "boundary-space"
        case DefaultCollationDecl():
            return "XQST0038", "the default collation"
        case BaseUriDecl():
            return "XQST0032", "the base URI"
        case ConstructionDecl():
            return "XQST0067", "the construction mode"
        case OrderingModeDecl():
            return "XQST0065", "the ordering mode"
        case EmptyOrderDecl():
            return "XQST0069", "the empty order"
        case CopyNamespacesDecl():
            return "XQST0055", "copy-namespaces"
        case DecimalFormatDecl(name):
            return "XQST0111", f"the decimal format {name or 'without a name'}"
        case DefaultNamespaceDecl(kind):
            return "XQST0066", f"the default {kind} namespace"
        case NamespaceDecl(prefix):
            return "XQST0033", f"the prefix {prefix}"
        case ModuleImport(None):
            return None
        case ModuleImport(prefix):
            return "XQST0033", f"the prefix {prefix}"
        case ContextItemDecl():
            return "XQST0099", "the context item"
        case VariableDecl(name=name):
            return "XQST0049", f"the variable ${name}"
        case FunctionDecl(name=name, parameters=parameters):
            return "XQST0034", f"the function {name}#{len(parameters)}"
        case _:
            return None
