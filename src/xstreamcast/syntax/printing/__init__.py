"""From the tree back to text: a query that parses to the same tree, and an outline for eyes."""

from xstreamcast.syntax.printing.module import print_expression, print_module
from xstreamcast.syntax.printing.outline import show_tree

__all__ = ["print_expression", "print_module", "show_tree"]
