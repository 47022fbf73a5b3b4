"""Namespace bindings in compiled code: declarations, frames, and the names they give.

A *context* numbers a set of bindings in scope; a word remembers which name it was in the last
context, so that a document that declares its namespaces once resolves each word once.
"""

# ruff: noqa: SIM109 - compiled loops compare; they build no tuples

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy import int64

from xstreamcast.tape.layout import I64, NAMESPACE, Columns
from xstreamcast.tape.tokenize.load_bytes import helper
from xstreamcast.tape.tokenize.state import (
    BINDINGS,
    CONTEXT,
    FRAMES,
    FULL,
    INHERITED,
    NO_ROW,
    SCOPE,
    SUSPECT,
)
from xstreamcast.tape.tokenize.words import (
    CONTEXTS,
    EMPTY,
    NO_PREFIX,
    TAGS,
    XML,
    XML_URI,
    XMLNS,
    XMLNS_URI,
    Lexicon,
    find_name,
)

BINDING = np.dtype([("prefix", np.int32), ("uri", np.int32)])
FRAME = np.dtype([("depth", np.int64), ("context", np.int64), ("bindings", np.int64)])
INHERITED_ROW = np.dtype(
    [("prefix", np.int32), ("uri", np.int32), ("start", np.int64), ("length", np.int64)]
)


class NamespaceScope(NamedTuple):
    """The bindings of the open elements, innermost last; a frame is an element that declares."""

    bindings: Annotated[Any, BINDING]
    frames: Annotated[Any, FRAME]
    inherited: Annotated[Any, INHERITED_ROW]  # what units take from above, URIs as heap spans


@helper
def uri_of(scope: NamespaceScope, prefix: int, bindings: int) -> int:
    """The word of the URI that a prefix (NO_PREFIX: the default) is bound to; SUSPECT."""
    for i in range(bindings - 1, -1, -1):
        if scope.bindings[i].prefix == prefix:
            return scope.bindings[i].uri
    if prefix == NO_PREFIX:
        return EMPTY
    return XML_URI if prefix == XML else SUSPECT


@helper
def resolve(lex: Lexicon, scope: NamespaceScope, state: I64, word: int) -> int:
    """The name of an element, or of an attribute with a prefix, in the present context."""
    uri = uri_of(scope, lex.words[word].prefix, state[BINDINGS])
    if uri < 0:
        return SUSPECT
    name = find_name(lex, word, uri)
    if name >= 0:
        lex.words[word].context = state[CONTEXT]
        lex.words[word].context_name = name
    return name


@helper
def declare(lex: Lexicon, scope: NamespaceScope, state: I64, word: int, uri: int) -> int:
    """Bind what an attribute `xmlns` or `xmlns:p` declares: its name, FULL, SCOPE or SUSPECT."""
    default = word == XMLNS
    prefix = NO_PREFIX if default else lex.words[word].local
    if prefix == XML and uri == XML_URI:
        return NO_ROW
    if uri == XML_URI or uri == XMLNS_URI or prefix == XML or prefix == XMLNS:
        return SUSPECT
    if uri == EMPTY and not default:
        return SUSPECT
    if state[BINDINGS] >= len(scope.bindings):
        return SCOPE
    scope.bindings[state[BINDINGS]].prefix = prefix
    scope.bindings[state[BINDINGS]].uri = uri
    state[BINDINGS] += 1
    return find_name(lex, int64(EMPTY if default else prefix), uri)


@helper
def open_frame(lex: Lexicon, scope: NamespaceScope, state: I64, depth: int, bindings: int) -> None:
    """Begin a context for the element at `depth`, which declared all from `bindings` on."""
    frame = state[FRAMES]
    scope.frames[frame].depth = depth
    scope.frames[frame].context = state[CONTEXT]
    scope.frames[frame].bindings = bindings
    state[FRAMES] = frame + 1
    lex.counts[CONTEXTS] += 1
    state[CONTEXT] = lex.counts[CONTEXTS]


@helper
def close_frame(scope: NamespaceScope, state: I64) -> None:
    """Return to the context before the innermost frame."""
    frame = state[FRAMES] - 1
    state[FRAMES] = frame
    state[CONTEXT] = scope.frames[frame].context
    state[BINDINGS] = scope.frames[frame].bindings


@helper
def name_attributes(
    c: Columns, lex: Lexicon, scope: NamespaceScope, state: I64, begin: int, end: int
) -> int:
    """Name the attributes with a prefix, which are as -2 - word; SUSPECT if two are the same."""
    stamp = lex.counts[TAGS]
    for row in range(begin, end):
        if c.name[row] > -2:
            continue
        word = -2 - c.name[row]
        name = resolve(lex, scope, state, word)
        if name < 0:
            return name
        same = find_name(lex, int64(lex.words[word].local), int64(lex.pairs[name].uri))
        if same < 0:
            return FULL
        if lex.pairs[same].stamp == stamp:
            return SUSPECT
        lex.pairs[same].stamp = stamp
        c.name[row] = name
    return 0


@helper
def inherit(
    c: Columns, lex: Lexicon, scope: NamespaceScope, state: I64, at: int, rows: int, level: int
) -> int:
    """Give the unit at row `at` its ancestors' bindings, before its attributes: the row count."""
    declared = at + 1
    while declared < rows and c.kind[declared] & 7 == NAMESPACE:
        declared += 1
    for i in range(state[INHERITED]):
        prefix = scope.inherited[i].prefix
        name = find_name(lex, int64(prefix), int64(scope.inherited[i].uri))
        if name < 0:
            return FULL
        hidden = False
        for row in range(at + 1, declared):
            hidden |= lex.pairs[c.name[row]].word == prefix
        if not hidden:
            c.level[rows], c.parent[rows], c.size[rows] = level, at, 0
            insert_row(c, declared, rows)
            rows += 1
            c.kind[declared], c.name[declared] = NAMESPACE, name
            c.start[declared] = scope.inherited[i].start
            c.length[declared] = scope.inherited[i].length
            declared += 1
    return rows


@helper
def insert_row(c: Columns, at: int, rows: int) -> None:
    """Move the rows of a start tag from `at` to `rows` one down; they have no children."""
    for row in range(rows, at, -1):
        c.kind[row], c.name[row] = c.kind[row - 1], c.name[row - 1]
        c.start[row], c.length[row] = c.start[row - 1], c.length[row - 1]
