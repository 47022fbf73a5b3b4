"""XQuery Update: its expressions are recognised so that the error can suggest an alternative."""

from __future__ import annotations

from typing import Final

from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import Expr

_SECOND: Final = {
    "insert": ("node", "nodes"),
    "delete": ("node", "nodes"),
    "replace": ("node", "value"),
    "rename": ("node",),
}
_HINT: Final = (
    "a query changes nothing: construct the changed tree with <a>{…}</a>, or let a fragment of the "
    "stream replace the node, and watch revises every answer that read it"
)


def updating(cur: Cursor) -> Expr | None:
    """`insert node …` and the like, `copy $x := … modify …`: refused; all else is none of them."""
    word = cur.word()
    wanted = _SECOND.get(word)
    if wanted is not None and cur.next_word() not in wanted:
        return None
    if word == "copy" and not cur.word_then("$"):
        return None
    span = (cur.pos, cur.pos + len(word))
    message = f"'{word}' of the XQuery Update Facility is not supported"
    raise cur.error("XSCS0001", message, span, _HINT)


WORDS: Final = (*_SECOND, "copy")
