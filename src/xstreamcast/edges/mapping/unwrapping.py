"""Repeated elements that hold one element each: the units are those inside.

<hasMember><Runway/></hasMember><hasMember><Taxiway/></hasMember>  →  hasMember/*
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xstreamcast.edges.mapping.sampling import Sample, SampledPath

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.sampling import Name, Steps

ANY: Final[Name] = ("\0any", "*")  # in a path: an element of whatever name


def unwrapped(sample: Sample) -> set[Steps]:
    """Note elements in repeated wrappers as what repeats → the paths that are no units then."""
    gone: set[Steps] = set()
    for path in sorted(sample.spots, key=len):
        wrapper = sample.spots[path]
        if len(path) < 2 or wrapper.most < 2 or not wrapper.wraps or path in gone:
            continue
        inside = [one for one in sample.spots if len(one) == len(path) + 1 and one[:-1] == path]
        if not all(sample.spots[one].values for one in inside):
            continue  # texts in wrappers are no units
        gone.add(path)
        if len(inside) == 1:
            sample.spots[inside[0]].most = wrapper.most
        else:
            gone.update(inside)
            sample.spots[*path, ANY] = _merged(sample, inside, wrapper.most)
    return gone


def _merged(sample: Sample, paths: list[Steps], most: int) -> SampledPath:
    """The elements at several paths as those of one."""
    found = SampledPath(most=most, wraps=False)
    for path in paths:
        spot = sample.spots[path]
        found.documents |= spot.documents
        found.homes += spot.homes
        for steps, values in spot.values.items():
            found.values[_general(sample, path, steps)] += [
                (found.count + owner, value) for owner, value in values
            ]
        found.count += spot.count
    return found


def _general(sample: Sample, path: Steps, steps: Steps) -> Steps:
    """The steps, with any name for what a wrapper holds: it differs from unit to unit."""
    out: list[Name] = []
    for at, step in enumerate(steps):
        above = sample.spots.get((*path, *steps[:at])) if at else None
        inner = above is not None and above.wraps and at + 1 < len(steps)
        out.append(ANY if inner else step)
    return tuple(out)


def depth(steps: Steps) -> int:
    """How many steps away something is; what wrappers hold is no step of its own."""
    return sum(step != ANY for step in steps)
