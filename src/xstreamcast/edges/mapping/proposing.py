"""A mapping for samples of a feed: what repeats, what it is known by, when it is true."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from xstreamcast.edges.mapping.form import TimeRule
from xstreamcast.edges.mapping.sampling import Sample, Spot
from xstreamcast.edges.mapping.times import instant_of

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.sampling import Name, Steps

_KEYS: Final = (
    r"^@?(id|guid|uuid|key)$", r"(identifier|number|guid|uuid)$", r"(id|ref|code|key)$", r"name$",
    r"^(link|href|uri|url)$", r"^title$",
)  # fmt: skip
_BEGINS: Final = (
    r"(version|versioned)(at)?time$|(recorded|updated|modified|changed)", r"stamp$|sent$",
    r"(pub|publication|creation|created|issue|event).*(time|date)?", r"(start|begin|from)",
    r"(time|date)$", r"^(at|when|ts|since)$",
)  # fmt: skip
_ENDS: Final = r"(end|expires?|until|validto|^to$)"
_VERSIONS: Final = r"^@?(version|revision|sequence(number)?|seq)$"
_GONE: Final = frozenset(
    {"delete", "deleted", "cancel", "cancelled", "canceled", "cancellation", "closed", "close"}
    | {"removed", "remove", "retracted", "retract", "ended", "end", "terminated", "withdrawn"}
    | {"inactive", "cleared"}
)
_LIKELY: Final = 2  # up to this one of _KEYS a name says that it is a key
_ALTERNATIVES: Final = 4  # keys, the first of which that a unit has identifies it
_NO_TIME: Final = TimeRule("")
KEYED: Final = "\0key"  # in place of a namespace: the name is a key of JSON


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a proposal, and why."""

    word: str
    value: str
    why: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of units that is proposed."""

    name: str
    entries: tuple[Entry, ...]


def propose(sample: Sample) -> tuple[list[Kind], Entry | None, dict[str, str]]:
    """(kinds, the message time, namespaces by prefix) for what the samples hold."""
    prefixes = _prefixes(sample)
    paths = _units(sample)
    kinds = [_kind(sample, path, prefixes) for path in paths]
    if len({one.name for one in kinds}) < len(kinds):  # one name in two namespaces
        kinds = [Kind(f"{one.name}-{n}", one.entries) for n, one in enumerate(kinds, start=1)]
    used = " ".join(e.value for kind in kinds for e in kind.entries)
    time = _message_time(sample, paths, prefixes)
    used += time.value if time else ""
    names = {prefix: uri for uri, prefix in prefixes.items() if f"{prefix}:" in used}
    return kinds, time, names


def propose_lines(spot: Spot, name: str) -> Kind:
    """What the lines of a feed are known by, and when they are true."""
    path: Steps = (("", name),)
    kind = _kind(Sample({path: spot}), path, {})
    entries = tuple(one for one in kind.entries if one.word != "path")
    if not _keys(spot):  # lines that nothing tells apart happen
        events = Entry("type", "event", "no column identifies a line: each is an event")
        entries = (events, *(one for one in entries if one.word != "key"))
    return Kind(name, entries)


def _prefixes(sample: Sample) -> dict[str, str]:
    """A prefix for each namespace; the default one gets the first letter of its last word."""
    found: dict[str, str] = {}
    for uri, prefix in sample.prefixes.items():
        words = re.findall(r"[A-Za-z]+", uri)
        name = prefix or (words[-1][0].lower() if words else "n")
        while name in found.values():
            name += "x"
        found[uri] = name
    return found


def _units(sample: Sample) -> list[Steps]:
    """The outermost paths whose elements repeat and are known by something: in one parent, else
    as roots of documents, else anywhere.
    """
    repeated = _outermost(sample, lambda path: sample.spots[path].most > 1)
    if repeated:
        return repeated
    roots: list[Steps] = [path for path in sample.spots if len(path) == 1]
    known = [path for path in roots if [len(one) for one in _keys(sample.spots[path])] == [1]]
    return known[:1] or _outermost(sample, lambda p: _named(sample, p).count > 1) or roots[:1]


def _outermost(sample: Sample, fits: Callable[[Steps], bool]) -> list[Steps]:
    found: list[Steps] = []
    for path in sorted(sample.spots, key=len):
        within = any(one[-1] in path for one in found)  # or of the same name
        if len(path) == 1 or within or not fits(path):
            continue
        spot = _named(sample, path)
        if _keys(spot) and len(spot.values) > 1:
            found.append(path)
    return found


def _named(sample: Sample, path: Steps) -> Spot:
    """All elements of the name that a path ends with, in whatever they stand."""
    spots = [spot for one, spot in sample.spots.items() if one[-1] == path[-1] and len(one) > 1]
    if len(spots) < 2 or len(path) == 1:
        return sample.spots[path]
    merged = Spot(most=max(one.most for one in spots))
    for spot in spots:
        merged.documents |= spot.documents
        for steps, values in spot.values.items():
            merged.values[steps] += [(merged.count + owner, value) for owner, value in values]
        merged.count += spot.count
    return merged


def _kind(sample: Sample, path: Steps, prefixes: dict[str, str]) -> Kind:
    spot, name = _named(sample, path), path[-1][1]
    shown = "//" + _step(path[-1], prefixes) if len(path) > 1 else "/" + _step(path[-1], prefixes)
    entries = [Entry("path", shown, f"{spot.count} in {len(spot.documents)} documents")]
    keys = _keys(spot)
    if not keys:
        entries.append(Entry("key", ".", "no unique value found: name the key"))
    else:
        told = f"{len(set(_first_values(spot, keys).values()))} different values"
        paths = [_path(one, prefixes) for one in keys]
        shown = paths[0] if len(paths) == 1 else f"({', '.join(paths)})[1]"
        entries.append(Entry("key", shown, told))
    begins = _time(spot, _BEGINS, not_like=_ENDS)
    if begins is not None:
        example = spot.values[begins][0][1]
        entries.append(Entry("from", _path(begins, prefixes), f"such as {example}"))
    ends = _time(spot, (_ENDS,))
    if ends is not None and ends != begins:
        example = spot.values[ends][0][1]
        entries.append(Entry("to", _path(ends, prefixes), f"such as {example}"))
    version = _version(spot)
    if version is not None:
        entries.append(Entry("version", _path(version, prefixes), "orders corrections"))
    removal = _removal(sample, path, prefixes)
    if removal is not None:
        entries.append(removal)
    return Kind(re.sub(r"\W", "-", name).lower(), tuple(entries))


def _step(name: Name, prefixes: dict[str, str]) -> str:
    uri, local = name
    if uri == KEYED:
        quoted = local.replace("'", "''")
        return f"*[@key='{quoted}']"
    mark, local = ("@", local[1:]) if local.startswith("@") else ("", local)
    return f"{mark}{prefixes[uri]}:{local}" if uri in prefixes and uri else f"{mark}{local}"


def _path(steps: Steps, prefixes: dict[str, str]) -> str:
    return "/".join(_step(name, prefixes) for name in steps)


def _keys(spot: Spot) -> tuple[Steps, ...]:
    """What every element has once, with the most telling name, the nearest of these; or several,
    of which every element has one.
    """
    ranked = sorted(_candidates(spot), key=lambda one: (one[0], -_distinct(spot, one[-1]), one))
    whole = [one for one in ranked if len(spot.values[one[-1]]) == spot.count and one[1] <= 2]
    best = min(whole, key=lambda one: (not _differs(spot, (one[-1],)), one), default=None)
    if best is not None and best[0] <= _LIKELY and _differs(spot, (best[-1],)):
        return (best[-1],)
    partly = tuple(one[-1] for one in ranked if len(spot.values[one[-1]]) < spot.count)
    some = _covering(spot, partly if best is None else (*partly, best[-1]))
    return some or (() if best is None else (best[-1],))


def _distinct(spot: Spot, steps: Steps) -> int:
    return len({value for _, value in spot.values[steps]})


def _candidates(spot: Spot) -> Iterator[tuple[int, int, Steps]]:
    """What no element has twice: (how likely a key, how far, where)."""
    for steps, values in spot.values.items():
        owners = {owner for owner, _ in values}
        if len(steps) > 3 or len(owners) != len(values):
            continue
        if any(not value for _, value in values) or _is_time(values[0][1]):
            continue
        name = steps[-1][1].lower()
        likely = next((i for i, like in enumerate(_KEYS) if re.search(like, name)), None)
        if likely is not None:
            yield likely, len(steps), steps


def _covering(spot: Spot, candidates: tuple[Steps, ...]) -> tuple[Steps, ...]:
    """The first candidates of which every element has one, if they tell elements apart."""
    chosen: list[Steps] = []
    covered: set[int] = set()
    for steps in candidates:
        more = {owner for owner, _ in spot.values[steps]} - covered
        if more and len(chosen) < _ALTERNATIVES:
            chosen.append(steps)
            covered |= more
    fits = len(covered) == spot.count and _differs(spot, tuple(chosen))
    return tuple(chosen) if fits else ()


def _differs(spot: Spot, keys: tuple[Steps, ...]) -> bool:
    """Whether keys tell most elements apart."""
    return 2 * len(set(_first_values(spot, keys).values())) > spot.count or spot.count < 3


def _first_values(spot: Spot, keys: tuple[Steps, ...]) -> dict[int, str]:
    """For each element the value of the first key that it has."""
    found: dict[int, str] = {}
    for steps in reversed(keys):
        found |= dict(spot.values[steps])
    return found


def _is_time(value: str) -> bool:
    plain = value.isdigit() and len(value) < 12
    return not plain and instant_of(value, _NO_TIME) is not None


def _time(spot: Spot, likes: tuple[str, ...], not_like: str | None = None) -> Steps | None:
    """The times that most elements have, with the most telling name."""
    found: list[tuple[int, int, Steps]] = []
    for steps, values in spot.values.items():
        name = steps[-1][1].lower()
        if len(steps) > 3 or (not_like and re.search(not_like, name)):
            continue
        likely = next((i for i, like in enumerate(likes) if re.search(like, name)), None)
        if likely is None or not all(_is_time(value) for _, value in values[:20] if value):
            continue
        if any(value for _, value in values[:20]):
            found.append((likely, len(steps), steps))
    return min(found)[2] if found else None


def _version(spot: Spot) -> Steps | None:
    for steps, values in spot.values.items():
        told = re.search(_VERSIONS, steps[-1][1].lower()) and len(steps) == 1
        if told and all(value.isdigit() and len(value) < 18 for _, value in values):
            return steps
    return None


def _removal(sample: Sample, path: Steps, prefixes: dict[str, str]) -> Entry | None:
    spot = _named(sample, path)
    for steps, values in spot.values.items():
        gone = sorted({value for _, value in values if value.lower() in _GONE})
        if gone and len(steps) <= 2:
            said = ", ".join(f"'{one}'" for one in gone)
            return Entry("remove", f"{_path(steps, prefixes)} = ({said})", "removes the unit")
    above = sorted({
        one[-2][1] for one in sample.spots
        if len(one) > 1 and one[-1] == path[-1] and one[-2][1].lower() in _GONE
    })  # fmt: skip
    if above:
        test = " or ".join(f"parent::*:{name}" for name in above)
        return Entry("remove", f"exists({test})" if len(above) == 1 else test, "stands in it")
    return None


def _message_time(sample: Sample, units: list[Steps], prefixes: dict[str, str]) -> Entry | None:
    """A time that stands once in every document, outside of the units."""
    found: list[tuple[int, int, Steps]] = []
    for path, spot in sample.spots.items():
        if len(path) > 1:
            continue
        for steps, values in spot.values.items():
            whole = (*path, *steps)
            inside = any(whole[: len(one)] == one for one in units if len(one) > 1)
            if inside or len(values) != spot.count or len(units[0]) == 1:
                continue
            name = steps[-1][1].lower()
            likely = next((i for i, like in enumerate(_BEGINS) if re.search(like, name)), None)
            if likely is not None and all(_is_time(value) for _, value in values):
                found.append((likely, len(whole), whole))
    if not found:
        return None
    path = min(found)[2]
    return Entry("time", "/" + _path(path, prefixes), "moves the clock")
