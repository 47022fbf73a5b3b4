"""What elements of samples are known by, and when they are true, judged by names and values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from xstreamcast.edges.mapping.form import TimeRule
from xstreamcast.edges.mapping.times import instant_of
from xstreamcast.edges.mapping.unwrapping import ANY, depth

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.sampling import SampledPath, Steps

_KEYS: Final = (
    r"^@?(id|guid|uuid|key)$", r"(identifier|number|guid|uuid)$",
    r"((?<!^u)(?<!^@u)id|(?<!h)ref|code|key|designator)$"  # not that of a user
    r"|^@?(symbol|ticker|isin|mmsi|icao24|callsign|vin|iban)$",
    r"^@?name$", r"name$", r"^@?(link|href|uri|url|loc)$", r"^@?title$",
)  # fmt: skip
# words that end like these names; and what runs somewhere, which others do later
_NO_KEYS: Final = (
    r"(^|[^a-z])(bid|paid|valid|invalid|void|avoid|grid|solid|fluid|liquid|humid|rapid|acid|mid"
    r"|said|hybrid|unpaid|prepaid|barcode|mode|decode|encode|pid|procid|processid|threadid"
    r"|host|hostname|username)$"
)
_NUMBERS: Final = r"([a-z](No|Nr|Num)|[_-](no|nr|num)|^@?(no|nr|No|Nr))$"  # OrderNo, but not casino
BEGINS: Final = (
    r"(version|versioned)(at)?time$|(recorded|updated|modified|changed)", r"stamp$|sent$",
    r"(pub|publication|creation|created|^credt|issue|event).*(time|date)?", r"(start|begin|from)",
    r"(time|date)$", r"^(at|when|ts|since)$", r"(tm|dt|ts)$|generated|asof", r".",
)  # fmt: skip
ENDS: Final = r"(end|expires?|until|validto|^to$)"
_VERSIONS: Final = r"^@?(version|revision|sequence(number)?|seq)$"
_LIKELY: Final = 2  # up to this one of _KEYS a name says that it is a key
_ALTERNATIVES: Final = 4  # keys, the first of which that a unit has identifies it
_NO_TIME: Final = TimeRule("")
_LOCAL_IDS: Final = ("http://www.opengis.net/gml", "http://www.w3.org/XML/1998/namespace")


def identifies(spot: SampledPath) -> bool:
    """Whether elements have a key that holds beyond their document."""
    keys = keys_of(spot)
    return bool(keys) and differs(spot, keys) and not any(map(is_local, keys))


def begins_of(spot: SampledPath, keys: tuple[Steps, ...] = ()) -> Steps | None:
    """When an element is true; not a time that remains while what has one key changes."""
    return time_of(spot, BEGINS, not_like=ENDS, keys=keys)


def has_its_name(spot: SampledPath, name: str) -> bool:
    """Whether what elements are known by is called as they are: an order has an OrderId."""
    keys = keys_of(spot)
    if len(keys) != 1 or len(keys[0]) != 1:
        return False
    words = [re.sub(r"[^a-z]", "", one.lower()) for one in (name, keys[0][0][1])]
    return words[1] in (f"{words[0]}{end}" for end in ("id", "number", "key", "ref", "code"))


def key_is_named(spot: SampledPath) -> bool:
    """Whether what elements are known by has the name of a key."""
    return any(_likely_key(steps[-1][1]) is not None for steps in keys_of(spot))


def keys_of(spot: SampledPath) -> tuple[Steps, ...]:
    """What every element has once, with the clearest name, the nearest of these; or several,
    of which every element has one.
    """
    ranked = sorted(_candidates(spot), key=lambda one: (one[0], -_distinct(spot, one[-1]), one))
    whole = [one for one in ranked if len(spot.values[one[-1]]) == spot.count and one[1] <= 2]
    best = min(whole, key=lambda one: (not _tells(spot, one), one), default=None)
    if best is not None and best[0] <= _LIKELY and _tells(spot, best):
        return (best[-1],)
    partly = tuple(one[-1] for one in ranked if len(spot.values[one[-1]]) < spot.count)
    some = _covering(spot, partly if best is None else (*partly, best[-1]))
    return some or (() if best is None else (best[-1],))


def _tells(spot: SampledPath, candidate: tuple[int, int, Steps]) -> bool:
    """Whether a candidate distinguishes elements, or what they are versions of."""
    keys = (candidate[-1],)
    return differs(spot, keys) or (candidate[0] == 0 and is_history(spot, keys))


def is_history(spot: SampledPath, keys: tuple[Steps, ...]) -> bool:
    """Whether elements of one key are versions of one thing, each with a number of its own."""
    version = version_of(spot)
    if version is None:
        return False
    found, number = first_values(spot, keys), dict(spot.values[version])
    pairs = {(value, number.get(owner)) for owner, value in found.items()}
    return len(pairs) == spot.count


def is_named(spot: SampledPath) -> bool:
    """Whether elements have an identifier of their own, called so."""
    keys = keys_of(spot)
    name = keys[0][-1][1].lower() if len(keys) == 1 and len(keys[0]) == 1 else ""
    return identifies(spot) and any(re.search(like, name) for like in _KEYS[:2])


def is_local(steps: Steps) -> bool:
    """Whether a key is one of the document alone: gml:id, xml:id."""
    uri, local = steps[-1]
    return local == "@id" and uri.startswith(_LOCAL_IDS)


def _distinct(spot: SampledPath, steps: Steps) -> int:
    return len({value for _, value in spot.values[steps]})


def _candidates(spot: SampledPath) -> Iterator[tuple[int, int, Steps]]:
    """What no element has twice: (how likely a key, how far, where)."""
    for steps, values in spot.values.items():
        owners = {owner for owner, _ in values}
        if depth(steps) > 3 or len(owners) != len(values):
            continue
        if any(not value for _, value in values) or is_time(values[0][1]):
            continue
        likely = _likely_key(steps[-1][1])
        if re.search(_VERSIONS, steps[-1][1].lower()):
            continue
        if is_local(steps):
            likely = len(_KEYS)
        if likely is None and depth(steps) < 3 and _recurs(spot, (steps,)):
            likely = len(_KEYS)
        if likely is not None:
            yield likely, depth(steps), steps


def _likely_key(name: str) -> int | None:
    """How far down in the list of names of keys a name is."""
    if re.search(_NO_KEYS, name.lower()):
        return None
    if re.search(_NUMBERS, name):
        return _LIKELY
    return next((i for i, like in enumerate(_KEYS) if re.search(like, name.lower())), None)


def key_parts(spot: SampledPath, key: Steps) -> tuple[Steps, ...]:
    """The key, with the first value that distinguishes elements of one document that have the same
    key and time; the key alone if there are none, or no such value.
    """
    begins, version = begins_of(spot), version_of(spot)
    moments = [one for one in (begins, version) if one is not None]
    if len(spot.documents) != 1 or _are_unique(spot, (key, *moments)):
        return (key,)
    order = list(spot.values)
    for steps in order:
        values = spot.values[steps]
        if depth(steps) > 1 or steps == key or len(values) != spot.count or is_time(values[0][1]):
            continue
        if all(value for _, value in values) and _are_unique(spot, (key, steps, *moments)):
            return (key, steps) if order.index(key) < order.index(steps) else (steps, key)
    return (key,)


def _are_unique(spot: SampledPath, paths: tuple[Steps, ...]) -> bool:
    """Whether no two elements have the same first values at some paths."""
    columns = [first_values(spot, (one,)) for one in paths]
    return len({tuple(c.get(n) for c in columns) for n in range(spot.count)}) == spot.count


def _covering(spot: SampledPath, candidates: tuple[Steps, ...]) -> tuple[Steps, ...]:
    """The first candidates of which every element has one, if they distinguish elements."""
    chosen: list[Steps] = []
    covered: set[int] = set()
    for steps in candidates:
        more = {owner for owner, _ in spot.values[steps]} - covered
        if more and len(chosen) < _ALTERNATIVES:
            chosen.append(steps)
            covered |= more
    fits = len(covered) == spot.count and differs(spot, tuple(chosen))
    return tuple(chosen) if fits else ()


def differs(spot: SampledPath, keys: tuple[Steps, ...]) -> bool:
    """Whether keys distinguish most elements; two messages may be about one thing."""
    few = spot.count < 3 and spot.most < 2
    many = 2 * len(set(first_values(spot, keys).values())) > spot.count
    return few or many or _recurs(spot, keys)


def _recurs(spot: SampledPath, keys: tuple[Steps, ...]) -> bool:
    """Whether values distinguish the elements of each document, and come again in others; numbers
    from 1 on do so in every list.
    """
    if len(spot.documents) < 2 or len(spot.homes) != spot.count:
        return False
    inside: dict[int, list[str]] = {}
    for owner, value in first_values(spot, keys).items():
        inside.setdefault(spot.homes[owner], []).append(value)
    several = [some for some in inside.values() if len(some) > 1]
    every = [value for some in inside.values() for value in some]
    unique = len(every) == spot.count and all(len(set(s)) == len(s) for s in inside.values())
    counted = bool(several) and all(_counts(some) for some in several)
    return unique and bool(several) and not counted and 2 * len(set(every)) <= len(every) + 1


def _counts(values: list[str]) -> bool:
    """Whether values are the numbers from 0 or 1 on."""
    if not all(value.isdigit() and len(value) < 9 for value in values):
        return False
    numbers = sorted(map(int, values))
    return numbers[0] < 2 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def first_values(spot: SampledPath, keys: tuple[Steps, ...]) -> dict[int, str]:
    """For each element the value of the first key that it has."""
    found: dict[int, str] = {}
    for steps in reversed(keys):
        found |= dict(spot.values[steps])
    return found


def is_time(value: str, name: str = "") -> bool:
    """Whether a value is a time; seconds since 1970 are one where the name says so."""
    if value.isdigit() and len(value) < 12:
        return len(value) == 10 and value[0] == "1" and name.endswith(("time", "stamp"))
    return instant_of(value, _NO_TIME) is not None


def _remains(spot: SampledPath, keys: tuple[Steps, ...], time: Steps) -> bool:
    """Whether elements of one key and time have different values: it is not when these are true."""
    if not keys or version_of(spot) is not None:
        return False
    known, at = first_values(spot, keys), first_values(spot, (time,))
    rest: dict[int, set[tuple[Steps, str]]] = {}
    for steps, values in spot.values.items():
        for owner, value in values if steps != time else ():
            rest.setdefault(owner, set()).add((steps, value))
    seen: dict[tuple[str | None, str], set[tuple[Steps, str]]] = {}
    return any(
        seen.setdefault((known.get(owner), when), rest.get(owner, set())) != rest.get(owner, set())
        for owner, when in at.items()
    )


def time_of(
    spot: SampledPath,
    likes: tuple[str, ...],
    not_like: str | None = None,
    keys: tuple[Steps, ...] = (),
) -> Steps | None:
    """The times that most elements have, with the clearest name, which may be that of an
    element around them (<issueTime><TimeInstant><timePosition>).
    """
    found: list[tuple[int, int, int, Steps]] = []
    for steps, values in spot.values.items():
        name = steps[-1][1].lower()
        if depth(steps) > 3 or (not_like and re.search(not_like, name)):
            continue
        said = [value for _, value in values[:20] if value]
        if not said or not all(is_time(value, name) for value in said):
            continue
        names = [step[1].lower() for step in reversed(steps) if step != ANY]
        likely = [
            (i, at) for i, like in enumerate(likes) for at, one in enumerate(names)
            if re.search(like, one) and (at == 0 or one.endswith("time"))
        ]  # fmt: skip
        if likely and not _remains(spot, keys, steps):
            valid = any("valid" in one for one in names)
            found.append((*min(likely), depth(steps) - valid, steps))
    most = max((len(spot.values[one[-1]]) for one in found), default=0)
    often = [one for one in found if 2 * len(spot.values[one[-1]]) >= most]
    return min(often)[-1] if often else None


def version_of(spot: SampledPath) -> Steps | None:
    """The nearest whole numbers that are named so; most elements have one."""
    found: list[tuple[int, Steps]] = []
    for steps, values in spot.values.items():
        named = re.search(_VERSIONS, steps[-1][1].lower()) and depth(steps) <= 2
        single = len({owner for owner, _ in values}) == len(values) and 2 * len(values) > spot.count
        if named and single and all(value.isdigit() and len(value) < 18 for _, value in values):
            found.append((depth(steps), steps))
    return min(found)[1] if found else None
