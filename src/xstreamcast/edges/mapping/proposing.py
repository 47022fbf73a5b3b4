"""A mapping for samples of a feed: what repeats, what it is known by, when it is true."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from xstreamcast.edges.mapping.judging import (
    BEGINS,
    ENDS,
    begins_of,
    differs,
    first_values,
    has_its_name,
    identifies,
    is_history,
    is_local,
    is_named,
    is_time,
    key_is_named,
    key_parts,
    keys_of,
    time_of,
    version_of,
)
from xstreamcast.edges.mapping.sampling import Sample, SampledPath
from xstreamcast.edges.mapping.unwrapping import ANY, depth, unwrapped
from xstreamcast.model.counted import counted

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.sampling import Name, Steps

_GONE: Final = frozenset(
    {"delete", "deleted", "cancel", "cancelled", "canceled", "cancellation", "removed", "remove"}
    | {"retracted", "retract", "terminated", "withdrawn"}
)
_OVER: Final = frozenset({"closed", "close", "ended", "end", "inactive", "cleared"})
_STATES: Final = r"(state|status|progress|phase|cycle|action|operation|change)"  # may say these
_FLAGS: Final = r"^@?(is)?[-_]?(deleted|cancell?ed|cancellation|removed|retracted|withdrawn)$"
_HEADERS: Final = r"(header|hdr|envelope|meta)"  # values there are about the message
_TRUE: Final = frozenset({"true", "1", "yes"})
KEYED: Final = "\0key"  # in place of a namespace: the name is a key of JSON


@dataclass(frozen=True, slots=True)
class ProposalLine:
    """One line of a proposal, and why."""

    word: str
    value: str | tuple[str, ...]  # the parts of a key
    why: str

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.value,) if isinstance(self.value, str) else self.value


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of units that is proposed."""

    name: str
    entries: tuple[ProposalLine, ...]


def propose(sample: Sample) -> tuple[list[Kind], ProposalLine | None, dict[str, str]]:
    """(kinds, the message time, namespaces by prefix) for what the samples hold."""
    prefixes = _prefixes(sample)
    paths = _units(sample, unwrapped(sample))
    kinds = [_kind(sample, path, prefixes) for path in paths]
    if len({one.name for one in kinds}) < len(kinds):  # one name in two namespaces
        kinds = [Kind(f"{one.name}-{n}", one.entries) for n, one in enumerate(kinds, start=1)]
    time = _message_time(sample, paths, prefixes)
    entries = [*(e for kind in kinds for e in kind.entries), *([time] if time else [])]
    used = " ".join(" ".join(e.parts) for e in entries)
    names = {prefix: uri for uri, prefix in prefixes.items() if f"{prefix}:" in used}
    return kinds, time, names


def propose_lines(spot: SampledPath, name: str) -> Kind:
    """What the lines of a feed are known by, and when they are true."""
    path: Steps = (("", name),)
    kind = _kind(Sample({path: spot}), path, {})
    entries = tuple(one for one in kind.entries if one.word != "path")
    if not keys_of(spot):  # lines that nothing distinguishes are events
        events = ProposalLine("type", "event", "no column identifies a line: each is an event")
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


def _units(sample: Sample, wrappers: set[Steps]) -> list[Steps]:
    """The outermost paths whose elements repeat and are known by something: in one parent, else
    as roots of documents, else anywhere; else those that repeat and say when they are.
    """
    roots: list[Steps] = [path for path in sample.spots if len(path) == 1]
    known = [path for path in roots if [len(one) for one in keys_of(sample.spots[path])] == [1]]
    known = [path for path in known if identifies(sample.spots[path])]
    repeated = _outermost(sample, wrappers, lambda path: sample.spots[path].most > 1)
    timed = [path for path in repeated if begins_of(_named(sample, path)) is not None]
    several = any(sample.spots[path].count > 1 for path in known)
    around = _around(sample, repeated) if repeated and not timed else []
    if around:
        return around
    if repeated and (timed or not (several and begins_of(sample.spots[known[0]]) is not None)):
        return repeated
    return (
        known[:1]
        or _outermost(sample, wrappers, lambda path: _is_thing(sample, path))
        or _outermost(sample, wrappers, lambda p: _named(sample, p).count > 1)
        or _events(sample, wrappers)
        or roots[:1]
    )


def _is_thing(sample: Sample, path: Steps) -> bool:
    """Whether elements have an identifier, and are not about the message."""
    return is_named(sample.spots[path]) and not any(
        re.search(_HEADERS, local.lower()) for _, local in path[1:]
    )


def _around(sample: Sample, repeated: list[Steps]) -> list[Steps]:
    """Things with an identifier, one in a message, around lists of which only the values say what
    they are known by.
    """
    if any(key_is_named(_named(sample, path)) for path in repeated):
        return []
    above = {path[:at] for path in repeated for at in range(2, len(path))}
    things = [one for one in above if has_its_name(sample.spots[one], one[-1][1])]
    return sorted(things, key=len)[:1]


def _outermost(sample: Sample, wrappers: set[Steps], fits: Callable[[Steps], bool]) -> list[Steps]:
    found: list[Steps] = []
    for path in sorted(sample.spots, key=len):
        if len(path) == 1 or path in wrappers or _is_within(path, found) or not fits(path):
            continue
        spot = _named(sample, path)
        keys = keys_of(spot)
        known = keys and (differs(spot, keys) or is_history(spot, keys))
        if (known or has_its_name(spot, path[-1][1])) and len(spot.values) > 1:
            found.append(path)
    return found


def _events(sample: Sample, wrappers: set[Steps]) -> list[Steps]:
    """The outermost paths whose elements repeat and say when they are."""
    found: list[Steps] = []
    for path in sorted(sample.spots, key=len):
        spot = sample.spots[path]
        if len(path) == 1 or path in wrappers or _is_within(path, found) or spot.most < 2:
            continue
        if begins_of(spot) is not None and len(spot.values) > 1:
            found.append(path)
    return found


def _is_within(path: Steps, found: list[Steps]) -> bool:
    """Whether it leads into one of the units, or to others of the same name."""
    return any(
        one[-1] in path or (path[: len(one) - 1] == one[:-1] and one[-1] == ANY) for one in found
    )


def _named(sample: Sample, path: Steps) -> SampledPath:
    """All elements of the name that a path ends with, whatever is around them."""
    spots = [spot for one, spot in sample.spots.items() if one[-1] == path[-1] and len(one) > 1]
    if len(spots) < 2 or len(path) == 1:
        return sample.spots[path]
    merged = SampledPath(most=max(one.most for one in spots))
    for spot in spots:
        merged.documents |= spot.documents
        merged.homes += spot.homes
        for steps, values in spot.values.items():
            merged.values[steps] += [(merged.count + owner, value) for owner, value in values]
        merged.count += spot.count
    return merged


def _kind(sample: Sample, path: Steps, prefixes: dict[str, str]) -> Kind:
    spot, name = _named(sample, path), path[-2 if path[-1] == ANY else -1][1]
    shown = _path(path[-2:] if path[-1] == ANY else path[-1:], prefixes)
    shown = "//" + shown if len(path) > 1 else "/" + shown
    entries = [
        ProposalLine("path", shown, f"{spot.count} in {counted(len(spot.documents), 'document')}")
    ]
    keys = keys_of(spot)
    if not keys and spot.most > 1 and begins_of(spot) is not None:
        entries.insert(
            0, ProposalLine("type", "event", "no value identifies one: each is an event")
        )
    elif not keys:
        entries.append(ProposalLine("key", ".", "no unique value found: name the key"))
    else:
        note = f"{len(set(first_values(spot, keys).values()))} different values"
        if any(map(is_local, keys)):
            note += "; it identifies elements in one document: is there a better key?"
        parts = key_parts(spot, keys[0]) if len(keys) == 1 else keys
        paths = [_path(one, prefixes) for one in parts]
        if len(keys) == 1 < len(parts):
            note = f"{paths[keys[0] == parts[0]]} distinguishes those of one {keys[0][-1][1]}"
            entries.append(ProposalLine("key", tuple(paths), note))
        else:
            shown = paths[0] if len(paths) == 1 else f"({', '.join(paths)})[1]"
            entries.append(ProposalLine("key", shown, note))
    begins = begins_of(spot, keys)
    if begins is not None:
        example = _example(spot, begins)
        entries.append(ProposalLine("from", _path(begins, prefixes), f"such as {example}"))
    ends = time_of(spot, (ENDS,))
    if ends is not None and ends != begins:
        example = _example(spot, ends)
        entries.append(ProposalLine("to", _path(ends, prefixes), f"such as {example}"))
    version = version_of(spot)
    if version is not None:
        entries.append(ProposalLine("version", _path(version, prefixes), "orders corrections"))
    removal = _removal(sample, path, prefixes)
    if removal is not None:
        entries.append(removal)
    return Kind(re.sub(r"\W", "-", name).lower(), tuple(entries))


def _example(spot: SampledPath, steps: Steps) -> str:
    return next(value for _, value in spot.values[steps] if value)


def _step(name: Name, prefixes: dict[str, str]) -> str:
    uri, local = name
    if name == ANY:
        return "*"
    if uri == KEYED:
        quoted = local.replace("'", "''")
        return f"*[@key='{quoted}']"
    mark, local = ("@", local[1:]) if local.startswith("@") else ("", local)
    return f"{mark}{prefixes[uri]}:{local}" if uri in prefixes and uri else f"{mark}{local}"


def _path(steps: Steps, prefixes: dict[str, str]) -> str:
    return "/".join(_step(name, prefixes) for name in steps)


def _removal(sample: Sample, path: Steps, prefixes: dict[str, str]) -> ProposalLine | None:
    spot = _named(sample, path)
    for steps, values in spot.values.items():
        gone = sorted({value for _, value in values if _is_gone(steps[-1][1].lower(), value)})
        if gone and depth(steps) <= 2:
            said = ", ".join(f"'{one}'" for one in gone)
            return ProposalLine(
                "remove", f"{_path(steps, prefixes)} = ({said})", "removes the unit"
            )
    above = sorted({
        one[-2][1] for one in sample.spots
        if len(one) > 1 and one[-1] == path[-1] and one[-2][1].lower() in _GONE
    })  # fmt: skip
    if above:
        test = " or ".join(f"parent::*:{name}" for name in above)
        return ProposalLine(
            "remove", f"exists({test})" if len(above) == 1 else test, "the unit is inside of it"
        )
    return None


def _is_gone(name: str, value: str) -> bool:
    """Whether a value at a name says that something is no longer there."""
    word = value.lower()
    if re.search(_FLAGS, name):
        return word in _TRUE
    return word in _GONE or (word in _OVER and re.search(_STATES, name) is not None)


def _message_time(
    sample: Sample, units: list[Steps], prefixes: dict[str, str]
) -> ProposalLine | None:
    """The nearest time that occurs once in every document, outside of the units and of other
    things with a key.
    """
    if len(units[0]) == 1:
        return None
    found: list[tuple[int, int, Steps]] = []
    for path, spot in sample.spots.items():
        for steps, values in spot.values.items() if len(path) == 1 else ():
            whole = (*path, *steps)
            if len(values) != spot.count or _is_of_a_thing(sample, whole, units):
                continue
            name = steps[-1][1].lower()
            likely = next((i for i, like in enumerate(BEGINS) if re.search(like, name)), None)
            if likely is not None and all(is_time(value, name) for _, value in values):
                found.append((len(whole), likely, whole))
    if not found:
        return None
    path = min(found)[2]
    return ProposalLine("time", "/" + _path(path, prefixes), "moves the clock")


def _is_of_a_thing(sample: Sample, path: Steps, units: list[Steps]) -> bool:
    """Whether a value belongs to a unit, or to something else that has a key."""
    if _is_within(path, units):
        return True
    for at in range(2, len(path)):
        around = any(one[:at] == path[:at] for one in units)
        header = re.search(_HEADERS, path[at - 1][1].lower())
        if not around and not header and keys_of(sample.spots[path[:at]]):
            return True
    return False
