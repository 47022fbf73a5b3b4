"""Constructors, as text."""

from __future__ import annotations

from typing import assert_never

from xstreamcast.syntax.printing import expressions
from xstreamcast.syntax.printing.literals import attribute_characters, characters, name
from xstreamcast.syntax.tree import (
    ComputedAttribute,
    ComputedComment,
    ComputedDocument,
    ComputedElement,
    ComputedNamespace,
    ComputedPI,
    ComputedText,
    DirectAttribute,
    DirectComment,
    DirectElement,
    DirectPI,
    Expr,
    Name,
    NamespaceAttribute,
    Sequence,
    StringConstructor,
    Text,
)

Direct = DirectElement | DirectComment | DirectPI | StringConstructor
Computed = (
    ComputedElement
    | ComputedAttribute
    | ComputedDocument
    | ComputedText
    | ComputedComment
    | ComputedPI
    | ComputedNamespace
)


def direct(found: Direct) -> str:
    """`<a>…</a>`, `<!--…-->`, `<?…?>` or a string constructor."""
    match found:
        case DirectElement():
            return _element(found)
        case DirectComment(value):
            return f"<!--{value}-->"
        case DirectPI(target, value):
            return f"<?{target} {value}?>"
        case StringConstructor(parts):
            return f"``[{''.join(_interpolated(p) for p in parts)}]``"
        case _:
            assert_never(found)


def _interpolated(part: Text | Expr) -> str:
    return part.value if isinstance(part, Text) else f"`{expressions.enclosed(part)}`"


def _element(found: DirectElement) -> str:
    tag = name(found.name)
    namespaces = "".join(_namespace(n) for n in found.namespaces)
    attributes = "".join(_attribute(a) for a in found.attributes)
    head = f"<{tag}{namespaces}{attributes}"
    if not found.content:
        return f"{head}/>"
    return f"{head}>{''.join(_content(c) for c in found.content)}</{tag}>"


def _namespace(found: NamespaceAttribute) -> str:
    prefix = f":{found.prefix}" if found.prefix else ""
    return f' xmlns{prefix}="{attribute_characters(found.uri)}"'


def _attribute(found: DirectAttribute) -> str:
    shown = (
        attribute_characters(p.value) if isinstance(p, Text) else expressions.enclosed(p)
        for p in found.parts
    )
    return f' {name(found.name)}="{"".join(shown)}"'


def _content(found: Text | Expr) -> str:
    match found:
        case Text(value):
            return characters(value)
        case DirectElement() | DirectComment() | DirectPI():
            return direct(found)
        case Sequence((copied,)):
            return expressions.enclosed(copied)
        case _:
            return expressions.enclosed(found)


def computed(found: Computed) -> str:
    """`element a { … }` and its kin."""
    braces = expressions.enclosed
    match found:
        case ComputedElement(named, content):
            return f"element {_name(named)} {braces(content)}"
        case ComputedAttribute(named, content):
            return f"attribute {_name(named)} {braces(content)}"
        case ComputedDocument(content):
            return f"document {braces(content)}"
        case ComputedText(content):
            return f"text {braces(content)}"
        case ComputedComment(content):
            return f"comment {braces(content)}"
        case ComputedPI(target, content):
            return f"processing-instruction {_word(target)} {braces(content)}"
        case ComputedNamespace(prefix, uri):
            return f"namespace {_word(prefix)} {braces(uri)}"
        case _:
            assert_never(found)


def _name(found: Name | Expr) -> str:
    return name(found) if isinstance(found, Name) else expressions.enclosed(found)


def _word(found: str | Expr) -> str:
    return found if isinstance(found, str) else expressions.enclosed(found)
