"""A running circuit as tables, and back."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from xstreamcast.circuit.node_sources import in_order
from xstreamcast.circuit.show.operators import show_circuit
from xstreamcast.operators.relational.stages.staged import UnitStage
from xstreamcast.operators.snapshot.arrow import NotNow
from xstreamcast.operators.snapshot.operators import (
    read_emit,
    read_operator,
    write_emit,
    write_operator,
)
from xstreamcast.operators.snapshot.stage import read_part, write_part

if TYPE_CHECKING:
    from xstreamcast.circuit.nodes import Circuit
    from xstreamcast.operators.relational.run import CircuitRun
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
    from xstreamcast.tape.names import Names


def circuit_fingerprint(circuit: Circuit) -> str:
    """What two circuits have in common whose operators keep the same."""
    shapes = [
        (type(node).__name__, node.width, len(node.columns)) for node in in_order(circuit.root)
    ]
    return sha256(f"{show_circuit(circuit)}\n{shapes}".encode()).hexdigest()


def write_circuit(to: TableWriter, run: CircuitRun) -> None:
    """What all operators keep, and what was emitted."""
    if isinstance(run, UnitStage):
        write_part(to, "part", run.part)
        return
    if run._operators is None:
        raise NotNow("the query fails over the input so far")
    for number, operator in enumerate(run._operators.all):
        write_operator(to, str(number), operator)
    write_emit(to, run._emit)
    to.values("circuit", asked=[run.evaluated])


def read_circuit(source: TableReader, run: CircuitRun, names: Names) -> None:
    """Give a circuit that has not run yet what another one kept."""
    if isinstance(run, UnitStage):
        read_part(source, "part", run.part, names)
        return
    operators = run.fresh_operators()
    for number, operator in enumerate(operators.all):
        read_operator(source, str(number), operator)
    read_emit(source, run._emit)
    ((run.evaluated,),) = source.values("circuit", "asked")
    operators.fresh = False
    run._operators = operators
