"""Many queries over the same inputs: those that differ only in constants run as one.

accumulated changes of each query  →  the query alone over what has arrived by then
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.program import with_bodies
from xstreamcast.algebra.queries import BODY
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.circuit.passes.templates import (
    Constants,
    Template,
    filled,
    finds_rows,
    leads,
    over_table,
    row_of,
    template_of,
)
from xstreamcast.errors import error
from xstreamcast.functions.signature import XSC
from xstreamcast.model.change import Change
from xstreamcast.operators.feeds.once import OPTION
from xstreamcast.operators.watching.network import Network

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.errors import Error
    from xstreamcast.operators.watching.inputs import Kind
    from xstreamcast.operators.watching.watch import Watch

_TABLE: Final = "constants of "  # what the input with the constants of some queries is called


@dataclass(frozen=True, slots=True)
class AnsweredQueries:
    """The queries that one program answers; `rows`: it does so for each row of a table."""

    names: tuple[str, ...]
    table: str | None = None
    rows: tuple[str, ...] = ()

    def own(self, change: Change) -> Iterator[Change]:
        """A change as the queries see it that it concerns."""
        if self.table is None:
            return (replace(change, query=name) for name in self.names)
        row, key = _split(change.key)
        after = None if change.after is None else _split(change.after)
        behind = after[1] if after is not None and after[0] == row else None
        return iter((replace(change, query=self.names[row], key=key, after=behind),))


def _split(key: str) -> tuple[int, str]:
    """7:0:3.1  →  7, 0:3.1: the row of the table, and the name in the answer of its query"""
    row, _, rest = key.partition(":")
    return int(row), rest


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Programs by name, with the queries that they answer; declared streams answer none."""

    programs: Mapping[str, Program]
    answered: Mapping[str, AnsweredQueries]
    label: str  # differs between sets of different queries

    @property
    def sentence(self) -> str:
        """How many queries there are, and how many programs run for them."""
        count, programs = sum(len(one.names) for one in self.answered.values()), len(self.answered)
        return f"{count} queries run as {programs} program{'' if programs == 1 else 's'}"

    @property
    def tables(self) -> frozenset[str]:
        """The inputs that hold constants."""
        return frozenset(one.table for one in self.answered.values() if one.table is not None)


def query_set(queries: Iterable[tuple[str, Mapping[str, Program]]]) -> QuerySet:
    """The queries, with one program for those that differ only in constants they compare with.

    Each is its body, under the name "", and the streams that it declares, what is read first.
    """
    programs: dict[str, Program] = {}
    answered: dict[str, AnsweredQueries] = {}
    streams: dict[str, Program] = {}
    groups, digest = _Groups(), sha256()
    for name, declared in queries:
        digest.update(f"{name}\0{declared[BODY].source.text}\0".encode())
        *own, (_, body) = _named_apart(name, declared)
        streams |= own
        groups.add(name, body)
    for group in groups.all():
        for title, program, those in group.programs():
            programs[title], answered[title] = program, those
    return QuerySet(streams | programs, answered, f"queries {digest.hexdigest()}")


def _named_apart(query: str, declared: Mapping[str, Program]) -> list[tuple[str, Program]]:
    """The programs of a query, whose streams are called after it."""
    if len(declared) == 1:
        return list(declared.items())
    names = {one: f"{query}/{one}" for one in declared if one != BODY}
    options = (option for one in declared.values() for option in one.settings.options)
    if any(option[:2] == (XSC, OPTION) for option in options):
        raise error(
            "XSCU0005", f"{query} declares streams that are read once, so it must be watched alone"
        )

    def put(node: Any) -> Any:
        known = isinstance(node, p.StreamInput) and node.name in names
        return replace(node, name=names[node.name]) if known else node

    return [
        (names.get(one, one), with_bodies(program, lambda body: bottom_up(body, put)))
        for one, program in declared.items()
    ]


def _title(query: str) -> str:
    """What a program is called: no input or declared stream is called so."""
    return f"query {query}"


@dataclass(slots=True)
class _Group:
    """Queries of one template."""

    template: Template
    first: Program
    constants: dict[str, Constants] = field(default_factory=dict)

    def programs(self) -> Iterator[tuple[str, Program, AnsweredQueries]]:
        rows = list(self.constants.values())
        name = _title(next(iter(self.constants)))
        if all(one == rows[0] for one in rows):
            yield name, self.first, AnsweredQueries(tuple(self.constants))
            return
        table = f"{_TABLE}{name}"
        made = over_table(self.template, rows, table)
        if finds_rows(made, table):
            yield (
                name,
                made,
                AnsweredQueries(tuple(self.constants), table, tuple(map(row_of, rows))),
            )
            return
        alike: dict[Constants, list[str]] = {}
        for own, constants in self.constants.items():
            alike.setdefault(constants, []).append(own)
        for constants, names in alike.items():
            yield _title(names[0]), filled(self.template, constants), AnsweredQueries(tuple(names))


class _Groups:
    """Queries by their templates."""

    def __init__(self) -> None:
        self._found: dict[Hashable, list[_Group]] = {}

    def add(self, name: str, program: Program) -> None:
        """One more query."""
        template, constants = template_of(program)
        alike = self._found.setdefault(template.form, [])
        group = next((one for one in alike if one.template.equals(template)), None)
        if group is None:
            group = _Group(template, program)
            alike.append(group)
        group.constants[name] = constants

    def all(self) -> Iterator[_Group]:
        """The groups in the order of their first queries."""
        return (group for alike in self._found.values() for group in alike)


@dataclass(slots=True)
class QuerySetRun(Network):
    """The programs of a set as they run: their changes, each with the name of its query."""

    answered: Mapping[str, AnsweredQueries] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tables = frozenset(
            one.table for one in self.answered.values() if one.table is not None
        )
        kinds: dict[str | None, Kind] = dict(self.kinds)
        kinds.update(dict.fromkeys(self.tables, "answer"))
        self.kinds = kinds
        super(QuerySetRun, self).__post_init__()
        for name, own in self.answered.items():
            if own.table is not None:
                self._fill(self.watches[name], own.table, own.rows)

    def _fill(self, watch: Watch, table: str, rows: tuple[str, ...]) -> None:
        """Give a program the constants of its queries, before anything arrives."""
        watch.on_changes(
            table,
            [
                Change(0, 1, str(at), str(at - 1) if at else None, row)
                for at, row in enumerate(rows)
            ],
        )
        watch.on_end(table)

    @property
    def failures(self) -> dict[str, Error]:
        """The errors of the last tick by query; queries that run as one program fail together."""
        failed = super(QuerySetRun, self).failures
        own = {name: self.answered[name].names for name in failed if name in self.answered}
        return {query: why for name, why in failed.items() for query in own.get(name, (name,))}

    def tick(self) -> list[Change]:
        """The changes of the answers of all queries since the last tick."""
        for name, own in self.answered.items():
            circuit = self.watches[name].pipeline
            assert circuit is None or own.table is None or leads(circuit.circuit.root, own.table)
        return [
            own
            for name, changes in self.ticks().items()
            if name in self.answered
            for change in changes
            for own in self.answered[name].own(change)
        ]
