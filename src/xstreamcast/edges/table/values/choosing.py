"""Which payloads of a table a query reads, by the values that the table keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.compared import compared_tags
from xstreamcast.edges.table.log import Log
from xstreamcast.edges.table.picking import RowSifting
from xstreamcast.edges.table.pruning import guide_of
from xstreamcast.edges.table.reading import stream_of, structure_in
from xstreamcast.edges.table.values.definitions import FOLDER
from xstreamcast.edges.table.values.filtering import ValueFilter
from xstreamcast.edges.table.values.kept import KeptValues

if TYPE_CHECKING:
    from pathlib import Path

    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.algebra.program import Program


def sifting_of(
    table: Path, stream: str, programs: Sequence[Program], name: str, guide: Guide, strategy: str
) -> RowSifting | None:
    """Which payloads programs see that read the stream by a name; None: all, as far as is known."""
    if not (table / FOLDER).is_dir():
        return None
    found = ValueFilter.of(table, stream, compared_tags(programs, name, guide, strategy))
    return None if found is None else RowSifting(found, KeptValues(table), guide.name)


def explain_values(program: Program, name: str, table: str) -> list[str]:
    """In words, which payloads of a table a program reads that has no other input."""
    log = Log(table)
    state = log.needed()
    which = stream_of(state, name, table)
    structure = structure_in(state.streams[which], which)
    kept = guide_of(log.path, state, which, structure)
    if kept is None:
        return []
    found = sifting_of(log.path, which, [program], name, kept.guide, "auto")
    return [] if found is None else found.words()
