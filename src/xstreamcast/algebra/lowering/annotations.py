"""Annotations: %public and %private are known, other namespaces may say what they like."""

from __future__ import annotations

from collections.abc import Iterator

from xstreamcast.algebra.lowering.namespaces import RESERVED, XQUERY
from xstreamcast.algebra.lowering.scope import Scope
from xstreamcast.syntax import tree as t


def check_declared(annotations: tuple[t.Annotation, ...], scope: Scope, code: str) -> None:
    """On a declaration: at most one of %public and %private (XQST0106, XQST0116)."""
    visibility = list(_visibility(annotations, scope))
    if len(visibility) > 1:
        sentence = "a declaration has at most one of %public and %private"
        raise scope.fail(code, sentence, visibility[1].span)


def check_inline(annotations: tuple[t.Annotation, ...], scope: Scope) -> None:
    """On an inline function: neither (XQST0125)."""
    for annotation in _visibility(annotations, scope):
        sentence = f"an inline function cannot be %{annotation.name.local}"
        raise scope.fail("XQST0125", sentence, annotation.span)


def _visibility(annotations: tuple[t.Annotation, ...], scope: Scope) -> Iterator[t.Annotation]:
    for annotation in annotations:
        uri = scope.uri_of(annotation.name, XQUERY)
        if uri == XQUERY and annotation.name.local in ("public", "private"):
            yield annotation
        elif uri in RESERVED:
            sentence = f"%{annotation.name} is in a reserved namespace and not known"
            raise scope.fail("XQST0045", sentence, annotation.span)


def is_private(annotations: tuple[t.Annotation, ...], scope: Scope) -> bool:
    """Whether a declaration is seen in its own module only."""
    return any(one.name.local == "private" for one in _visibility(annotations, scope))


def check_test(annotations: tuple[t.Annotation, ...], scope: Scope) -> None:
    """On a function test: names of reserved namespaces must be known (XQST0045)."""
    for _ in _visibility(annotations, scope):
        pass
