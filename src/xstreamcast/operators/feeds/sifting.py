"""Which fragments can never count, by their own content: no unit is made of them.

fragments at some places  →  whether each is silent, all of them in one evaluation
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.walk import evaluate, truth
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.cut import TagCut
    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.circuit.inputs.sieve import Sieve
    from xstreamcast.history.history import History
    from xstreamcast.operators.units.evaluating import EvaluationContext
    from xstreamcast.tape.layout import I64, Bools

_PAYLOAD = p.Variable(-1, "payload")


class Sifting:
    """A sieve over the fragments of some tags, which contain no other fragments."""

    def __init__(
        self, sieve: Sieve, tags: frozenset[int], asking: Callable[[], EvaluationContext]
    ) -> None:
        self.sieve, self.tags, self._asking = sieve, tags, asking
        self._elements = p.Step(p.Var(_PAYLOAD), "descendant-or-self", sieve.element)

    def silent(self, history: History, first: int, last: int) -> Bools:
        """Which of the fragments at these places can never count."""
        f = history.fragments
        own = np.isin(f["tsid"][first:last], list(self.tags)) & (f["payload"][first:last] >= 0)
        found = np.zeros(last - first, np.bool_)
        at = np.flatnonzero(own)
        if len(at):
            nodes = (f["tape"][at + first].astype(np.int64) << 32) | f["payload"][at + first]
            found[at] = ~self._passing(history, nodes)
        return found

    def _passing(self, history: History, nodes: I64) -> Bools:
        """Which payloads hold an element of which all tests hold; all of them if one fails."""
        asking = self._asking()
        try:
            return deep(lambda: self._judged(asking, history, nodes))
        except Error:  # evaluated as units, they raise the right error
            return np.ones(len(nodes), np.bool_)
        finally:
            asking.release()

    def _judged(self, asking: EvaluationContext, history: History, nodes: I64) -> Bools:
        context = asking.context(history.store)
        n = len(nodes)
        given: dict[Key, Value] = {_PAYLOAD.number: Column(Items.of_nodes(nodes))}
        frame = Frame(context, n, context.root, np.zeros(n, np.int64), given)
        column = evaluate(self._elements, frame)
        passes = np.ones(len(column.items), np.bool_)
        focused = frame.focused(column)
        for variable, test in self.sieve.tests:
            inner = (
                focused
                if variable is None
                else frame.loop(column, {variable.number: column.each()})
            )
            passes &= truth(test, inner)
        out = np.zeros(n, np.bool_)
        out[column.rows()[passes]] = True
        return out


def sifted_tags(sieve: Sieve, guide: Guide, cut: TagCut) -> frozenset[int]:
    """The tags of units without other fragments; none if the element may be around units."""
    around = guide.roots | cut.passed
    names = {guide.name[tag] for tag in around if tag in guide.name}
    names |= {one for tag in around for one in guide.inner.get(tag, ())}
    if (sieve.element.uri, sieve.element.local) in names:
        return frozenset()
    return frozenset(tag for tag in guide.name if tag not in around and not guide.links.get(tag))
