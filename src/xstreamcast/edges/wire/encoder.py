"""Fragments as bytes in the canonical form: the prefix `stream`, ids, tsid, validTime."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from xstreamcast.edges.structures import write_structure
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.fragment import (
    ENDS_ZONED,
    REPEATED,
    STREAM,
    TEMPORARY,
    TIMELESS,
    ZONED,
    FragmentBatch,
    Op,
)
from xstreamcast.model.instant import NOW, START, show_instant
from xstreamcast.model.markup import quoteattr
from xstreamcast.model.structure import TagStructure
from xstreamcast.tape.layout import Tape
from xstreamcast.tape.namespaces import in_scope_namespaces

OPEN: Final = f'<stream:fragments xmlns:stream="{STREAM}">\n'.encode()
CLOSE: Final = b"</stream:fragments>\n"
EOS: Final = b"<stream:eos/>\n"
UNIT: Final = "unit"  # the attribute that names the unit of a fragment

_TAG: Final = re.compile(rb"(<[^\s/>]+)(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_DECLARATION: Final = re.compile(rb"\sxmlns(?::([^\s=]+))?\s*=")
_WORDS: Final = {Op.FILLER: "filler", Op.REPLACE: "replace", Op.REMOVE: "remove"}


def structure_line(structure: TagStructure) -> bytes:
    """A structure as it travels."""
    whole = write_structure(structure, indent=None)
    return whole.replace(f' xmlns:stream="{STREAM}"'.encode(), b"", 1) + b"\n"


def heartbeat_line(instant: int, zoned: bool = False) -> bytes:
    """The word that event time has reached an instant."""
    return f'<stream:heartbeat validTime="{show_instant(instant, zoned)}"/>\n'.encode()


def hole(name: str, tsid: int, stream: str = STREAM) -> bytes:
    """The place of a fragment within another; without its tag where that is not known.

    It declares its prefix where that is bound to another namespace around it.
    """
    tag = f' tsid="{tsid}"' if tsid >= 0 else ""
    declared = f' xmlns:stream="{STREAM}"' if stream != STREAM else ""
    return f"<stream:hole{declared} id={quoteattr(name)}{tag}/>".encode()


def fragment_line(
    name: str,
    tsid: int,
    payload: bytes,
    valid: str | None = None,
    word: str = "filler",
    more: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """One fragment with further attributes, if any; a remove has no payload."""
    head = f"<stream:{word} id={quoteattr(name)}" + (f' tsid="{tsid}"' if tsid >= 0 else "")
    head += f" validTime={quoteattr(valid)}" if valid is not None else ""
    head += "".join(f" {attribute}={quoteattr(value)}" for attribute, value in more.items())
    if word == "remove":
        return head.encode() + b"/>\n"
    return head.encode() + b">" + payload + f"</stream:{word}>\n".encode()


def batch_lines(batch: FragmentBatch, ids: Ids) -> Iterator[bytes]:
    """The fragments of a batch, each a line."""
    ends = np.searchsorted(batch.hole_fragment, np.arange(len(batch) + 1)).tolist()
    for i in range(len(batch)):
        op, flags = Op(int(batch.op[i])), int(batch.flags[i])
        word = "repeat" if flags & REPEATED else _WORDS[op]
        timeless = flags & TIMELESS
        valid = None if timeless else show_instant(int(batch.valid[i]), bool(flags & ZONED))
        holes = range(ends[i], ends[i + 1])
        payload = b"" if op == Op.REMOVE else payload_of(batch, i, holes, ids)
        name, more = ids.text(int(batch.id[i])), more_attributes(batch, i, ids)
        if batch.unit is not None and batch.unit[i] >= 0:
            more[UNIT] = ids.text(int(batch.unit[i]))
        yield fragment_line(name, int(batch.tsid[i]), payload, valid, word, more)


def more_attributes(batch: FragmentBatch, i: int, ids: Ids) -> dict[str, str]:
    """The attributes that not every fragment has."""
    flags, found = int(batch.flags[i]), {}
    if batch.within is not None and batch.within[i] >= 0:
        found["in"] = ids.text(int(batch.within[i]))
    if batch.to is not None and batch.to[i] != NOW:
        found["validTo"] = show_instant(int(batch.to[i]), bool(flags & ENDS_ZONED))
    if batch.said is not None and batch.said[i] != START:
        found["messageTime"] = show_instant(int(batch.said[i]), batch.is_clock_zoned(i))
    if batch.version is not None and batch.version[i]:
        found["version"] = str(int(batch.version[i]))
    return found | ({"temporary": "true"} if flags & TEMPORARY else {})


def payload_of(batch: FragmentBatch, fragment: int, holes: range, ids: Ids) -> bytes:
    """The payload as on the wire, its holes and namespaces in the canonical form."""
    c, row = batch.tape.columns, int(batch.payload[fragment])
    at, end = int(c.start[row]), int(c.start[row]) + int(c.length[row])
    if end < at:
        return _without_stream(batch.tape.serialize(row))
    parts = []
    shadowed = b"xmlns:stream" in c.heap[at:end].tobytes()
    for k in holes:
        there = int(batch.hole_row[k])
        parts.append(c.heap[at : int(c.start[there])].tobytes())
        scope = in_scope_namespaces(batch.tape, int(c.parent[there])) if shadowed else {}
        name = ids.text(int(batch.hole_id[k]))
        parts.append(hole(name, int(batch.hole_tsid[k]), scope.get("stream", STREAM)))
        at = int(c.start[there]) + int(c.length[there])
    parts.append(c.heap[at:end].tobytes())
    return declaring(b"".join(parts), _inherited(batch.tape, row))


def _inherited(tape: Tape, row: int) -> dict[str, str]:
    """The namespaces that a payload inherits."""
    parent = int(tape.columns.parent[row])
    if parent < 0:
        return {}
    above = in_scope_namespaces(tape, parent)
    return {p: u for p, u in above.items() if p != "xml" and u != STREAM}


def _without_stream(payload: bytes) -> bytes:
    return payload.replace(f' xmlns:stream="{STREAM}"'.encode(), b"", 1)


def declaring(element: bytes, namespaces: dict[str, str]) -> bytes:
    """An element whose start tag declares these namespaces too, but for those it declares."""
    tag = _TAG.match(element) if namespaces else None
    if tag is None:
        return element
    own = {found.group(1) or b"" for found in _DECLARATION.finditer(tag.group())}
    more = "".join(
        f" {'xmlns:' + prefix if prefix else 'xmlns'}={quoteattr(uri)}"
        for prefix, uri in namespaces.items()
        if prefix.encode() not in own
    )
    return element[: tag.end(1)] + more.encode() + element[tag.end(1) :]
