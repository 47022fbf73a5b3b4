"""What is true of the query text alone: tokens, grammar, tree, spans, printing back."""

from xstreamcast.syntax.grammar.module import parse, parse_library, room_for_nesting
from xstreamcast.syntax.printing import print_expression, print_module, show_tree

__all__ = [
    "parse",
    "parse_library",
    "print_expression",
    "print_module",
    "room_for_nesting",
    "show_tree",
]
