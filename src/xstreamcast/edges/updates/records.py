"""Events as flat records of names and values: the form that lines of JSON and XML share.

record(event) → {"event": "sR", "target": "1", "id": "2"}, and event(record) gives it back
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, assert_never, cast

from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.events import Event, Kind, checked
from xstreamcast.errors import error
from xstreamcast.model.instant import NOW, START, parse_instant, show_instant

Record: TypeAlias = dict[str, Any]

_NUMBERED: Final[dict[str, Callable[[str], Event]]] = {
    "sS": e.StartStream,
    "eS": e.EndStream,
    "sT": e.StartTuple,
    "eT": e.EndTuple,
    "freeze": e.Freeze,
    "hide": e.Hide,
    "show": e.Show,
}
_WORDS: Final = {made: word for word, made in _NUMBERED.items()}
# What each event must say; `sE` may say attributes as well.
FIELDS: Final[dict[str, tuple[str, ...]]] = {
    **{word: ("id",) for word in _NUMBERED},
    **{edge + kind: ("target", "id") for edge in "se" for kind in "MRBA"},
    "sE": ("id", "tag"),
    "eE": ("id", "tag"),
    "cD": ("id", "text"),
    "comment": ("id", "text"),
    "pi": ("id", "target", "text"),
    "at": ("time",),
}


def record(event: Event) -> Record:
    """What an event says, its word first."""
    match event:
        case e.StartElement(id, tag, attributes):
            more = {"attributes": dict(attributes)} if attributes else {}
            return {"event": "sE", "id": id, "tag": tag, **more}
        case e.EndElement(id, tag):
            return {"event": "eE", "id": id, "tag": tag}
        case e.CharacterData(id, text):
            return {"event": "cD", "id": id, "text": text}
        case e.Comment(id, text):
            return {"event": "comment", "id": id, "text": text}
        case e.Instruction(id, target, text):
            return {"event": "pi", "id": id, "target": target, "text": text}
        case e.Begin(kind, target, id):
            return {"event": "s" + kind, "target": target, "id": id}
        case e.End(kind, target, id):
            return {"event": "e" + kind, "target": target, "id": id}
        case e.At(instant, zoned):
            return {"event": "at", "time": show_instant(instant, zoned)}
        case (
            e.StartStream(id) | e.EndStream(id) | e.StartTuple(id) | e.EndTuple(id)
            | e.Freeze(id) | e.Hide(id) | e.Show(id)
        ):  # fmt: skip
            return {"event": _WORDS[type(event)], "id": id}
        case _:
            assert_never(event)


def event(said: Record) -> Event:
    """The event that a record says; an error where it says none."""
    word = said.get("event")
    fields = FIELDS.get(word) if isinstance(word, str) else None
    if fields is None:
        raise error("XSCE0001", f"an event must be one of {', '.join(FIELDS)}; got {word}")
    assert isinstance(word, str)
    values = [_value(said, word, field) for field in fields]
    extra = said.keys() - {"event", *fields} - ({"attributes"} if word == "sE" else set())
    if extra:
        raise error("XSCE0001", f"{word} has no {sorted(extra)[0]}; it has {', '.join(fields)}")
    return checked(_made(word, values, said))


def _made(word: str, values: list[str], said: Record) -> Event:
    match word, values:
        case "sE", [id, tag]:
            return e.StartElement(id, tag, _attributes(said.get("attributes", {})))
        case "eE", [id, tag]:
            return e.EndElement(id, tag)
        case "cD", [id, text]:
            return e.CharacterData(id, text)
        case "comment", [id, text]:
            return e.Comment(id, text)
        case "pi", [id, target, text]:
            return e.Instruction(id, target, text)
        case "at", [time]:
            return _at(time)
        case _, [target, id]:
            kind = cast(Kind, word[1])
            return e.Begin(kind, target, id) if word[0] == "s" else e.End(kind, target, id)
        case _:
            return _NUMBERED[word](values[0])


def _value(said: Record, word: str, field: str) -> str:
    """A field as a string; streams and regions may be numbered, as in the paper."""
    value = said.get(field)
    numbered = field == "id" or (field == "target" and word != "pi")
    if numbered and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or (numbered and not value):
        must = "a number or a string" if numbered else "a string"
        raise error("XSCE0001", f"{field} of {word} must be {must}; got {value!r}")
    return value


def _attributes(said: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(said, dict) or not all(isinstance(value, str) for value in said.values()):
        raise error("XSCE0001", f"attributes must be an object of strings; got {said!r}")
    return tuple(said.items())


def _at(time: str) -> e.At:
    if time in ("start", "now"):
        return e.At(START if time == "start" else NOW)
    found = parse_instant(time)
    if found is None:
        raise error("XSCE0001", f"time must be a dateTime or a date; got {time}")
    return e.At(*found)
