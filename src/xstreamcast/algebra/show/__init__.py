"""Plans as text: what `explain` prints and golden files hold. Equal plans print equally."""

from __future__ import annotations

from xstreamcast.algebra.plan import Plan
from xstreamcast.algebra.show.layout import layout
from xstreamcast.algebra.show.nodes import drawn
from xstreamcast.algebra.show.programs import show_program

__all__ = ["show", "show_program"]


def show(plan: Plan) -> str:
    """A plan as indented text; what fits on a line stays on it."""
    return layout(drawn(plan))
