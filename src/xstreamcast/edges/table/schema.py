"""The columns of a fragment table, in Arrow's words; Arrow is imported when it is needed."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from xstreamcast.errors import error

WORDS: Final = ("filler", "replace", "remove", "repeat")  # operations, by their number
# The kinds of rows of a stream other than fragments.
STRUCTURE, HEARTBEAT, EOS, REFUSED = "structure", "heartbeat", "eos", "refused"
SPLIT: Final = 40  # bits of an ordinal for the place in a split; above them is the split


@cache
def arrow() -> Any:
    """pyarrow, or what to do to have it."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise error(
            "XSCU0006", "a fragment table needs pyarrow", hint="pip install 'xstreamcast[table]'"
        ) from None
    return pyarrow


@cache
def row_schema() -> Any:
    """A row of a stream as it arrives: a fragment, or what is said between fragments."""
    pa = arrow()
    return pa.schema(
        [
            ("stream", pa.string()),
            ("tag", pa.int32()),
            ("id", pa.string()),
            ("operation", pa.string()),
            ("valid", pa.int64()),
            ("zoned", pa.bool_()),
            ("payload", pa.binary()),
            ("holes", pa.list_(pa.struct([("id", pa.string()), ("tag", pa.int32())]))),
            ("ordinal", pa.int64()),
            ("source", pa.string()),
            ("position", pa.int64()),
            ("code", pa.string()),
            ("reason", pa.string()),
            ("timeless", pa.bool_()),
            ("clock", pa.int64()),
            ("attributes", pa.string()),
            ("unit", pa.string()),
        ]
    )


# Since the second version of the table. timeless: the valid time is that of the arrival; clock: the
# message time, which moves the clock; attributes: what else the fragment says, as on the wire. A
# table does not keep `unit`, the unit that a fragment names: the index contains it.
LATER: Final = ("timeless", "clock", "attributes")
FRAGMENT: Final = (
    "id", "operation", "valid", "zoned", "payload", "holes", "batch", "ordinal", *LATER,
)  # fmt: skip
QUARANTINED: Final = ("id", "source", "position", "code", "reason", "payload", "batch", "ordinal")


@cache
def file_schema(columns: tuple[str, ...] = FRAGMENT) -> Any:
    """The columns of a file; stream and tag are in its path."""
    pa, rows = arrow(), row_schema()
    fields = [pa.field("batch", pa.int64()) if c == "batch" else rows.field(c) for c in columns]
    return pa.schema(fields)
