"""Rules until none fires: optimise(program) is an equal program.

Each pass goes over the plan from the inside out and applies at every node the rules for nodes
of its kind. Rules give back the very node they got if they have nothing to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.program import Program, UserFunction
from xstreamcast.algebra.show import show
from xstreamcast.algebra.walk import map_children
from xstreamcast.functions.call import CODEPOINT
from xstreamcast.model.frozen import dataclass
from xstreamcast.rewrite.known import Known
from xstreamcast.rewrite.rules import RULES, Rule

# Every rule makes a plan smaller, or cheaper in a way that no other undoes. Should two of them ever
# disagree, this ends it: any plan on the way is an equal one.
_MOST_PASSES: Final = 24
_MOST_TURNS: Final = 16  # of rules at one node in one pass


@dataclass(frozen=True, slots=True)
class Fired:
    """A rule that changed a part of the plan."""

    rule: str
    before: p.Plan
    after: p.Plan

    def __str__(self) -> str:
        return "\n".join([self.rule, *_marked("- ", self.before), *_marked("+ ", self.after)])


def optimise(
    program: Program,
    rules: tuple[Rule, ...] = RULES,
    fired: Callable[[Fired], None] | None = None,
) -> Program:
    """The program after all rules; `fired` is called for each that changed something."""
    if program.settings.sequential:  # what is assigned between two evaluations is no rule's concern
        return program
    if program.static.collation != CODEPOINT:  # joins and folded comparisons compare by codepoints
        return program
    work = _Pass(program, rules, fired)
    for _ in range(_MOST_PASSES):
        program = work.over(program)
        if not work.changed:
            break
    return program


def trace(program: Program, rules: tuple[Rule, ...] = RULES) -> list[Fired]:
    """Every rule that fired, in order, with the part of the plan before and after."""
    applied: list[Fired] = []
    optimise(program, rules, applied.append)
    return applied


def rewritten(plan: Any, rule: Rule, known: Known) -> Any:
    """A plan after one pass of one rule: for its golden file."""
    if type(plan) in rule.heads:
        plan = rule.apply(plan, known)
    return map_children(plan, lambda child: rewritten(child, rule, known))


class _Pass:
    """One walk over all parts of a program."""

    def __init__(
        self, program: Program, rules: tuple[Rule, ...], fired: Callable[[Fired], None] | None
    ) -> None:
        self._known = Known(program)
        self._rules = _by_head(rules)
        self._fired = fired
        self._settled: dict[int, Any] = {}  # nodes in which no rule has anything to change
        self.changed = False

    def over(self, program: Program) -> Program:
        """The program with every expression visited once."""
        self.changed = False
        made: dict[str, Any] = {"body": self._visit(program.body)}
        if program.variables:
            made["variables"] = tuple(map(self._part, program.variables))
        if program.functions:
            made["functions"] = tuple(map(self._function, program.functions))
        if program.context is not None:
            made["context"] = self._part(program.context)
        return replace(program, **made) if self.changed else program

    def _part(self, part: Any) -> Any:
        made = None if part.value is None else self._visit(part.value)
        return part if made is part.value else replace(part, value=made)

    def _function(self, function: UserFunction) -> UserFunction:
        body = self._visit(function.body)
        return function if body is function.body else replace(function, body=body)

    def _visit(self, plan: Any) -> Any:
        """The node after the rules; one that they left as it was is not visited again.

        The result of a rule depends on the node and on facts of the program, which are
        computed once. The node is held, so that no other gets its identity.
        """
        if id(plan) in self._settled:
            return plan
        given = plan
        plan = map_children(plan, self._visit)
        for _ in range(_MOST_TURNS):
            made = self._turned(plan)
            if made is plan:
                break
            plan = made
        if plan is given:
            self._settled[id(plan)] = plan
        return plan

    def _turned(self, plan: Any) -> Any:
        for rule in self._rules.get(type(plan), ()):
            made = rule.apply(plan, self._known)
            if made is not plan:
                self.changed = True
                if self._fired is not None:
                    self._fired(Fired(rule.name, plan, made))
                return made
        return plan


@lru_cache(maxsize=64)
def _by_head(rules: tuple[Rule, ...]) -> dict[type, tuple[Rule, ...]]:
    heads = {head for rule in rules for head in rule.heads}
    return {head: tuple(rule for rule in rules if head in rule.heads) for head in heads}


def _marked(mark: str, plan: p.Plan) -> Iterator[str]:
    return (mark + line for line in show(plan).splitlines())
