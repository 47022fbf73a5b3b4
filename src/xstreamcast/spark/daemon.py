"""What Spark's Python workers are forked from: a process that has loaded all they need."""

from __future__ import annotations

import gc
from typing import Any

from pyspark.daemon import manager

_STREAM = b"""<structure><tag id="1" name="a"><tag id="2" name="b" type="event"/></tag></structure>
<filler id="0" tsid="1" validTime="2003-01-01"><a><hole id="1" tsid="2"/></a></filler>
<filler id="1" tsid="2" validTime="2003-01-01"><b c="1">2</b></filler>"""
_QUERY = 'for $b in stream("warm")//b[@c = 1] where $b/text() > 1 return <d>{$b, count($b)}</d>'


def warm() -> None:
    """Decode and ask a little, so that no worker has to load the kernels by itself."""
    from xstreamcast.edges.table.rows import RowEncoder
    from xstreamcast.edges.wire.decoder import Decoder

    decoder = Decoder("warm")
    rows = RowEncoder("warm", decoder.ids)
    made: list[Any] = []
    for arrival in [*decoder.feed(_STREAM), *decoder.close()]:
        made.append(rows.rows(arrival))
    _ask(made)


def _ask(rows: list[Any]) -> None:
    import pyarrow

    from xstreamcast.algebra.lowering import lower
    from xstreamcast.edges.binding import Binding, Options
    from xstreamcast.edges.partitions.host import Host, WatchRequest
    from xstreamcast.evaluate.results.results import lines
    from xstreamcast.rewrite.optimise import optimise
    from xstreamcast.syntax import parse

    program = optimise(lower(parse(_QUERY)))
    host = Host(WatchRequest({"": program}, {"warm": "fragments"}))
    host.take(pyarrow.Table.from_batches(rows), None)
    binding = Binding(program, {"warm": _STREAM}, Options())
    list(lines(binding.store, binding.run(None)))


if __name__ == "__main__":
    warm()
    gc.collect()
    gc.freeze()  # a worker looks for garbage after each task: 0.1 s if all this is looked at again
    manager()
