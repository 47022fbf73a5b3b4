"""The rules, in the order in which they are applied at a node. Deleting one changes no answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from xstreamcast.algebra import plan as p
from xstreamcast.rewrite.ask_existence_for_counts import ask_existence_for_counts
from xstreamcast.rewrite.bound_windows_by_conditions import bound_windows_by_conditions
from xstreamcast.rewrite.cheapen_windows import cheapen_windows
from xstreamcast.rewrite.end_windows_by_neighbours import end_windows_by_neighbours
from xstreamcast.rewrite.filter_before_binding import filter_before_binding
from xstreamcast.rewrite.filter_source_once import filter_source_once
from xstreamcast.rewrite.fold_constants import fold_constants
from xstreamcast.rewrite.function_from_conversion import function_from_conversion
from xstreamcast.rewrite.fuse_descendant_steps import fuse_descendant_steps
from xstreamcast.rewrite.hoist_bindings import hoist_bindings
from xstreamcast.rewrite.index_window_ends import index_window_ends
from xstreamcast.rewrite.join_from_comparison import join_from_comparison
from xstreamcast.rewrite.join_from_predicate import join_from_predicate
from xstreamcast.rewrite.known import Known
from xstreamcast.rewrite.last_from_reverse import last_from_reverse
from xstreamcast.rewrite.loop_from_function import loop_from_function
from xstreamcast.rewrite.release_window_items import release_window_items
from xstreamcast.rewrite.select_by_position import select_by_position
from xstreamcast.rewrite.settle_steps import settle_steps
from xstreamcast.rewrite.split_where import split_where
from xstreamcast.rewrite.step_from_input import step_from_input


class Rule(NamedTuple):
    """A function from plan to equal plan, and the nodes it looks at.

    It returns its argument itself where it changes nothing.
    """

    apply: Callable[[Any, Known], p.Plan]
    heads: tuple[type, ...]

    @property
    def name(self) -> str:
        """That of the function, its file and its golden file."""
        return self.apply.__name__


_FOLDED: Final = (
    p.Arithmetic, p.Unary, p.GeneralCompare, p.ValueCompare, p.Call, p.If, p.And, p.Or, p.Comma,
    p.Where,
)  # fmt: skip
_COMPARED: Final = (p.GeneralCompare, p.ValueCompare, p.Call)

RULES: Final[tuple[Rule, ...]] = (
    Rule(fold_constants, _FOLDED),  # first: what is constant needs no other rule
    Rule(ask_existence_for_counts, _COMPARED),
    Rule(function_from_conversion, (p.Convert, p.Partial)),  # before calling what it makes
    Rule(loop_from_function, (p.Call, p.DynamicCall)),  # before all that look at loops
    Rule(step_from_input, (p.Path,)),  # before fusing: brings steps to steps
    Rule(fuse_descendant_steps, (p.Step,)),
    Rule(settle_steps, (p.Step,)),  # after fusing: a fused step starts from other nodes
    Rule(select_by_position, (p.Filter,)),
    Rule(last_from_reverse, (p.Filter, p.Call)),
    Rule(join_from_predicate, (p.Filter,)),
    Rule(split_where, (p.Where,)),  # before all that move conditions
    Rule(bound_windows_by_conditions, (p.Where,)),
    Rule(filter_before_binding, (p.Where,)),
    Rule(filter_source_once, (p.Where,)),  # before joining: the right side is then filtered
    Rule(hoist_bindings, (p.Let,)),
    Rule(join_from_comparison, (p.Where, p.Quantified)),  # last of these: wants filters in place
    Rule(cheapen_windows, (p.ForWindow,)),  # before indexing: tumbling windows need no index
    Rule(end_windows_by_neighbours, (p.ForWindow,)),  # before indexing, which it makes superfluous
    Rule(index_window_ends, (p.ForWindow,)),
    Rule(release_window_items, (p.Return,)),
)
