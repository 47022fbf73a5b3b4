"""The grammar, one file per family; each function takes a cursor and returns a node.

Static errors that depend on the text alone are raised here: XPST0003, XQST0009, 0016, 0022, 0031 to
0034, 0038 to 0040, 0049, 0055, 0065 to 0071, 0075, 0085, 0087, 0089, 0090, 0097 to 0099, 0103,
0106, 0111, 0114, 0116, 0118, 0125, 0134 and XSCS0001. Those about names that must differ compare
them as written: `p:a` and `q:a` may still turn out to be the same. That, and all that needs scopes,
types or functions is decided by the lowering.

Expressions nest in everything and everything nests in them, so the files import one another. The
import below fixes the order, whichever file is imported first.
"""

from xstreamcast.syntax.grammar import expressions

__all__ = ["expressions"]
