"""A circuit cut into stages: operators whose rows may be in many partitions, and the exchanges.

Every node has a place for its rows: the partition of the first part of their keys, the partition
where a join made them, or one place. Where a node needs its rows in another place than they are,
they are exchanged, and a new stage begins. Stages follow each other; each runs once in a tick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.group_folds import COUNTED
from xstreamcast.circuit.node_sources import in_order, sources_of
from xstreamcast.circuit.passes.column_types import joins_by_hash

Route = Literal["own", "key", "name", "values", "all", "first"]
# own: the partition of the same number; key: by the first part of a row's key; name: by the key of
# its group; values: by each value of its join key; all: every partition; first: one place


class RowPlace(NamedTuple):
    """Where rows are: `made` is the width of keys that identify the rows of a join."""

    kind: Literal["one", "key", "made"]
    by: int = 0  # the identity of the node that made the rows
    width: int = 0


ONE, KEY = RowPlace("one"), RowPlace("key")


@dataclass(frozen=True, slots=True, eq=False)
class Port:
    """Rows of a node that a later stage reads; `rendered`: the items of the answer instead."""

    source: c.Node
    first: int  # the stage that makes the rows
    last: int  # the stage that reads them
    route: Route
    reader: c.Node | None = None  # whose keys decide, if keys do
    side: int = 0  # which of the reader's inputs this is
    rendered: bool = False
    unread: frozenset[int] = frozenset()  # columns that are not read there
    counted: frozenset[int] = frozenset()  # columns of which only the number of items is read


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """The nodes of each stage in order, where their rows are, and what goes from stage to stage."""

    nodes: tuple[tuple[c.Node, ...], ...]
    places: dict[int, RowPlace]
    ports: tuple[Port, ...]
    inputs: dict[int, tuple[int, ...]]  # of each node: identities of nodes, or -1 - port

    def __len__(self) -> int:
        return len(self.nodes)

    def is_clocked(self, number: int) -> bool:
        """Whether something in a stage may change though no row comes."""
        return any(getattr(node, "clock", False) for node in self.nodes[number])


class _Wanted(NamedTuple):
    """Where a node's rows will be, and the way of each of its inputs there."""

    place: RowPlace
    routes: tuple[Route, ...]


def stages_of(circuit: c.Circuit, most: int | None = None) -> Stages:
    """The circuit in stages; from the `most`-th on, all is in one place."""
    order = in_order(circuit.root)
    places, levels, wanted = _placed(circuit, order)
    if most is not None and _length(circuit.root, places, levels) > most:
        last = most - 1
        for node in order:
            if levels[id(node)] >= last:
                places[id(node)], levels[id(node)] = ONE, last
                wanted[id(node)] = _Wanted(ONE, _each("first", sources_of(node)))
    return _cut(circuit, order, places, levels, wanted)


def _placed(
    circuit: c.Circuit, order: list[c.Node]
) -> tuple[dict[int, RowPlace], dict[int, int], dict[int, _Wanted]]:
    places: dict[int, RowPlace] = {}
    levels: dict[int, int] = {}
    wanted: dict[int, _Wanted] = {}
    hashed = joins_by_hash(circuit)
    for node in order:
        given = [places[id(one)] for one in sources_of(node)]
        made = wanted[id(node)] = _wanted(node, given, id(node) in hashed)
        places[id(node)] = made.place
        steps = zip(sources_of(node), made.routes, strict=True)
        levels[id(node)] = max((levels[id(i)] + (r != "own") for i, r in steps), default=0)
    return places, levels, wanted


def _length(root: c.Node, places: dict[int, RowPlace], levels: dict[int, int]) -> int:
    return levels[id(root)] + (1 if places[id(root)] == ONE else 2)


def _each(route: Route, inputs: Sequence[object]) -> tuple[Route, ...]:
    return (route,) * len(inputs)


# -- where rows must be ---------------------------------------------------------------------------


def _wanted(node: c.Node, given: list[RowPlace], hashed: bool) -> _Wanted:
    match node:
        case c.One() | c.Root() | c.Spine():
            return _Wanted(ONE, ())
        case c.Within() | c.CountAround():  # the root is read in one place
            return _Wanted(ONE, tuple(map(_to_first, given)))
        case c.Units():
            return _Wanted(KEY, ())
        case c.Rows():
            source, *scalars = given
            shared: Route = "own" if source == ONE and not set(scalars) - {ONE} else "all"
            return _Wanted(source, ("own", *_each(shared, scalars)))
        case c.Join() | c.IntervalJoin() | c.BandJoin():
            return _joined(node, given, hashed)
        case c.RangeFold() if node.within:
            return _nested(node.within, given)
        case c.RangeFold():
            return _beside(given[0], given[1:])
        case c.Nest(outer=outer):
            return _nested(outer.width, given)
        case c.Pick(outer=outer, place=place) if place.width == 0:
            within = _within(outer, given[:1])
            return _Wanted(within.place, (*within.routes, *_beside(within.place, given[1:])[1][1:]))
        case c.Group(outer=0) | c.Members(outer=0) if given[0] != ONE:
            return _Wanted(KEY, ("name",))
        case c.Union(outer=0) if set(given) - {ONE}:
            return _Wanted(RowPlace("made", id(node), node.width), _each("own", given))
        case c.GrowingWindow():  # over documents, which are read in one place
            return _within(0, given)
        case _:
            return _within(node.outer, given)


def _joined(
    node: c.Join | c.IntervalJoin | c.BandJoin, given: list[RowPlace], hashed: bool
) -> _Wanted:
    """Pairs are made where both rows are: by their values, or one side is sent everywhere."""
    left, right = given
    if left == right == ONE:
        return _Wanted(ONE, ("own", "own"))
    made = RowPlace("made", id(node), node.width)
    if hashed:
        return _Wanted(made, ("values", "values"))
    if node.left.width == 0:
        return _Wanted(made, ("all", "own"))
    return _beside(left, [right])


def _beside(place: RowPlace, others: list[RowPlace]) -> _Wanted:
    """Rows stay where they are, and all of the others come there."""
    if place == ONE:
        return _Wanted(ONE, ("own", *map(_to_first, others)))
    return _Wanted(place, ("own", *_each("all", others)))


def _nested(width: int, given: list[RowPlace]) -> _Wanted:
    if width == 0:
        return _Wanted(ONE, tuple(map(_to_first, given)))
    return _within(width, given)


def _within(outer: int, given: list[RowPlace]) -> _Wanted:
    """Rows with equal first parts of keys come together."""
    (kind, *others) = set(given)
    if not others and (kind == ONE or (outer > 0 and (kind == KEY or outer >= kind.width))):
        return _Wanted(kind, _each("own", given))
    if outer == 0 or ONE in given:
        return _Wanted(ONE, tuple(map(_to_first, given)))
    return _Wanted(KEY, tuple(map(_to_key, given)))


def _to_first(place: RowPlace) -> Route:
    return "own" if place == ONE else "first"


def _to_key(place: RowPlace) -> Route:
    return "own" if place == KEY else "key"


# -- the cut --------------------------------------------------------------------------------------


def _cut(
    circuit: c.Circuit, order: list[c.Node], places: dict[int, RowPlace], levels: dict[int, int],
    wanted: dict[int, _Wanted],
) -> Stages:  # fmt: skip
    ports: list[Port] = []
    readers: list[list[tuple[c.Node, int]]] = []
    inputs: dict[int, tuple[int, ...]] = {}
    for node in order:
        mine, level = [], levels[id(node)]
        pairs = zip(sources_of(node), wanted[id(node)].routes, strict=True)
        for side, (one, route) in enumerate(pairs):
            if levels[id(one)] == level:
                mine.append(id(one))
                continue
            port = Port(one, levels[id(one)], level, route)
            if route in ("name", "values"):
                port = replace(port, reader=node, side=side)
            number = _number(ports, port)
            readers += [[] for _ in range(number + 1 - len(readers))]
            readers[number].append((node, side))
            mine.append(-1 - number)
        inputs[id(node)] = tuple(mine)
    ports = [_lightened(port, own) for port, own in zip(ports, readers, strict=True)]
    root, last = circuit.root, levels[id(circuit.root)]
    if places[id(root)] != ONE:
        ports.append(Port(root, last, last + 1, "first", rendered=True))
        last += 1
    nodes = [tuple(n for n in order if levels[id(n)] == at) for at in range(last + 1)]
    return Stages(tuple(nodes), places, tuple(ports), inputs)


def _lightened(port: Port, readers: list[tuple[c.Node, int]]) -> Port:
    """The port that leaves out what none of its readers reads."""
    read: set[object] = set()
    counted: set[object] = set()
    for node, side in readers:
        uses = columns_read(node, side)
        if uses is None:
            return port
        read |= uses[0]
        counted |= uses[1]
    columns = list(enumerate(port.source.columns))
    unread = frozenset(at for at, v in columns if v not in read | counted)
    return replace(
        port, unread=unread, counted=frozenset(at for at, v in columns if v in counted - read)
    )


def columns_read(node: c.Node, side: int) -> tuple[set[object], set[object]] | None:
    """The columns of an input that a node reads, and those that it counts; None: all of them."""
    match node:
        case c.Group(keys=keys, folds=folds, carried=carried):
            read: set[object] = {column for column, _ in keys} | set(carried)
        case c.Members(keys=keys, columns=columns):
            own = {variable for _, variable in keys}  # read from the columns of the keys
            return {column for column, _ in keys} | (set(columns) - own), set()
        case c.Nest(inner=inner) if side > 0:
            folds, read = (inner[side - 1][1],), set()
        case _:
            return None
    by_number = [fold for fold in folds if fold.name in COUNTED and not fold.different]
    counted: set[object] = {fold.column for fold in by_number}
    return read | {fold.column for fold in folds if fold not in by_number}, counted


def _number(ports: list[Port], port: Port) -> int:
    """Rows that go the same way for several readers go once."""
    for number, one in enumerate(ports):
        same = one.source is port.source and one.reader is port.reader and one.side == port.side
        if same and (one.last, one.route) == (port.last, port.route):
            return number
    ports.append(port)
    return len(ports) - 1


def why_one_partition(circuit: c.Circuit, strict: bool) -> str | None:
    """Why the units of a circuit are not partitioned, in words; None if they are."""
    inputs = {node.input for node in in_order(circuit.root) if isinstance(node, c.Units)}
    if not inputs:
        return "nothing is computed unit by unit"
    if circuit.whole:
        return "a part of it reads all of an input"
    order = in_order(circuit.root)
    if any(isinstance(node, c.Root | c.Spine) for node in order):
        return "it loops over the root of a stream"
    if any(isinstance(node, c.CountAround) for node in order):
        return "it counts elements around the units of a stream"
    if strict and not isinstance(circuit.root, c.Units):
        return "answers that wait for missing fragments are emitted where all fragments are seen"
    return None
