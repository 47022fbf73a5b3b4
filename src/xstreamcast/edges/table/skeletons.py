"""Fragments of which only their links are seen, written from the columns: a root and its holes."""

from __future__ import annotations

from typing import Any

import numpy as np

from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.table.wire import quoted
from xstreamcast.model.markup import escape


def hole_texts(holes: Any) -> Any:
    """Holes (id, tag) in the order of a payload."""
    pa = arrow()
    pc = pa.compute
    label = holes.field("tag").fill_null(-1)
    said = pc.binary_join_element_wise(' tsid="', label.cast(pa.string()), '"', "")
    tags = pc.if_else(pc.greater_equal(label, 0), said, "")
    return pc.binary_join_element_wise(
        "<stream:hole id=", quoted(holes.field("id")), tags, "/>", ""
    )


def skeletons(rows: Any, local: str, uri: str = "") -> Any:
    """The payloads of rows (operation, holes), with nothing but their holes; None of removals."""
    pa = arrow()
    pc = pa.compute
    holes = rows["holes"].combine_chunks()
    counts = holes.value_lengths().fill_null(0).to_numpy()
    ends = np.concatenate((np.zeros(1, np.int32), np.cumsum(counts).astype(np.int32)))
    lists = pa.ListArray.from_arrays(pa.array(ends), hole_texts(holes.flatten()))
    bound = f' xmlns="{escape(uri).replace(chr(34), "&quot;")}"' if uri else ""
    begin, end = f"<{local}{bound}>", f"</{local}>"
    made = pc.binary_join_element_wise(begin, pc.binary_join(lists, ""), end, "")
    there = pc.not_equal(rows["operation"], "remove")
    return pc.if_else(there, made.cast(pa.binary()), pa.scalar(None, pa.binary()))
