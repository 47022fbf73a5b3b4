"""From an optimised plan to a circuit, node by node.

An expression is evaluated for each row of a relation. What reads nothing but its row is evaluated
on changed rows; what reads an input becomes relations of its own, nested in the row.
"""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.timing import asks_clock
from xstreamcast.circuit.analysis.normal import input_name, mentions
from xstreamcast.circuit.lifting.growing import LiftGrowing
from xstreamcast.circuit.lifting.relation import NotLifted, Relation
from xstreamcast.circuit.lifting.sequences import LiftSequences
from xstreamcast.circuit.lifting.spine import LiftSpine
from xstreamcast.circuit.lifting.tuples import LiftTuples
from xstreamcast.circuit.lifting.values import LiftValues


class Planner(LiftSequences, LiftValues, LiftTuples, LiftGrowing, LiftSpine):
    """One walk over the body of a program in normal form."""

    def answer(self, body: p.Expression) -> tuple[Relation, p.Expression]:
        """The relation whose rows make the answer, and what each gives."""
        try:
            found, result = self.items(body, self._top)
            if not asks_clock(result):
                return found, self.checked(result, found)
            answer = self.fresh("answer")  # a row that the clock changes is evaluated again
            return self._let(found, answer, result)[0], p.Var(answer)
        except NotLifted as why:
            self.reasons.append((why.reason, why.span))
            return self._whole_for_each(body) or self.whole_answer(body)

    def _whole_for_each(self, body: p.Expression) -> tuple[Relation, p.Expression] | None:
        """A loop over some inputs, whose result reads others: it is evaluated as a whole for each
        row, so that rows come and go by themselves.
        """
        match body:
            case p.Return(source, result) if mentions(source) and not self._shares(source, result):
                pass
            case _:
                return None
        try:
            rows = self.tuples(source, self._top).closed()
            self.checked(result, rows)
        except NotLifted:
            return None
        variable = self.fresh("whole")
        made = replace(
            self._whole(result, variable), source=rows.base,
            columns=(*rows.variables, variable), width=rows.base.width,
        )  # fmt: skip
        return Relation(made), p.Var(variable)

    def _shares(self, source: p.Tuples, result: p.Expression) -> bool:
        """Whether a loop and its result read an input both: its nodes would be two."""
        others = frozenset(map(input_name, mentions(source)))
        read = frozenset(map(input_name, mentions(result))) | self._mentioned_by_functions()
        return bool(others & read) or not read

    def whole_answer(self, body: p.Expression) -> tuple[Relation, p.Expression]:
        """The answer evaluated as a whole whenever something it reads has changed."""
        variable = self.fresh("whole")
        return Relation(self._whole(body, variable)), p.Var(variable)
