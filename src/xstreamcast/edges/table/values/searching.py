"""Which payloads of a table a query sees, found by their bytes before they are tokenised.

A payload is left out where a text that it would have to contain is in no element (or attribute) of
the name that is compared. What is not certain from the bytes is tokenised and compared as usual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.algebra.analysis.compared import TagComparisons, compared_tags
from xstreamcast.algebra.analysis.path_comparisons import PathComparison, Run
from xstreamcast.edges.table.values.filtering import cannot_fail
from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.values.search_kernels import Searched, search

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.algebra.program import Program

_NO_BYTES: Final = np.zeros(0, np.uint8)


@dataclass(frozen=True, slots=True)
class PayloadSearch:
    """By tag: what is searched, of which one run must be found; names of the elements of tags.

    `units`: the tags of which a unit that is not found is left out, with the hole that it fills.
    """

    runs: Mapping[int, tuple[Run, ...]]
    units: frozenset[int]
    names: Mapping[int, tuple[str, str]]  # namespace, local part

    def seen(self, tag: int, payloads: Any) -> Any:
        """Whether each payload of a tag, an Arrow array, may be seen."""
        heap, start, length = _spans(payloads)
        seen = np.zeros(len(start), np.uint8)
        for run in self.runs[tag]:
            here = np.ones(len(start), np.uint8)
            for one in run:
                found = np.empty(len(start), np.uint8)
                search(heap.ctypes.data, len(heap), start, length, _searched(one), found)
                here &= found
            seen |= here
        return seen.astype(np.bool_)

    def words(self) -> list[str]:
        """What payloads are searched for before they are tokenised."""
        said = {" or ".join(" and ".join(map(_said, run)) for run in r) for r in self.runs.values()}
        return [f"payloads tokenised only where their bytes allow it: {w}" for w in sorted(said)]


def search_of(
    programs: Sequence[Program], name: str, guide: Guide, strategy: str, apart: bool
) -> PayloadSearch | None:
    """What payloads programs see that read the stream by a name; None: all, as far as is known.

    `apart`: no id has fragments of two tags.
    """
    compared = compared_tags(programs, name, guide, strategy)
    plain = {tag: one for tag, one in compared.items() if tag not in guide.binding}
    found = {tag: tuple(_searchable(run) for run in one.runs) for tag, one in plain.items()}
    runs = {tag: runs for tag, runs in found.items() if all(runs)}
    if not runs:
        return None
    units = frozenset(tag for tag in runs if apart and _is_unit(tag, compared[tag], guide))
    return PayloadSearch(runs, units, guide.name)


def _is_unit(tag: int, one: TagComparisons, guide: Guide) -> bool:
    """Whether its fragments are units alone, and nothing counts those that are not found."""
    return not one.counted and guide.around({tag}) <= guide.roots


def _searchable(run: Run) -> Run:
    """The comparisons that bytes decide, up to the first one that may fail."""
    found: list[PathComparison] = []
    for one in run:
        if not cannot_fail(one) and not _has_one_value(one):
            break
        if one.op in ("eq", "contains") and all(atom.value for atom in one.atoms):
            found.append(one)
    return tuple(found)


def _has_one_value(one: PathComparison) -> bool:
    """Whether it compares an attribute of the element itself with a text."""
    is_own = not one.steps and not one.anywhere
    return is_own and len(one.atoms) == 1 and cannot_fail(_general(one))


def _general(one: PathComparison) -> PathComparison:
    return PathComparison(one.steps, one.attribute, one.op, one.atoms, True)


def _searched(one: PathComparison) -> Searched:
    texts = [str(atom.value).encode() for atom in one.atoms]
    bounds = np.array([0, *accumulate(map(len, texts))], np.int64)
    name = one.steps[-1] if one.steps else ""
    return Searched(
        _bytes(name.encode()), _bytes((one.attribute or "").encode()), _bytes(b"".join(texts)),
        bounds, int(one.op == "contains"),
    )  # fmt: skip


def _bytes(text: bytes) -> Any:
    return np.frombuffer(text, np.uint8) if text else _NO_BYTES


def _said(one: PathComparison) -> str:
    path = "/".join([*one.steps, *([] if one.attribute is None else [f"@{one.attribute}"])])
    texts = ", ".join(f'"{atom.value}"' for atom in one.atoms)
    texts = texts if len(one.atoms) == 1 else f"({texts})"
    return f"{path} {'contains' if one.op == 'contains' else '='} {texts}"


def _spans(payloads: Any) -> tuple[Any, Any, Any]:
    """The bytes of an Arrow array, and where each value is; a length of -1: there is none."""
    n = len(payloads)
    _, offsets, data = payloads.buffers()
    if n == 0 or offsets is None or data is None:
        return np.zeros(1, np.uint8), np.zeros(n, np.int64), np.full(n, -1, np.int64)
    ends = np.frombuffer(offsets, np.int32)[payloads.offset : payloads.offset + n + 1]
    length = np.diff(ends).astype(np.int64)
    if payloads.null_count:
        length[payloads.is_null().to_numpy(zero_copy_only=False)] = -1
    return np.frombuffer(data, np.uint8), ends[:-1].astype(np.int64), length
