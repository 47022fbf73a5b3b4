"""What stages hand to each other, to bytes and back: rows as Arrow tables, units as one tape."""

from __future__ import annotations

from xstreamcast.edges.snapshot.container import packed, unpacked
from xstreamcast.operators.relational.stages.exchanged import Exchanged
from xstreamcast.operators.snapshot.names import read_names, write_names
from xstreamcast.operators.snapshot.stage import read_units, write_units
from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
from xstreamcast.tape.names import Names


def exchange_bytes(one: Exchanged, names: Names) -> bytes:
    """A message; `names` are those of all nodes that it holds."""
    to = TableWriter()
    write_exchanged(to, "", one)
    if one.contents or to.has_trees:
        write_names(to, names)
    return packed({"facts": to.facts}, to.finish())


def exchange_of(raw: bytes, names: Names) -> Exchanged:
    """The message again; its units have the names of the reader."""
    header, tables = unpacked(raw)
    theirs = Names()
    if "names" in tables:
        read_names(tables, theirs)
    return read_exchanged(TableReader(tables, header["facts"], theirs, names), "", names)


def write_exchanged(to: TableWriter, at: str, one: Exchanged) -> None:
    """Put what was exchanged into tables whose names begin with `at`."""
    for port, rows in one.rows.items():
        to.values(f"{at}port{port}", key=list(rows), row=list(rows.values()))
    to.facts[f"{at}exchanged"] = {
        "sender": one.sender,
        "ports": list(one.rows),
        "marks": list(one.marks.items()),
    }
    come = [(unit, content) for unit, content in one.contents.items() if content is not None]
    gone = [unit for unit, content in one.contents.items() if content is None]
    to.values(f"{at}gone", source=[s for s, _ in gone], unit=[u for _, u in gone])
    if come:
        write_units(to, f"{at}units", come)


def read_exchanged(source: TableReader, at: str, names: Names) -> Exchanged:
    """What was exchanged."""
    facts = source.facts[f"{at}exchanged"]
    made = Exchanged(facts["sender"], marks={port: is_so for port, is_so in facts["marks"]})
    for port in facts["ports"]:
        made.rows[port] = dict(zip(*source.values(f"{at}port{port}", "key", "row"), strict=True))
    gone = zip(*source.values(f"{at}gone", "source", "unit"), strict=True)
    made.contents = dict.fromkeys(gone)
    if f"{at}units" in source:
        made.contents |= read_units(source, f"{at}units", names)
    return made
