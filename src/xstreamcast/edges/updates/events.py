"""The alphabet of update streams: XML as events, and events that change what events said before.

    sS eS   a stream begins, ends            sM eM   a region that may be updated
    sT eT   a tuple of the stream            sR eR   content that replaces that of a region
    sE eE   an element                       sB eB   content inserted before a region
    cD      character data                   sA eA   content inserted after a region
    freeze  no more updates of a region      hide, show   take its content away, give it back

Every event but `at` names the stream or region (`id`) that it belongs to. Three events are not in
the paper that gave the alphabet: `comment` and `pi`, without which not every answer could be said,
and `at`, the instant of what follows. A start of an element carries its attributes, namespace
declarations among them.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal, TypeAlias

from xstreamcast.errors import error
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.xml_names import NOT_XML

Kind: TypeAlias = Literal["M", "R", "B", "A"]
KINDS: Final[dict[Kind, str]] = {
    "M": "mutable region",
    "R": "replacement",
    "B": "insertion before",
    "A": "insertion after",
}


@dataclass(frozen=True, slots=True)
class StartStream:
    """sS: a stream begins."""

    id: str


@dataclass(frozen=True, slots=True)
class EndStream:
    """eS: a stream has said all; what was said may still be updated."""

    id: str


@dataclass(frozen=True, slots=True)
class StartTuple:
    """sT: an item of the answer begins; the stream too, if it is new."""

    id: str


@dataclass(frozen=True, slots=True)
class EndTuple:
    """eT: the item ends."""

    id: str


@dataclass(frozen=True, slots=True)
class StartElement:
    """sE: an element begins."""

    id: str
    tag: str
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class EndElement:
    """eE: the element ends."""

    id: str
    tag: str


@dataclass(frozen=True, slots=True)
class CharacterData:
    """cD: character data."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Comment:
    """comment: a comment."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Instruction:
    """pi: a processing instruction."""

    id: str
    target: str
    text: str


@dataclass(frozen=True, slots=True)
class Begin:
    """sM, sR, sB, sA: region `id` begins, within `target` or as an update of it."""

    kind: Kind
    target: str
    id: str


@dataclass(frozen=True, slots=True)
class End:
    """eM, eR, eB, eA: the region is complete, and open for updates from now on."""

    kind: Kind
    target: str
    id: str


@dataclass(frozen=True, slots=True)
class Freeze:
    """freeze: the region will not be updated any more."""

    id: str


@dataclass(frozen=True, slots=True)
class Hide:
    """hide: the content of the region does not count for the time being."""

    id: str


@dataclass(frozen=True, slots=True)
class Show:
    """show: the content of the region counts again."""

    id: str


@dataclass(frozen=True, slots=True)
class At:
    """at: the instant of the events that follow."""

    instant: int
    zoned: bool = False


Content: TypeAlias = (
    StartElement | EndElement | CharacterData | Comment | Instruction | StartTuple | EndTuple
)
Update: TypeAlias = Begin | End | Freeze | Hide | Show
Event: TypeAlias = StartStream | EndStream | Content | Update | At

# A piece of the current content: an event's word and what it says, without the number of a stream.
# ("sE", tag, attributes) ("eE", tag) ("cD", text) ("comment", text) ("pi", target, text) ("sT",)
Token: TypeAlias = tuple[Any, ...]

_NAME: Final = re.compile(r"[^\W\d][\w.·-]*(?::[^\W\d][\w.·-]*)?")


def checked(event: Event) -> Event:
    """The event, if its content is allowed in XML; else an error."""
    match event:
        case StartElement(_, tag, attributes):
            _check_name("tag", tag)
            for name, value in attributes:
                _check_name("name of an attribute", name)
                _check_text(value)
            if len(dict(attributes)) < len(attributes):
                raise error("XSCE0006", f"duplicate attribute on {tag}")
        case CharacterData(_, text):
            _check_text(text)
        case Comment(_, text):
            _check_text(text)
            if "--" in text or text.endswith("-"):
                raise error("XSCE0006", f"a comment must not contain --; got {text[:40]}")
        case Instruction(_, target, text):
            _check_name("target", target)
            _check_text(text)
            if "?>" in text or ":" in target or target.lower() == "xml":
                raise error("XSCE0006", f"not a valid processing instruction: {target} {text[:40]}")
        case _:
            pass
    return event


def _check_name(what: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise error("XSCE0006", f"the {what} must be a name of XML; got {name[:40] or 'none'}")


def _check_text(text: str) -> None:
    found = NOT_XML.search(text)
    if found:
        raise error("XSCE0006", f"the text has a character that XML has not: {found.group()!a}")
