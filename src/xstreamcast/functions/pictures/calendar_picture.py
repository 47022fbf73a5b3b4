"""Pictures of fn:format-date and its kin: literal text and markers such as [MNn,3-3]."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from xstreamcast.errors import Error, error
from xstreamcast.model.frozen import dataclass

_DEFAULT: Final = {"F": "n", "P": "n", "C": "n", "E": "n", "m": "01", "s": "01", "Z": "01:01"}
_WIDTH: Final = re.compile(r"(\*|[0-9]+)(?:-(\*|[0-9]+))?")
COMPONENTS: Final = "YMDdFWwHhPmsfZzCE"


@dataclass(frozen=True, slots=True)
class Marker:
    """One component: what it shows, how, and in how many characters."""

    component: str
    how: str  # the first presentation modifier, or the component's default
    modifier: str  # "", or one of a t c o
    least: int | None
    most: int | None
    plain: bool  # whether the picture left the presentation to us


@lru_cache(256)
def calendar_picture(picture: str) -> tuple[str | Marker, ...]:
    """The picture cut into text and markers; FOFD1340 if it cannot be."""
    parts: list[str | Marker] = []
    at = 0
    while at < len(picture):
        if picture.startswith(("[[", "]]"), at):
            parts.append(picture[at])
            at += 2
        elif picture[at] == "[":
            end = picture.find("]", at)
            if end < 0:
                raise invalid(picture, "has a [ without a ]")
            parts.append(_marker(picture, re.sub(r"\s", "", picture[at + 1 : end])))
            at = end + 1
        elif picture[at] == "]":
            raise invalid(picture, "has a ] without a [")
        else:
            parts.append(picture[at])
            at += 1
    return tuple(parts)


def invalid(picture: str, why: str) -> Error:
    """FOFD1340."""
    return error("FOFD1340", f'the picture "{picture}" {why}')


def _marker(picture: str, text: str) -> Marker:
    if not text or text[0] not in COMPONENTS:
        raise invalid(picture, f"has the unknown component [{text}]")
    component, rest = text[0], text[1:]
    rest, comma, width = rest.rpartition(",") if "," in rest else (rest, "", "")
    least, most = _width(picture, width) if comma else (None, None)
    modifier = rest[-1] if len(rest) > 1 and rest[-1] in "atco" else ""
    how = rest.removesuffix(modifier) if modifier else rest
    default = _DEFAULT.get(component.upper() if component == "z" else component, "1")
    return Marker(component, how or default, modifier, least, most, not how)


def _width(picture: str, width: str) -> tuple[int | None, int | None]:
    match = _WIDTH.fullmatch(width)
    if match is None:
        raise invalid(picture, f"has the width {width}, which must be like 2-4 or *-3")
    least, most = (None if part in (None, "*") else int(part) for part in match.groups())
    if least == 0 or most == 0 or (least and most and least > most):
        raise invalid(picture, f"has the width {width}, which is empty")
    return least, most
