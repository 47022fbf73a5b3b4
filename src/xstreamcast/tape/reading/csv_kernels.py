"""Records of CSV written as XML: an element for each record, in it one for each column."""

from __future__ import annotations

from xstreamcast.tape.compiled import kernel
from xstreamcast.tape.layout import I64, U8

# What a record may be, beside good.
GOOD, TOO_FEW, TOO_MANY, AFTER_QUOTE, CONTROL, OPEN_QUOTE = range(6)
_QUOTE, _LF, _CR, _TAB, _SPACE = 34, 10, 13, 9, 32
_AMP, _LT, _GT = 38, 60, 62


@kernel
def _put(out: U8, at: int, marks: U8, begin: int, end: int) -> int:
    for i in range(begin, end):
        out[at] = marks[i]
        at += 1
    return at


@kernel
def _reference(out: U8, at: int, byte: int) -> int:
    """Write a character that XML has a meaning for, as a reference to it."""
    out[at] = _AMP
    if byte == _AMP:
        out[at + 1], out[at + 2], out[at + 3], out[at + 4] = 97, 109, 112, 59
        return at + 5
    if byte == _CR:
        out[at + 1], out[at + 2], out[at + 3], out[at + 4] = 35, 49, 51, 59
        return at + 5
    out[at + 1] = 108 if byte == _LT else 103
    out[at + 2], out[at + 3] = 116, 59
    return at + 4


@kernel
def csv_to_xml(
    data: U8, delimiter: int, marks: U8, mark_at: I64, final: bool, out: U8,
    begins: I64, ends: I64, writes: I64, fields: I64, status: U8, done: I64,
) -> None:  # fmt: skip
    """Write all records that are complete; `final`: the last one needs no line end.

    marks[mark_at[k]:mark_at[k+1]] is before field k, and the last of them behind all fields.
    Record r is data[begins[r]:ends[r]], its XML ends at out[writes[r]] (a bad one has none).
    `done`: records, bytes of the data they take, bytes written.
    """
    n, columns = len(data), len(mark_at) - 2
    p = at = records = 0
    while p < n:
        if data[p] == _LF or data[p] == _CR:
            p += 1
            continue
        begin, start, k, bad, complete = p, at, 0, GOOD, False
        resume = -1  # where to go on after a record that is no CSV
        while True:  # a field
            if k < columns:
                at = _put(out, at, marks, mark_at[k], mark_at[k + 1])
            k += 1
            writing = k <= columns
            if p < n and data[p] == _QUOTE:
                p += 1
                closed = False
                while p < n:
                    byte = data[p]
                    if byte == _QUOTE:
                        if p + 1 == n and not final:
                            break  # whether it closes the field is not known yet
                        if p + 1 < n and data[p + 1] == _QUOTE:
                            p += 1
                        else:
                            closed = True
                            p += 1
                            break
                    if resume < 0 and byte == _LF:
                        resume = p + 1
                    if byte < _SPACE and byte != _TAB and byte != _LF and byte != _CR:
                        bad = CONTROL
                    if writing:
                        if byte in (_AMP, _LT, _GT, _CR):
                            at = _reference(out, at, byte)
                        else:
                            out[at] = byte
                            at += 1
                    p += 1
                if not closed:
                    bad = OPEN_QUOTE
                    break
                if p < n and data[p] != delimiter and data[p] != _LF and data[p] != _CR:
                    bad = AFTER_QUOTE
                    break
            else:
                while p < n:
                    byte = data[p]
                    if byte in (delimiter, _LF, _CR):
                        break
                    if byte < _SPACE and byte != _TAB:
                        bad = CONTROL
                    if writing:
                        if byte in (_AMP, _LT, _GT):
                            at = _reference(out, at, byte)
                        else:
                            out[at] = byte
                            at += 1
                    p += 1
            if p < n and data[p] == delimiter:
                p += 1
                continue
            complete = p < n or final
            break
        if bad == AFTER_QUOTE:
            complete = final
            p = resume if resume >= 0 else p
            while p < n and data[p] != _LF:
                p += 1
            complete = complete or p < n
        elif bad == OPEN_QUOTE and final:
            complete = True
            p = n if resume < 0 else resume
        if not complete:
            p, at = begin, start
            break
        if bad == GOOD and k != columns:
            bad = TOO_FEW if k < columns else TOO_MANY
        last = mark_at[columns]
        at = _put(out, at, marks, last, mark_at[columns + 1]) if bad == GOOD else start
        begins[records], ends[records], writes[records] = begin, p, at
        fields[records], status[records] = k, bad
        records += 1
    done[0], done[1], done[2] = records, p, at
