"""SaxonC-HE over the materialised views: an independent answer, and what recomputing takes."""

import time
from collections.abc import Mapping
from functools import cache
from statistics import median
from typing import Any

from bench.growth.driver import views
from bench.growth.entry import Entry
from bench.growth.measure import Peer
from bench.peers import installed
from xstreamcast.algebra.translate import translate
from xstreamcast.algebra.translate.words import XSC, stream_name
from xstreamcast.edges.structures import read_structure
from xstreamcast.edges.wire.encoder import CLOSE
from xstreamcast.syntax import parse


@cache
def processor() -> Any:
    """One for all queries: starting it is the slow part."""
    return installed("saxonche").PySaxonProcessor(license=False)


class Recomputing:
    """A query and the trees it is evaluated over: views, or fragments where it is translated."""

    def __init__(self, entry: Entry, views: Mapping[str, str], wires: Mapping[str, bytes]) -> None:
        self.query = processor().new_xquery_processor()
        begun = time.process_time()
        for name in entry.inputs:
            text = wires[name].decode() if entry.translated else views[name]
            tree = processor().parse_xml(xml_text=text)
            self.query.set_parameter(_variable(entry, name), tree)
        self.parsing = time.process_time() - begun
        self.query.set_query_content(_translated(entry) if entry.translated else entry.xquery)

    def answer(self) -> str:
        """The answer as one text."""
        return str(self.query.run_query_to_string() or "")

    def seconds(self) -> float:
        """Processor time of one evaluation, parsing aside."""
        begun = time.process_time()
        self.answer()
        return time.process_time() - begun


def recompute(entry: Entry, n: int, rounds: int = 3) -> Peer:
    """What one change costs whoever evaluates the query again; the tree is there already."""
    wires = {name: wire + CLOSE for name, wire in _changed(entry, n).items()}
    peer = Recomputing(entry, {} if entry.translated else views(wires), wires)
    peer.answer()
    ms = median(peer.seconds() for _ in range(rounds)) * 1e3
    return Peer(entry.name, n, ms, peer.parsing * 1e3)


def _changed(entry: Entry, n: int) -> dict[str, bytes]:
    wires = entry.opening(n)
    for stream, line in (entry.added(n, 0), entry.corrected(n, 0)):
        wires[stream] += line
    return wires


def _variable(entry: Entry, name: str) -> str:
    return f"{{{XSC}}}{stream_name(name)}" if entry.translated else name


def _translated(entry: Entry) -> str:
    structures = {one.name: read_structure(one.structure) for one in entry.streams}
    return translate(parse(entry.query), "qac+", structures, "")
