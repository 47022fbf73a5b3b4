"""Queries that differ only in constants that they compare with: one query over a table of these.

$t/symbol = "IBM", $t/symbol = "SAP"  →  for each row of the table, $t/symbol = the row's constant

The comparison is then a join of the table with what the queries read: what arrives finds the
queries that it concerns by an index, however many there are.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import DepthCut
from xstreamcast.algebra.analysis.free import free_numbers
from xstreamcast.algebra.analysis.inputs import inputs_of
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import bottom_up, descendants
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.compile import circuit_of
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.functions.cast import string_value
from xstreamcast.model.atomic import PRIMITIVE, QNAME
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.markup import escape
from xstreamcast.model.sequence_type import AtomicItem, NodeItem
from xstreamcast.rewrite.optimise import optimise

ROOT: Final = "answer"  # the element around the table: it is read as the answer of a query is
ROW: Final = "query"


Constants = tuple[p.Atom, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A program in which the constants that it compares with are variables without a value."""

    program: Program
    types: tuple[int, ...]  # of the constants

    @property
    def form(self) -> Hashable:
        """What two templates have in common if `equals` may be true."""
        one = self.program
        return one.body, one.functions, one.variables, one.context, one.settings, self.types

    def equals(self, other: Template) -> bool:
        """Whether two programs differ in their constants at most."""
        mine, theirs = self.program, other.program
        names = mine.static == theirs.static and mine.visible == theirs.visible
        return names and mine.libraries == theirs.libraries and self.form == other.form


def template_of(program: Program) -> tuple[Template, Constants]:
    """What a program is without the constants that it compares with, and these."""
    found: list[p.Atom] = []

    def taken(operand: p.Expression) -> p.Expression:
        if isinstance(operand, p.Cast):  # xs:date("2026-01-01")
            inside = taken(operand.operand)
            return operand if inside is operand.operand else replace(operand, operand=inside)
        atom = _constant(operand)
        if atom is None:
            return operand
        found.append(atom)
        return p.Var(_placeholder(len(found)))

    def put(node: Any) -> Any:
        if not isinstance(node, p.GeneralCompare | p.ValueCompare):
            return node
        if not _is_position(node.left) and (right := taken(node.right)) is not node.right:
            return replace(node, right=right)
        if not _is_position(node.right) and (left := taken(node.left)) is not node.left:
            return replace(node, left=left)
        return node

    body = program.body if program.settings.sequential else bottom_up(program.body, put)
    types = tuple(atom.tag for atom in found)
    return Template(replace(program, body=body), types), tuple(found)


def _constant(operand: p.Expression) -> p.Atom | None:
    """The one value of an operand, if it can be written in a table and read again."""
    match operand:
        case p.Const((p.Atom(tag, _) as atom,)) if PRIMITIVE[tag] != QNAME:
            return atom
        case _:
            return None


def _is_position(operand: p.Expression) -> bool:
    """Whether positions are compared: the plan depends on the constant itself."""
    return any(isinstance(one, p.Position | p.Last) for one in descendants(operand))


def _placeholder(number: int) -> p.Variable:
    return p.Variable(-number, "constant")  # programs number theirs from 0


def over_table(template: Template, rows: Sequence[Constants], table: str) -> Program:
    """The program for each row of a table that is read as an input, in the order of the rows.

    What is the same in all rows stays a constant: a plan may be made for it.
    """
    program = template.program
    row = p.Variable(next(free_numbers(program, [program.body])), ROW)
    values: dict[p.Variable, p.Expression] = {}
    for at, tag in enumerate(template.types):
        differ = any(one[at] != rows[0][at] for one in rows)
        cell = p.Cast(_child(p.Var(row), _cell(at), True), AtomicItem(tag), False, ())
        values[_placeholder(at + 1)] = cell if differ else p.Const((rows[0][at],))
    each = _child(_child(p.StreamInput(table), ROOT, False), ROW, False)
    body = p.Return(p.ForEach(p.Unit(), row, each), _with_values(program.body, values))
    return optimise(replace(program, body=body))


def filled(template: Template, constants: Constants) -> Program:
    """The program with its constants again."""
    values = {_placeholder(at): p.Const((one,)) for at, one in enumerate(constants, start=1)}
    return replace(template.program, body=_with_values(template.program.body, values))


def _with_values(body: p.Expression, values: Mapping[p.Variable, p.Expression]) -> p.Expression:
    def put(node: Any) -> Any:
        return values.get(node.variable, node) if isinstance(node, p.Var) else node

    made: p.Expression = bottom_up(body, put)
    return made


def _child(of: p.Expression, name: str, settled: bool) -> p.Step:
    return p.Step(of, "child", NodeItem("element", "", name), settled)


def row_of(atoms: Constants) -> str:
    """The constants of a query as a row of the table."""
    cells = (
        f"<{_cell(at)}>{escape(string_value(*atom), {chr(13): '&#13;'})}</{_cell(at)}>"
        for at, atom in enumerate(atoms)
    )
    return f"<{ROW}>{''.join(cells)}</{ROW}>"


def _cell(number: int) -> str:
    return f"c{number}"


def finds_rows(program: Program, table: str) -> bool:
    """Whether what arrives finds the rows of the table that it concerns by an index."""
    circuit = circuit_of(program, {name: DepthCut(2) for name in inputs_of(program)})
    nodes = in_order(circuit.root)
    pairs = any(isinstance(node, c.Join) and node.key is None for node in nodes)
    return leads(circuit.root, table) and not pairs and not circuit.whole


def leads(node: c.Node, table: str) -> bool:
    """Whether keys and ranks of all rows begin with those of a row of the table."""
    match node:
        case c.Units(input=name):
            return name == table
        case c.Rows(source=source):
            return leads(source, table)
        case c.Join(left=outer) | c.IntervalJoin(left=outer) | c.BandJoin(left=outer):
            return leads(outer, table)
        case c.Nest(outer=outer) | c.RangeFold(outer=outer) | c.Within(outer=outer):
            return leads(outer, table)
        case c.Union(parts=parts, outer=width):
            return width > 0 and all(leads(one, table) for one in parts)
        case c.One() | c.Root() | c.Spine() | c.CountAround() | c.GrowingWindow():
            return False
        case _:
            return node.outer > 0 and leads(node.source, table)
