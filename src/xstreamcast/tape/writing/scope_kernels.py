"""Namespace bindings as compiled code sees them: names whose word is the prefix."""

from __future__ import annotations

import numpy as np

from xstreamcast.tape.compiled import kernel, part, signed
from xstreamcast.tape.layout import I64, KIND, NAMESPACE, Columns
from xstreamcast.tape.names import NameTables
from xstreamcast.tape.steps.axis_kernels import roomier


@part
def bound_uri(t: NameTables, bindings: I64, count: int, prefix: int) -> int:
    """What a stack of bindings says of a prefix: the word of its URI, 0 if unbound."""
    for i in range(count - 1, -1, -1):
        if t.name_word[bindings[i]] == prefix:
            return int(t.name_uri[bindings[i]])
    return 0


@kernel
def inherited(c: Columns, t: NameTables, row: int) -> I64:
    """The bindings, as names, that the element at `row` has from its ancestors."""
    found, n, first, own = np.empty(16, np.int64), signed(0), signed(0), True
    while row >= 0:
        i, end = row + 1, row + c.size[row]
        while i <= end and c.kind[i] & KIND == NAMESPACE:
            known = False
            for j in range(n):
                known = known or t.name_word[found[j]] == t.name_word[c.name[i]]
            if not known:
                found = roomier(found, n)
                found[n] = c.name[i]
                n += 1
            i += 1
        if own:
            own, first = False, n
        row = signed(c.parent[row])
    return found[first:n].copy()
