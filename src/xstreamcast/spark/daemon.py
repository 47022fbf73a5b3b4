"""What Spark's Python workers are forked from: a process that has loaded all they need."""

from __future__ import annotations

from pyspark.daemon import manager

_STREAM = b"""<structure><tag id="1" name="a"><tag id="2" name="b" type="event"/></tag></structure>
<filler id="0" tsid="1" validTime="2003-01-01"><a><hole id="1" tsid="2"/></a></filler>"""


def warm() -> None:
    """Decode a little, so that no worker has to load the kernels by itself."""
    from xstreamcast.edges.table.rows import Rows
    from xstreamcast.edges.wire.decoder import Decoder

    decoder = Decoder("warm")
    rows = Rows("warm", decoder.ids)
    for arrival in [*decoder.feed(_STREAM), *decoder.close()]:
        rows.rows(arrival)


if __name__ == "__main__":
    warm()
    manager()
