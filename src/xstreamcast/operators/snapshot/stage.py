"""A partition of a stage, as tables: the rows it received, its operators, what it sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.operators.relational.groups.group import GroupOperator
from xstreamcast.operators.relational.groups.members import MembersOperator
from xstreamcast.operators.relational.stages.exchanged import alone
from xstreamcast.operators.snapshot.operators import (
    read_emit,
    read_operator,
    write_emit,
    write_operator,
)
from xstreamcast.operators.units.kept import together
from xstreamcast.operators.units.units import Minis
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.operators.relational.stages.exchanged import Content, Unit
    from xstreamcast.operators.relational.stages.staged import StagePart
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
    from xstreamcast.tape.names import Names


def write_part(to: TableWriter, at: str, part: StagePart) -> None:
    """All that one partition of a stage keeps."""
    for port, rows in part._rows.items():
        to.values(f"{at}.port{port}", key=list(rows), row=list(rows.values()))
    known = part._contents.known
    units = [((s, key), one) for s, own in known.items() for key, one in own.items()]
    if units:
        write_units(to, f"{at}.units", units)
    _write_sent(to, at, part)
    if part._operators is not None:
        for number, operator in enumerate(part._operators.all):
            write_operator(to, f"{at}.{number}", operator)
    if part._emit is not None:
        write_emit(to, part._emit)
    to.facts[at] = {
        "marked": [[port, sorted(senders)] for port, senders in part._marked.items()],
        "unsent": sorted(part._unsent),
        "absorbed": part._absorbed,
        "runs": part._operators is not None,
        "fresh": part._operators is None or part._operators.fresh,
    }


def read_part(source: TableReader, at: str, part: StagePart, names: Names) -> None:
    """Give a new partition of a stage what another one kept."""
    facts = source.facts[at]
    for port in part._rows:
        found = source.values(f"{at}.port{port}", "key", "row")
        part._rows[port] = dict(zip(*found, strict=True))
    if f"{at}.units" in source:
        for (input_, key), one in read_units(source, f"{at}.units", names).items():
            part._contents.known.setdefault(input_, {})[key] = one
    _read_sent(source, at, part)
    part._marked = {port: set(senders) for port, senders in facts["marked"]}
    part._unsent = {(s, key) for s, key in facts["unsent"]}
    part._absorbed = facts["absorbed"]
    if part._emit is not None:
        read_emit(source, part._emit)
    if facts["runs"]:
        operators = part._operators = part._made()
        operators.fresh = facts["fresh"]
        for number, operator in enumerate(operators.all):
            read_operator(source, f"{at}.{number}", operator)
        part._mark(operators)
        for operator in operators.all:
            if isinstance(operator, GroupOperator | MembersOperator):
                operator._by_double = operator.elsewhere or operator._inexact > 0


def _write_sent(to: TableWriter, at: str, part: StagePart) -> None:
    for port, one in part._sending.ports.items():
        to.values(f"{at}.sent{port}", key=list(one.sent), to=list(one.sent.values()))
        to.values(f"{at}.inexact{port}", key=list(one.inexact))
    if part._sending.emitting is not None:
        sent = part._sending.emitting.sent
        to.values(f"{at}.emitted", key=list(sent), items=list(sent.values()))
    kept = [(*place, *unit) for place, units in part._sending.kept.items() for unit in units]
    to.values(f"{at}.kept", kept=kept)


def _read_sent(source: TableReader, at: str, part: StagePart) -> None:
    for port, one in part._sending.ports.items():
        one.sent = dict(zip(*source.values(f"{at}.sent{port}", "key", "to"), strict=True))
        (keys,) = source.values(f"{at}.inexact{port}", "key")
        one.inexact = set(keys)
    if part._sending.emitting is not None:
        found = source.values(f"{at}.emitted", "key", "items")
        part._sending.emitting.sent = dict(zip(*found, strict=True))
    (kept,) = source.values(f"{at}.kept", "kept")
    for stage, partition, input_, key in kept:
        part._sending.kept.setdefault((stage, partition), set()).add((input_, key))


def write_units(to: TableWriter, at: str, units: list[tuple[Unit, Content]]) -> None:
    """Units on one tape."""
    minis = together([one for _, (_, one) in units])
    to.values(
        at, source=[s for (s, _), _ in units], unit=[u for (_, u), _ in units],
        place=[place for _, (place, _) in units], row=minis.documents.tolist(),
    )  # fmt: skip
    to.tapes(f"{at}.tape", [minis.tape])


def read_units(source: TableReader, at: str, names: Names) -> dict[Unit, Content]:
    """Units, each on a tape of its own."""
    inputs, keys, places, rows = source.values(at, "source", "unit", "place", "row")
    store = Store(names)
    (tape,) = source.tapes(f"{at}.tape")
    units = [str(number) for number in range(len(keys))]  # keys of two inputs may be the same
    minis = Minis(store.tape(store.add(tape)), np.array(rows, np.int64), tuple(units))
    out: dict[Unit, Content] = {}
    for number, (_, one) in enumerate(alone(minis, units)):
        unit = Minis(one.tape, one.documents, (keys[number],))
        out[inputs[number], keys[number]] = places[number], unit
    return out
