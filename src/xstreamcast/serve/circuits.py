"""The circuits of queries that run, as `explain` prints them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.inputs import inputs_of
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.feeds.once import read_once
from xstreamcast.operators.relational.explain import explain_circuit, grown_answers
from xstreamcast.operators.watching.network import Network

if TYPE_CHECKING:
    from xstreamcast.edges.watching import Watching
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.operators.watching.query_set import QuerySet


def circuit_text(watching: Watching, queries: QuerySet, name: str) -> str:
    """What runs for a query, that of the streams that it declares first."""
    title, own = next((t, one) for t, one in queries.answered.items() if name in one.names)
    parts = list(_explained(watching, title))
    if len(own.names) > 1:
        parts.insert(0, f"one program answers {len(own.names)} queries: {', '.join(own.names)}")
    return "\n\n".join(parts) + "\n"


def _explained(watching: Watching, title: str) -> Iterator[str]:
    program = watching.programs[title]
    for one in sorted(str(name) for name in inputs_of(program) if name in watching.programs):
        yield f"declare stream {one.rpartition('/')[2]}"
        yield from _explained(watching, one)
    pairs = read_once(watching.programs)
    once = frozenset(read for reader, read in pairs if reader == title)
    tables = frozenset[str]() if watching.queries is None else watching.queries.tables
    answers = frozenset(watching.programs) | tables
    grown = grown_answers(watching.programs, watching.streams(), pairs)
    yield explain_circuit(program, _structures(watching, title), answers, once, grown)


def _structures(watching: Watching, title: str) -> dict[str, TagStructure]:
    """The tag structures of the streams that have described themselves so far."""
    if not isinstance(watching.watch, Network) or title not in watching.watch.watches:
        return {}
    feeds = list(watching.watch.watches[title]._feeds.items())
    return {
        str(name): one.history.structure for name, one in feeds if isinstance(one, FragmentFeed)
    }
