"""The grammar, one file per family; each function takes a cursor and gives a node.

Expressions nest in everything and everything nests in them, so the files import one another. The
import below fixes the order, whichever file is asked for first.
"""

from xstreamcast.syntax.grammar import expressions

__all__ = ["expressions"]
