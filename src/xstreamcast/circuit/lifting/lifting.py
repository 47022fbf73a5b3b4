"""What all cases of planning share: names, places of nodes, and rows evaluated on their own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import Cut, Guard, NodePlace, NotDivided, TagCut
from xstreamcast.algebra.analysis.free import bound_variables, counts_positions, facts, free_numbers
from xstreamcast.algebra.analysis.item_kinds import predicate_class
from xstreamcast.algebra.analysis.timing import asks_clock
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import bottom_up, descendants
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.conditional import may_fail
from xstreamcast.circuit.analysis.focus import is_walk_down, unfocused
from xstreamcast.circuit.analysis.group_folds import Decomposed
from xstreamcast.circuit.analysis.locality import Locality
from xstreamcast.circuit.analysis.normal import input_name, mentions
from xstreamcast.circuit.analysis.over_group import compared_in_group, nested_in_group, sliced
from xstreamcast.circuit.analysis.reached import reached, reading_functions
from xstreamcast.circuit.analysis.sinking import sunk
from xstreamcast.circuit.lifting.relation import GroupRows, NotLifted, Places, Relation
from xstreamcast.circuit.lifting.spine_loops import SpineLoops
from xstreamcast.errors import Span
from xstreamcast.rewrite.join_from_comparison import join_from_comparison
from xstreamcast.rewrite.known import Known
from xstreamcast.rewrite.split_where import split_where


class Lifting(SpineLoops):
    """The state of one walk over the body of a program in normal form."""

    def __init__(
        self, program: Program, cuts: Mapping[str | None, Cut], growing: bool = False,
        batch: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.program, self.cuts = program, cuts
        self.growing = growing  # items of inputs only follow each other
        self.batch = batch  # rows are read once
        self.globals = frozenset(v.variable for v in program.variables)
        self._reading = reading_functions(program)
        self._numbers = free_numbers(program, [program.body])
        self._known = Known(program, self._numbers)
        self._units: dict[str, c.Units] = {}
        self._scalars: dict[p.Expression, tuple[p.Variable, c.Node, Places]] = {}
        self._making: list[p.Expression] = []  # scalars on their way
        self._decomposed: dict[int, Decomposed] = {}  # by the identity of a group by clause
        self._members: dict[p.Variable, GroupRows] = {}
        self.loops_over_roots = True
        self._roots: dict[p.Variable, p.Expression] = {}  # variables bound to the root of a stream
        self._group_of: dict[int, Relation] = {}  # by the identity of Members: the group's rows
        self._in_members = False  # on the way to what is nested in a group
        self._in_groups = False  # what is nested follows the order of the groups
        self._kept: list[Any] = []  # plans whose identities are used
        self._top = Relation(c.One())
        self.sources: list[str] = []
        self.guards: set[tuple[str, Guard]] = set()
        self.held: set[tuple[str, Guard]] = set()
        self.reasons: list[tuple[str, Span]] = []
        self.hasty = False  # a fold is kept that may fail where nothing reads it
        self._guarded = False  # inside a branch that may not be taken
        self._why: tuple[str, Span] | None = None  # why the last plan was not driven
        for name in (n.name for n in descendants(program.body) if isinstance(n, p.StreamInput)):
            if name not in self.sources:
                self.sources.append(name)

    def fresh(self, name: str) -> p.Variable:
        """A variable that no plan uses."""
        return p.Variable(next(self._numbers), name)

    @abstractmethod
    def items(self, plan: p.Expression, outer: Relation) -> tuple[Relation, p.Expression]:
        """A relation nested in the outer one, and what each of its rows gives: one after another
        they are the items of the value in the outer row.
        """

    @abstractmethod
    def extend(self, plan: Any, outer: Relation) -> tuple[Relation, Any]:
        """The relation with more columns, and the expression over them that reads no input."""

    @abstractmethod
    def tuples(self, plan: p.Tuples, outer: Relation) -> Relation:
        """The tuples of a FLWOR as a relation nested in the outer one."""

    @abstractmethod
    def _nested(
        self, plan: p.Expression, call: p.Call | None, outer: Relation
    ) -> tuple[Relation, p.Expression]:
        """A fold over a nested relation as a column."""

    @abstractmethod
    def _return(self, plan: p.Return, outer: Relation) -> tuple[Relation, p.Expression]:
        """A FLWOR as a relation."""

    @abstractmethod
    def _of_group(
        self, plan: p.Expression, outer: Relation, call: p.Call | None = None
    ) -> tuple[Relation, p.Expression]:
        """A sequence over the rows of a group, or a fold of one, as a column."""

    @abstractmethod
    def _held(
        self, relation: Relation, test: p.Expression,
        compared: tuple[p.Expression, p.Expression, str], inner: c.Node, bound: p.Variable,
    ) -> tuple[Relation, p.Expression] | None:  # fmt: skip
        """Whether each row compares with a value that is a column of an inner row."""

    @abstractmethod
    def _within_group(
        self, relation: Relation, test: p.Expression
    ) -> tuple[Relation, p.Expression] | None:
        """Rows of a group that compare with a value of their group."""

    @abstractmethod
    def _scalar(self, plan: p.Expression) -> tuple[p.Variable, c.Node, Places]:
        """The one row that holds the value of an expression that reads no row."""

    @abstractmethod
    def _growing_windows(self, plan: p.Expression) -> Relation | None:
        """The windows of a FLWOR over the items of one document."""

    @abstractmethod
    def _counted_around(
        self, plan: p.Expression, call: p.Call
    ) -> tuple[Relation, p.Expression] | None:
        """A count of nodes that are around units."""

    @abstractmethod
    def _loop(self, plan: p.ForEach, relation: Relation, size: p.Variable | None) -> Relation:
        """A loop over items that read an input."""

    # -- what reads inputs ------------------------------------------------------------------------

    def mentions(self, plan: p.Plan) -> bool:
        """Whether a plan reads an input; a function that is called may do so, too."""
        if mentions(plan) or facts(plan).used & self._members.keys():
            return True
        if not facts(plan).calls:
            return False
        called = {n.function for n in descendants(plan) if isinstance(n, p.UserCall | p.UserRef)}
        return bool(called & self._reading)

    def over_roots(self, plan: Any) -> Any:
        """The plan with paths to roots in the place of variables that are bound to them."""
        if not facts(plan).used & self._roots.keys():
            return plan

        def put(node: Any) -> Any:
            return self._roots.get(node.variable, node) if isinstance(node, p.Var) else node

        return bottom_up(plan, put)

    def _note_root(self, plan: p.ForEach, relation: Relation) -> None:
        """Whatever reads the variable of a loop over the root of a stream reads the stream."""
        known = self._root_of(plan.items) is not None and relation.is_one_row
        if self.loops_over_roots and known and not plan.position and not plan.allowing_empty:
            self._roots[plan.variable] = plan.items

    def _root_of(self, plan: p.Expression) -> c.Root | None:
        """The root element of a stream that a path leads to."""
        match plan:
            case p.Step(p.StreamInput(name) | p.TreeRoot(p.StreamInput(name)), "child", test):
                cut = self.cuts.get(input_name(name))
            case _:
                return None
        if not isinstance(cut, TagCut) or cut.structure[cut.structure.root].type != "snapshot":
            return None
        if test.kind != "element" or test.type_tag is not None:
            return None
        return c.Root(input_name(name), test)

    def _is_chosen(self, plan: Any) -> bool:
        """Whether it is some positions of what is sorted within a group, rows that compare with a
        value of their group, or what a group makes of its rows: groups or windows.
        """
        compared = compared_in_group(plan)
        first = nested_in_group(plan) if compared is None else compared.loop
        source = sliced(plan) if first is None else first.items
        return source is not None and bool(facts(source).used & self._members.keys())

    def is_closed(self, plan: p.Plan, relation: Relation) -> bool:
        """Whether a plan has one value for all rows of a relation."""
        known = facts(plan)
        depends = known.free & set(relation.variables) or known.used & self._members.keys()
        if depends or known.reads_focus or not known.pure:
            return False
        return not (self._below and self._reads_element_of(plan, relation))

    def _whole(self, plan: p.Expression, variable: p.Variable) -> c.Rows:
        """An expression that is evaluated as a whole whenever something it reads has changed."""
        names = frozenset(map(input_name, mentions(plan))) | self._mentioned_by_functions()
        clock = asks_clock(plan) or any(asks_clock(f.body) for f in self.program.functions)
        tuples = p.Let(p.Unit(), variable, plan)
        return c.Rows(c.One(), tuples, (variable,), 0, whole=names, clock=clock)

    def _mentioned_by_functions(self) -> frozenset[str | None]:
        every = (reached(one.body, self.program) for one in self.program.functions)
        return frozenset(map(input_name, frozenset().union(*every)))

    def _is_shared(self, plan: Any, outer: Relation) -> bool:
        """Whether a plan is evaluated once for all rows; not what may fail in an untaken branch."""
        if not self.is_closed(plan, outer):
            return False
        if not self._guarded or outer.is_one_row or not may_fail(plan):
            return True
        if outer.base.width or outer.nested:
            raise NotLifted("a branch that is not taken may fail over an input", plan.span)
        return False

    def _within_row(self, plan: Any, outer: Relation, tuples: bool) -> Relation | None:
        """Units within the only row that there may be: none is looked at while there is no row."""
        if not self._guarded or outer.is_one_row or not self.is_closed(plan, outer):
            return None
        found = self._driven(plan, tuples)
        if found is None or found.scalars:
            return None
        made = self._pairs(outer.closed(), Relation(found.base), None)
        return replace(
            made, clauses=found.clauses, bound=found.bound, nested=found.nested,
            places={**made.places, **found.places}, clock=found.clock,
        )  # fmt: skip

    # -- where nodes are --------------------------------------------------------------------------

    def checked(self, plan: p.Expression, relation: Relation) -> p.Expression:
        """The expression; NotLifted unless it reads nothing of an input but what its row holds."""
        self.places_of(plan, relation)
        return plan

    def places_of(self, plan: p.Expression, relation: Relation) -> Places:
        """By input, where the nodes of a value are; NotLifted if it leaves the units."""
        names = {name for places in relation.places.values() for name in places}
        used = facts(plan).used
        found = {}
        for name in sorted(names):
            own = {v: one[name] for v, one in relation.places.items() if name in one}
            if not used & own.keys():
                continue
            walk = Locality(self.program, name, self.cuts[input_name(name)], own)
            try:
                place = walk.value(plan, None)
            except NotDivided as why:
                raise NotLifted(why.reason, why.span) from None
            self._note(name, walk)
            if place.inside:
                found[name] = place
        return found

    def _note(self, name: str, walk: Locality) -> None:
        self.guards |= {(name, guard) for guard in walk.guards}
        self.held |= {(name, guard) for guard in walk.held}

    def _driven(self, plan: Any, tuples: bool) -> Relation | None:
        """The relation of units, if a plan over an input is the plan over each of its units."""
        names = mentions(plan)
        if len(names) != 1 or not facts(plan).free <= self.globals or not facts(plan).pure:
            return None
        (read,) = names
        name = self._spines[self._below[read]].name if read in self._below else read
        cut = self.cuts.get(input_name(name))
        if cut is None:
            return None
        walk, place = Locality(self.program, read, cut), NodePlace(inside=True)
        try:
            if tuples:
                if not walk.drive_tuples(plan, None):
                    return None
            else:
                place = walk.settle(walk.drive(plan, None), plan)
                if not place.inside:
                    raise NotDivided("it reads nothing inside units", plan.span)
        except NotDivided as why:
            self._why = why.reason, why.span
            return None
        if walk.others:
            return None
        self._note(name, walk)
        found = Relation(self._units_of(name), clock=walk.clock)
        document = found.base.columns[0]
        found = found.placed(document, {name: cut.document()})
        if tuples:
            found = _with_all(found, over(plan, read, document))
            for variable, where in walk.places.items():
                if variable in found.bound and (where.inside or where.spine is not None):
                    found = found.placed(variable, {name: where})
            return found
        item = self.fresh("item")
        clause = p.Let(p.Unit(), item, over(plan, read, document))
        return found.with_clause(clause, (item,), False).placed(item, {name: place})

    def _below_root(self, plan: p.Path) -> p.Expression | None:
        """/r/f(.)  →  f(/r), if r is the one root element of a stream and f gives nothing of it
        where there is none.
        """
        match plan.left:
            case p.Step(p.StreamInput(name) | p.TreeRoot(p.StreamInput(name)), "child"):
                pass
            case _:
                return None
        if input_name(name) not in self.cuts or counts_positions(plan.right):
            return None
        if not is_walk_down(plan.right):
            return None
        return unfocused(plan.right, plan.left, plan.left, None)

    def _units_of(self, name: str) -> c.Units:
        if name not in self._units:
            number = self.sources.index(name)
            self._units[name] = c.Units(input_name(name), number, self.fresh("document"))
        return self._units[name]

    # -- rows -------------------------------------------------------------------------------------

    def _let(
        self, relation: Relation, variable: p.Variable, value: p.Expression
    ) -> tuple[Relation, Places]:
        """The relation with one more variable, whose value reads the row alone."""
        where = self.places_of(value, relation)
        made = relation.with_clause(p.Let(p.Unit(), variable, value), (variable,), False)
        made = replace(made, clock=made.clock or asks_clock(value))
        return made.placed(variable, where), where

    def _each(self, relation: Relation, variable: p.Variable, items: p.Expression) -> Relation:
        """A row for each item of a value that reads the row alone."""
        where = self.places_of(items, relation)
        clause = p.ForEach(p.Unit(), variable, items)
        made = relation.with_clause(clause, (variable,), True)
        made = replace(made, clock=made.clock or asks_clock(items))
        return made.placed(variable, where)

    def _product(self, outer: Relation, inner: Relation) -> Relation:
        """Each row of the outer relation with every row of one that does not depend on it."""
        if outer.is_one and not outer.clauses and not outer.scalars:
            return inner
        left, right = outer.closed(), inner.closed()
        if left.base.width and not isinstance(left.base, c.Root):
            raise NotLifted("each row is compared with all rows of an input")
        return self._pairs(left, right, None)

    def _pairs(self, left: Relation, right: Relation, key: p.JoinKey | None) -> Relation:
        node = c.Join(
            left.base, right.base, key, left.variables + right.variables, left.base.width + 1
        )
        return Relation(node, places={**left.places, **right.places})

    # -- conditions -------------------------------------------------------------------------------

    def _predicate_class(self, predicate: p.Expression) -> str:
        return predicate_class(predicate, self._known.around())

    def _compares(self, plan: p.Filter, outer: Relation) -> bool:
        """Whether a predicate compares items that all rows share with something of the row."""
        depends = facts(plan.predicate).free & set(outer.variables)
        return bool(depends) and self.is_closed(plan.input, outer)

    def _filtered(self, loop: p.Tuples, test: p.Expression) -> p.Tuples:
        """The loop with a condition, as a join where it compares."""
        tuples: p.Tuples = p.Where(loop, test)
        tuples = split_where(tuples, self._known)  # type: ignore[arg-type]
        return self._joined(self._sunk(tuples))

    def _sunk(self, tuples: p.Tuples) -> p.Tuples:
        if not isinstance(tuples, p.Where):
            return tuples
        return sunk(replace(tuples, source=self._sunk(tuples.source)), self._known)

    def _joined(self, tuples: p.Tuples) -> p.Tuples:
        if not isinstance(tuples, p.Where):
            return tuples
        made = replace(tuples, source=self._joined(tuples.source))
        found: p.Tuples = join_from_comparison(made, self._known)  # type: ignore[assignment]
        return found


def over(plan: Any, name: str, document: p.Variable) -> Any:
    """The plan with the document of a unit in the place of an input."""

    def put(node: Any) -> Any:
        found = isinstance(node, p.StreamInput) and node.name == name
        return p.Var(document) if found else node

    return bottom_up(plan, put)


def _with_all(relation: Relation, plan: p.Tuples) -> Relation:
    """The relation with all clauses of a FLWOR."""
    if isinstance(plan, p.Unit):
        return relation
    if isinstance(plan, p.TupleJoin):  # with constants, which the row is compared with
        joined = _with_all(relation, plan.left)
        return joined.with_clause(replace(plan, left=p.Unit()), bound_variables(plan.right), True)
    found = _with_all(relation, plan.source)
    clause = replace(plan, source=p.Unit())
    nested = isinstance(plan, p.ForEach | p.ForWindow)
    return found.with_clause(clause, bound_variables(clause), nested)
