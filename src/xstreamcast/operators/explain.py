"""How a query is computed while its inputs arrive: what unit by unit, what again, what is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from xstreamcast.algebra.cut import Cut, DepthCut, TagCut
from xstreamcast.algebra.division import Division, Grouped, Listed, Part, Sorted
from xstreamcast.algebra.inner_finding import maintained
from xstreamcast.algebra.split import deepest, inputs_of
from xstreamcast.algebra.windowed import Windowed
from xstreamcast.operators import explain_joins
from xstreamcast.operators.forgetting_explain import forgets
from xstreamcast.operators.windowing.explain import windows_grow, windows_keep

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.structure import TagStructure


def division_of(program: Program, structures: Mapping[str, TagStructure] | None = None) -> Division:
    """The division of a program; inputs whose tag structure is not given count as documents."""
    known = structures or {}
    cuts: dict[str | None, Cut] = {name: TagCut(tags) for name, tags in known.items()}
    return maintained(program, deepest(program, cuts, inputs_of(program) - set(known)))


def explain_operators(
    program: Program, structures: Mapping[str, TagStructure] | None = None
) -> str:
    """The operators of a query in words, a block each."""
    division = division_of(program, structures)
    blocks = ["\n".join(_part(part, division, program)) for part in division.parts]
    blocks.append("\n".join(_rest(program, division)))
    return "\n\n".join(block for block in blocks if block)


def unbounded(program: Program, streams: frozenset[str | None] = frozenset()) -> list[str]:
    """What may grow without bound as the inputs go on; `streams` are inputs of fragments."""
    division = division_of(program)
    found = [
        said
        for part in division.parts
        if part.input not in streams
        for said in _growing(part, division)
    ]
    found += [_kept_history(_name(name)) for name in sorted(streams, key=str)]
    whole = division.whole - streams
    if whole:
        names = " and ".join(_name(name) for name in sorted(whole, key=str))
        found.append(
            f"{names} is kept whole, because {_why(division)}; a query that asks each unit by "
            "itself, or windows, would bound it"
        )
    return found


def _part(part: Part, division: Division, program: Program) -> Iterator[str]:
    cut = division.cuts[part.input]
    yield f"{_operator(part)} over {_name(part.input)}"
    yield f"  units: {_units(cut)}"
    for _, local in sorted(part.guards, key=str):
        yield f"  or: an element {local} around them, with all it contains"
    for name in sorted(part.others):
        yield f'  reads: all of stream("{name}"); when it changes, every unit is asked again'
        yield "    why: it is reached otherwise than through an equality with values of a unit"
    yield from explain_joins.joins(part, division, program)
    if part.numbered is not None:
        yield (
            "  numbers: how many items each unit gives; if it changes, those behind are asked again"
        )
    yield from _inside(part, cut)
    if part.clock:
        yield f"  clock: asks what time it is; {_when(part, cut)}"
    yield f"  keeps: {_keeps(part, cut, division.plain)}"
    if isinstance(cut, TagCut):
        yield from forgets(program, str(part.input), cut.structure)
    growing = list(_growing(part, division))
    yield f"  bounded: {'no; ' + growing[0] if growing else 'yes'}"


def _when(part: Part, cut: Cut) -> str:
    if part.timing is None or not isinstance(cut, TagCut):
        return "when it moves, every unit is asked again"
    return "a unit is asked again when a bound of now passes an instant in it"


def _inside(part: Part, cut: Cut) -> Iterator[str]:
    """The folds inside units that are kept, and what of them."""
    for inner in part.inner:
        assert isinstance(cut, TagCut)
        names = " and ".join(cut.structure[tag].name for tag in sorted(inner.tags))
        each = f"each {names} in a hole of {cut.structure[inner.unit].name}"
        kept = "how many items" if inner.keeps == "counts" else "the values that"
        yield f"  inside: {inner.shown}"
        yield f"    keeps: {kept} {each} gives; only those that are new are looked at"
        if inner.clock:
            yield "    clock: one is looked at again when a bound of now passes an instant in it"


def _rest(program: Program, division: Division) -> Iterator[str]:
    if division.plain:
        return
    if not division.parts:
        yield "recomputed and compared"
        for reason in dict.fromkeys(division.reasons):
            at = program.source.place(reason.span) if reason.span != (0, 0) else None
            where = f" ({at})" if at is not None else ""
            yield f"  why: {reason.sentence}{where}"
        names = ", ".join(_name(name) for name in sorted(division.whole, key=str))
        yield f"  keeps: all of {names or 'nothing'}, and the answer"
        yield f"  bounded: {'no; it grows with its inputs' if division.whole else 'yes'}"
        return
    yield "then computed from these values, and compared with what was told"
    if division.clock:
        yield "  clock: asks what time it is"
    yield "  keeps: the answer"


def _operator(part: Part) -> str:
    match part.shape:
        case Sorted():
            return "order by"
        case Grouped():
            return "group by"
        case Windowed(window=window, by=by):
            told = f"{window.kind} windows" + ("" if by is None else " of each value")
            return told if part.fold == "items" else f"{part.fold} of {told}"
        case Listed():
            return "concatenation" if part.fold == "items" else part.fold


def _units(cut: Cut) -> str:
    if isinstance(cut, TagCut):
        return "what stands in the holes of the root fragment"
    return f"elements {'below' if cut.depth == 2 else f'{cut.depth - 1} levels below'} the root"


def _keeps(part: Part, cut: Cut, plain: bool) -> str:
    fragments = isinstance(cut, TagCut)
    history = "the history of the stream; " if fragments else "the unit that is being read; "
    match part.shape, part.fold:
        case Sorted(), _:
            return history + "the keys and results of all tuples"
        case Grouped(), _:
            return history + "the units of all groups, and the results"
        case Windowed() as shape, _:
            held = windows_keep(shape, fragments)
            if part.fold in ("count", "exists", "empty"):
                return history + held + ("; the results" if fragments else "; a number")
            return history + held + ("" if plain and part.fold == "items" else "; all results")
        case _, "items" if part.limit is not None:
            return history + f"the first {part.limit} items, and how many each unit gives"
        case _, "items" if not plain:
            return history + "the items of all units"
        case _, "items":
            told = fragments or part.probes
            return history + ("the answer of each unit" if told else "nothing of the answer")
        case _, "count" | "exists" | "empty" if part.around is not None:
            return history + "a number, and which of the open elements are counted"
        case _, "count" | "exists" | "empty":
            return history + ("a number for each unit" if fragments else "a number")
        case _, "distinct-values":
            return history + "the values met so far"
        case _:
            return history + ("the values of each unit" if fragments else "one value")


def _growing(part: Part, division: Division) -> Iterator[str]:
    cut = division.cuts[part.input]
    name = _name(part.input)
    yield from explain_joins.growing(part, division)
    if isinstance(cut, DepthCut) and (part.others or part.clock or part.probes):
        yield (
            f"the units of {name} are kept, because they may have to be asked again; "
            "windows would bound them"
        )
    match part.shape, part.fold:
        case Sorted(), _:
            yield f"order by keeps what it has sorted of {name}; windows would bound it"
        case Grouped(), _:
            yield f"group by keeps the units of {name} in their groups; windows would bound it"
        case Windowed() as shape, fold:
            yield from windows_grow(shape, name)
            counted = fold in ("count", "exists", "empty")
            if not counted and not (division.plain and fold == "items"):
                yield f"what follows needs the results of all windows of {name}"
        case _, "items" if not division.plain and part.limit is None:
            yield (
                f"what follows needs all that the units of {name} have given; "
                "windows would bound it"
            )
        case _, "distinct-values":
            yield f"distinct-values keeps all values it has met in {name}; windows would bound it"
    if isinstance(cut, TagCut):
        yield _kept_history(name)


def _kept_history(name: str) -> str:
    why = "what has come may be corrected"
    return f"the history of {name} is kept, because {why}; --immutable PATH bounds what may be"


def _name(name: str | None) -> str:
    return "the context item" if name is None else f'stream("{name}")'


def _why(division: Division) -> str:
    if not division.reasons:
        return "it is read beside others"
    return division.reasons[0].sentence
