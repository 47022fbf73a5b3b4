"""The names that a translation uses, as nodes of the tree."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from xstreamcast.syntax import tree as t

XSC: Final = "urn:xstreamcast:functions"
STREAM: Final = "urn:xstreamcast:stream"

NOW: Final = t.VarRef(t.Name("now", "xsc"))
START: Final = t.VarRef(t.Name("start", "xsc"))
VERSIONS: Final = t.Name("versions", "xsc")
HERE: Final = t.ContextItemExpr()

_HOLE: Final = t.NameTest(t.Name("hole", "stream"))
_TAKEN: Final = frozenset(("now", "start", "since", "until", "versions", "plans", "never"))


def stream_name(name: str) -> str:
    """The variable of a stream: its name, made a name of XQuery → `credit`, `stock.xml`."""
    found = re.sub(r"[^\w.\-]", "_", name)
    safe = found if re.match(r"[^\W\d]", found) else f"_{found}"
    return f"{safe}_" if safe in _TAKEN else safe


def document(stream: str) -> t.VarRef:
    """The file of fragments."""
    return t.VarRef(t.Name(stream_name(stream), "xsc"))


def history(stream: str) -> t.VarRef:
    """Its map from ids to versions."""
    return t.VarRef(t.Name(f"{stream_name(stream)}.history", "xsc"))


def roots(stream: str) -> t.FunctionCall:
    """The holes of its outermost elements."""
    return call("roots", history(stream))


def view(stream: str) -> t.VarRef:
    """Its temporal view."""
    return t.VarRef(t.Name(f"{stream_name(stream)}.view", "xsc"))


def plans(stream: str) -> t.VarRef:
    """What is planned of it."""
    return t.VarRef(t.Name(f"{stream_name(stream)}.plans", "xsc"))


def call(local: str, *arguments: t.Expr) -> t.FunctionCall:
    """A function of the translation's prolog."""
    return t.FunctionCall(t.Name(local, "xsc"), arguments)


def reached(found: t.Expr, ends: Iterable[t.Name]) -> t.Expr:
    """The nodes as of the ends of projections that they are in."""
    for end in ends:
        found = call("reached", found, t.VarRef(end))
    return found


def standard(local: str, *arguments: t.Expr) -> t.FunctionCall:
    """A function of XQuery."""
    return t.FunctionCall(t.Name(local, "fn"), arguments)


def constructor(kind: str, text: str) -> t.FunctionCall:
    """`xs:date("…")`."""
    return cast(kind, t.StringLiteral(text))


def cast(kind: str, found: t.Expr) -> t.FunctionCall:
    """`xs:date(…)`."""
    return t.FunctionCall(t.Name(kind, "xs"), (found,))


def holes(tsids: Iterable[int]) -> t.AxisStep:
    """`stream:hole[@tsid = "5"]`."""
    return t.AxisStep("child", _HOLE, (_of_tags(tsids),))


def _of_tags(tsids: Iterable[int]) -> t.Expr:
    tsid = t.AxisStep("attribute", t.NameTest(t.Name("tsid")))
    return t.ComparisonExpr("=", tsid, tag_list(tsids))


def tag_list(tsids: Iterable[int]) -> t.Expr:
    """`("5", "7")`."""
    found = tuple(t.StringLiteral(str(one)) for one in sorted(tsids))
    return found[0] if len(found) == 1 else t.Sequence(found)
