"""What is true of the query text alone: tokens, grammar, tree, spans, printing back."""

from xstreamcast.syntax.grammar.module import parse, room_for_nesting

__all__ = ["parse", "room_for_nesting"]
