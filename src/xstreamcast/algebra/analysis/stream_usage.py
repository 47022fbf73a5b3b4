"""What a query reads of its streams: which tags' fragments, how much of them, and what it sees.

The analysis follows nodes from stream(…) through the plan. Where it cannot follow, it says that
the query may see anything; so leaving out what is not needed is always exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, assert_never

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.guide import Guide
from xstreamcast.algebra.analysis.places import DOCUMENT, FragmentElement, Needs, may_have, moved
from xstreamcast.algebra.analysis.required import required
from xstreamcast.algebra.nodes.parts import part_of
from xstreamcast.algebra.walk import children
from xstreamcast.functions.signature import FN
from xstreamcast.model.sequence_type import AnyItem, AtomicItem, AtomicUnion, NodeItem

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.sequence_type import ItemType

Places = frozenset[FragmentElement]
NOWHERE: Final[Places] = frozenset()

# Functions that only ask whether and how many; that hand their items on; that read their values;
# that see around them.
_COUNTING: Final = frozenset({"count", "exists", "empty", "not", "boolean", "local-name", "name"})
_PASSING: Final = frozenset(
    {"reverse", "subsequence", "head", "tail", "insert-before", "remove", "unordered"}
    | {"zero-or-one", "exactly-one", "one-or-more", "trace", "outermost", "innermost"}
)
_READING: Final = frozenset({"string", "data", "number", "string-length", "normalize-space"})
AROUND: Final = frozenset({"root", "path", "lang", "base-uri", "id", "idref", "element-with-id"})


def needs_of(
    program: Program, guides: Mapping[str, Guide], *, fine: bool = False
) -> dict[str, Needs]:
    """By stream, what the program reads of it.

    `fine`: steps up are followed, which needs all that is above to be there.
    """
    return UsageWalk(program, guides, fine=fine).done()


class UsageWalk:
    """A walk over a program that knows where the nodes of each variable may be."""

    def __init__(
        self, program: Program, guides: Mapping[str, Guide], *, fine: bool = False
    ) -> None:
        self.program, self.guides, self.fine = program, guides, fine
        self.needs = {name: Needs(fine=fine) for name in guides}
        self.variables: dict[p.Variable, Places] = {}
        self.focus: Places = NOWHERE
        self._active: list[int] = []

    def done(self) -> dict[str, Needs]:
        """Walk over the whole program → by stream, what it reads."""
        for declared in self.program.variables:
            found = NOWHERE if declared.value is None else self.places(declared.value)
            self.variables[declared.variable] = found
        context = self.program.context
        if context is not None and context.value is not None:
            self.focus = self.places(context.value)
        self.copy(self.places(self.program.body))
        return self.needs

    # -- how a value is used ----------------------------------------------------------------------

    def read(self, found: Places) -> Places:
        """The string values of nodes are read: all that is below them."""
        for one in found:
            guide, needs = self.guides[one.stream], self.needs[one.stream]
            if one.tag == DOCUMENT:
                needs.whole |= guide.roots
            elif one.path is None and not one.holes and needs.by_holes:
                needs.copied.add(one.tag)
                needs.seen.value(one.tag, one.path)
            else:
                at = () if one.path is None else one.path
                below = [k.child for k in guide.links.get(one.tag, ()) if k.path[: len(at)] == at]
                needs.whole.update(below if one.path else [one.tag])
                needs.seen.value(one.tag, one.path)
        return NOWHERE

    def copy(self, found: Places) -> Places:
        """Nodes are copied or shown, with all that is below them and their lifespans."""
        self.read(found)
        for one in found:
            guide, needs = self.guides[one.stream], self.needs[one.stream]
            tags = guide.below(guide.roots if one.tag == DOCUMENT else {one.tag})
            tags = frozenset({one.tag}) if needs.by_holes and not one.holes else tags
            needs.copied |= tags
            needs.timed |= tags & guide.timed
        return NOWHERE

    def see_lifespans(self, found: Places) -> Places:
        """The lifespans of nodes are seen, and those of what they contain."""
        for one in found:
            guide, needs = self.guides[one.stream], self.needs[one.stream]
            if one.tag in guide.timed and one.path == ():
                needs.timed.add(one.tag)
            else:
                self.copy(frozenset({one}))
        return found

    def unsure(self, why: str) -> Places:
        """Nothing is known of what happens to nodes here."""
        for needs in self.needs.values():
            needs.all = needs.all or why
        return NOWHERE

    # -- expressions ------------------------------------------------------------------------------

    def places(self, plan: p.Expression) -> Places:
        """Where the nodes of an expression's value may be."""
        match plan:
            case p.Const() | p.Position() | p.Last() | p.Instant() | p.LastVersion():
                return NOWHERE
            case p.Var(variable):
                return self.variables.get(variable, NOWHERE)
            case p.Focus():
                return self.focus
            case p.StreamInput(name):
                return self._stream(name)
            case p.Step(source, axis, test):
                return self._step(self.places(source), axis, test)
            case p.Path(left, right) | p.SimpleMap(left, right):
                return self._within(self.places(left), right)
            case p.Filter(p.Step(source, axis, test), predicate) if self.fine:
                found = self._step(self.places(source), axis, test, required(predicate))
                self._within(found, predicate)
                return found
            case p.Filter(source, predicate):
                found = self.places(source)
                self._within(found, predicate)
                return found
            case p.Comma(parts):
                return self._all(parts)
            case p.SetOperation(_, left, right):
                return self.places(left) | self.places(right)
            case p.If(test, then, otherwise):
                self.places(test)
                return self.places(then) | self.places(otherwise)
            case p.Return(source, result):
                self._tuples(source)
                return self.places(result)
            case p.Quantified(_, source, test):
                self._tuples(source)
                self.places(test)
                return NOWHERE
            case p.And() | p.Or() | p.NodeCompare():
                for child in children(plan):
                    self.places(child)  # type: ignore[arg-type]
                return NOWHERE
            case p.InstanceOf(operand) | p.Treat(operand):
                found = self.places(operand)
                return found if isinstance(plan, p.Treat) else NOWHERE
            case _:
                return self._other(plan)

    def _other(self, plan: p.Expression) -> Places:
        match plan:
            case p.Convert(operand, type):
                found = self.places(operand)
                if isinstance(type.item, AtomicItem | AtomicUnion):
                    return self.read(found)
                if not _is_about_itself(type.item):
                    self.copy(found)
                return found
            case p.Try():
                return self._all(children(plan))
            case p.Switch() | p.TypeSwitch():
                return self._branches(plan)
            case p.Call():
                return self._call(plan)
            case p.UserCall(index, args):
                return self._user_call(index, [self.places(arg) for arg in args])
            case p.MakeMap(keys, values):
                self.read(self._all(keys))
                return self._all(values)
            case p.MakeArray(members):
                return self._all(members)
            case p.Lookup(operand, key):
                self.read(NOWHERE if key is None else self.places(key))
                return self.places(operand)
            case p.LifespanBound(_, operand):
                self._see(operand)
                return NOWHERE
            case p.IntervalProjection(operand) | p.VersionProjection(operand):
                return self._projection(plan)
            case p.AllenCompare(_, left, right):
                self._see(left)
                self._see(right)
                return NOWHERE
            case (
                p.DynamicCall() | p.Partial() | p.FunctionRef() | p.UserRef() | p.Inline()
            ):  # fmt: skip
                self._all(children(plan))
                return self.unsure("a function is a value")
            case p.SetVariable() | p.Block():
                return self.unsure("variables are assigned")
            case p.TreeRoot(operand):
                self.places(operand)
                return self.unsure("a path begins at the root of its tree")
            case _:
                return self._consumed(plan)

    def _stream(self, name: str) -> Places:
        stream, tags = part_of(name)
        if stream not in self.guides:
            return NOWHERE
        if tags is None:
            return frozenset({FragmentElement(stream, DOCUMENT, ())})
        self.needs[stream].tags |= tags
        return frozenset(FragmentElement(stream, tag, ()) for tag in tags)

    def _consumed(self, plan: p.Expression) -> Places:
        """Operands whose values are read, or copied by a constructor."""
        use = self.copy if isinstance(plan, _CONSTRUCTORS) else self.read
        for child in children(plan):
            use(self.places(child))  # type: ignore[arg-type]
        return NOWHERE

    def _all(self, parts: object) -> Places:
        found = NOWHERE
        for part in parts:  # type: ignore[attr-defined]
            found |= self.places(part)
        return found

    def _step(
        self, found: Places, axis: p.Axis, test: NodeItem, children: Sequence[NodeItem] = ()
    ) -> Places:
        """Where a step leads; of elements those that may have all of these children."""
        out: set[FragmentElement] = set()
        for one in found:
            guide = self.guides[one.stream]
            keep = partial(may_have, children, guide) if children else None
            out |= moved(one, axis, test, guide, self.needs[one.stream], keep)
        return frozenset(out)

    def _within(self, focus: Places, plan: p.Expression) -> Places:
        outer, self.focus = self.focus, focus
        found = self.places(plan)
        self.focus = outer
        return found

    def _see(self, operand: p.Expression) -> None:
        if isinstance(operand, p.Interval):
            self._consumed(operand)
            return
        if isinstance(operand, p.Step) and operand.test.kind != "element":
            self.unsure("the lifespan of an attribute or text is that of its element")
        self.see_lifespans(self.places(operand))

    def _projection(self, plan: p.IntervalProjection | p.VersionProjection) -> Places:
        found = self.places(plan.operand)
        for bound in (plan.first, plan.last):
            if bound is not None:
                self.read(self.places(bound))
        # Whatever is read of the copies later is there in part as it is there in whole; but
        # lifespans decide what is left.
        for one in found:
            guide = self.guides[one.stream]
            tags = guide.below(guide.roots if one.tag == DOCUMENT else {one.tag})
            self.needs[one.stream].timed |= tags & guide.timed
        return found

    def _branches(self, plan: p.Switch | p.TypeSwitch) -> Places:
        first, *rest = children(plan)
        operand = self.places(first)  # type: ignore[arg-type]
        if isinstance(plan, p.TypeSwitch):
            self.variables[plan.variable] = operand
            return self._all(rest)
        self.read(operand)
        found = self._all(rest)
        self.read(found)
        return found

    # -- calls ------------------------------------------------------------------------------------

    def _call(self, plan: p.Call) -> Places:
        function, args = plan.function, [self.places(arg) for arg in plan.args]
        given = frozenset[FragmentElement]().union(*args)
        if function.focus:
            given |= self.focus
        if function.uri == FN and function.local in _COUNTING:
            return NOWHERE
        if function.uri == FN and function.local in _PASSING:
            return given
        if function.uri == FN and function.local in _READING:
            return self.read(given)
        self.copy(given)
        atomic = isinstance(function.result.item, AtomicItem | AtomicUnion)
        if given and (not atomic or (function.uri == FN and function.local in AROUND)):
            return self.unsure(f"{function.local}() may read nodes around its argument")
        return NOWHERE

    def _user_call(self, index: int, args: list[Places]) -> Places:
        if index in self._active:
            return self.unsure("a function calls itself") if any(args) else NOWHERE
        function, outer = self.program.functions[index], self.focus
        for parameter, arg in zip(function.parameters, args, strict=True):
            known = self.variables.get(parameter.variable, NOWHERE)
            self.variables[parameter.variable] = known | arg
        self._active.append(index)
        self.focus = NOWHERE
        found = self.places(function.body)
        self.focus = outer
        self._active.pop()
        return found

    # -- tuples -----------------------------------------------------------------------------------

    def _tuples(self, plan: p.Tuples) -> None:
        match plan:
            case p.Unit():
                return
            case p.TupleJoin(left, right, keys, residual):
                self._tuples(left)
                self._tuples(right)
                for key in keys:
                    self.read(self.places(key.left) | self.places(key.right))
                if residual is not None:
                    self.places(residual)
                return
            case p.ForEach() | p.Let() | p.Where() | p.GroupBy() | p.OrderBy():
                self._tuples(plan.source)
            case p.CountTuples() | p.ForWindow():
                self._tuples(plan.source)
            case _:
                assert_never(plan)
        self._clause(plan)

    def _clause(
        self,
        plan: p.ForEach | p.Let | p.Where | p.GroupBy | p.OrderBy | p.CountTuples | p.ForWindow,
    ) -> None:
        match plan:
            case p.ForEach(_, variable, items):
                self.variables[variable] = self.places(items)
            case p.Let(_, variable, value):
                self.variables[variable] = self.places(value)
            case p.Where(_, test):
                self.places(test)
            case p.GroupBy(_, keys, carried):
                for key in keys:
                    self.read(self.places(key.value))
                for before, after in carried:
                    self.variables[after] = self.variables.get(before, NOWHERE)
            case p.OrderBy(_, keys):
                for one in keys:
                    self.read(self.places(one.value))
            case p.CountTuples():
                pass
            case p.ForWindow():
                self._window(plan)
            case _:
                assert_never(plan)

    def _window(self, plan: p.ForWindow) -> None:
        found = self.variables[plan.variable] = self.places(plan.items)
        for boundary in (plan.start, plan.end):
            for variable in () if boundary is None else boundary.variables():
                self.variables[variable] = found
        for child in children(plan):
            if child is not plan.source and child is not plan.items:
                self.read(self.places(child))  # type: ignore[arg-type]


def _is_about_itself(item: ItemType) -> bool:
    """Whether a type asks nothing of what a node contains."""
    return isinstance(item, AnyItem) or (isinstance(item, NodeItem) and item.content is None)


_CONSTRUCTORS: Final = (p.MakeDocument, p.MakeElement)
