"""A mapping as it is written: a TOML file to what it says, or an error that names the entry.

[namespaces]
s = "http://www.siri.org.uk/siri"

[message]
time = "//s:ResponseTimestamp"

[unit.situation]
path = "//s:PtSituationElement"
key  = ["s:ParticipantRef", "s:SituationNumber"]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping as Table
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from xstreamcast.edges.lines import LineForm
from xstreamcast.errors import Error, error
from xstreamcast.model.xml_names import NCNAME

UnitType = Literal["versioned", "event"]
Level = int | Literal["auto"]  # auto: 0 if the first element is a unit, else 1


@dataclass(frozen=True, slots=True)
class TimeRule:
    """Where a time is found and how it is written; without a format, in any form that feeds use."""

    path: str
    format: str | None = None
    zone: str | None = None  # what a time without a time zone is in
    default: str | None = None  # the time, where there is none


@dataclass(frozen=True, slots=True)
class UnitRule:
    """One kind of units: where they are found, what each is known by, when it is true."""

    name: str
    path: str
    key: tuple[str, ...] = ()
    begins: TimeRule | None = None
    ends: TimeRule | None = None
    version: str | None = None
    type: UnitType = "versioned"
    remove: str | None = None  # a test: the message takes the unit away
    skip: str | None = None  # a test: the message says nothing of the unit
    cancels: str | None = None  # keys of other units of this kind that the message takes away
    alias: str | None = None  # other keys of the unit, by which removals may name it
    temporary: str | None = None  # a test: what held before returns when this ends
    statement: str | None = None  # what temporary units are said by; a higher version replaces it
    whole: str | bool = False  # a delivery says all there is; an XPath: of one such value
    within: str | None = None  # the kind that this one is nested in


@dataclass(frozen=True, slots=True)
class Mapping:
    """What a feed's messages mean."""

    name: str
    units: tuple[UnitRule, ...]
    namespaces: Table[str, str] = field(default_factory=dict)
    time: TimeRule | None = None  # message time: moves the clock
    level: Level | None = None  # messages are elements at this depth of a root that may never close
    root: str = "feed"
    lines: LineForm | None = None  # messages are lines of JSON or records of CSV

    def unit(self, name: str) -> UnitRule:
        """The kind of that name."""
        return next(one for one in self.units if one.name == name)


_TOP: Final = ("namespaces", "message", "unit", "stream")
_MESSAGE: Final = ("time", "level", "type", "columns", "header", "delimiter")
_LINE_PATHS: Final = {"csv": "/row", "ndjson": "/*", "json": "/*"}  # where the unit is
_UNIT: Final = (
    "path", "key", "from", "to", "version", "type", "remove", "skip", "cancels", "alias",
    "temporary", "statement", "whole", "in",
)  # fmt: skip
_NOT_OF_EVENTS: Final = {
    "whole": "an event has happened, whether or not a later delivery lists it",
    "temporary": "an event has no earlier version that could return",
}
_TIME: Final = ("path", "format", "zone", "default")


def parse_mapping(text: str, name: str) -> Mapping:
    """The mapping that a TOML text says."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as why:
        raise refused(name, f"it is not valid TOML: {why}") from None
    _known(name, found, _TOP, "")
    message = _table(name, found, "message")
    _known(name, message, _MESSAGE, "message.")
    level = message.get("level")
    number = isinstance(level, int) and not isinstance(level, bool) and level >= 0
    if level is not None and level != "auto" and not number:
        raise refused(name, f'message.level must be a number from 0, or "auto"; got {level!r}')
    lines = _lines(name, message)
    kinds = _table(name, found, "unit")
    if not kinds:
        raise refused(name, "it has no [unit.NAME]", "a mapping must define at least one unit")
    path = None if lines is None else _LINE_PATHS[lines.type]
    units = tuple(_unit(name, kind, table, path) for kind, table in kinds.items())
    _check_nesting(name, units)
    stream = _table(name, found, "stream")
    _known(name, stream, ("root",), "stream.")
    root = _text(name, stream, "root", "stream.") or "feed"
    if not NCNAME.fullmatch(root):
        raise refused(name, f"stream.root must be a name without a prefix; got {root!r}")
    return Mapping(
        name, units, _namespaces(name, found), _time(name, message, "time", "message."),
        level, root, lines,
    )  # fmt: skip


def refused(name: str, why: str, hint: str | None = None) -> Error:
    """What is wrong with a mapping."""
    return error("XSCU0007", f"{name}: {why}", hint=hint)


def _lines(name: str, message: Table[str, Any]) -> LineForm | None:
    """How lines are written, if messages are lines."""
    kind = message.get("type", "xml")
    if kind not in ("xml", *_LINE_PATHS):
        raise refused(name, f"message.type must be xml, json, ndjson or csv; got {kind!r}")
    of_csv = [word for word in ("columns", "header", "delimiter") if word in message]
    if of_csv and kind != "csv":
        raise refused(name, f'message.{of_csv[0]} has a meaning for type = "csv" only')
    if kind == "xml":
        return None
    if "level" in message:
        raise refused(name, f"message.level has no meaning for type = {kind!r}")
    columns, delimiter = message.get("columns", []), message.get("delimiter", ",")
    if not isinstance(columns, list) or not all(isinstance(one, str) for one in columns):
        raise refused(name, f"message.columns must be a list of names; got {columns!r}")
    header = message.get("header", not columns)
    if not isinstance(header, bool):
        raise refused(name, f"message.header must be true or false; got {header!r}")
    if not (header or columns):
        hint = 'columns = ["…"] names them'
        raise refused(name, "message.columns is missing: there is no header", hint)
    plain = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
    if not plain or delimiter in '"\r\n':
        raise refused(name, f"message.delimiter must be one ASCII character; got {delimiter!r}")
    return LineForm(kind, tuple(columns), header, delimiter)


def _unit(name: str, kind: str, given: Any, default: str | None) -> UnitRule:
    where = f"unit.{kind}."
    if not isinstance(given, dict):
        raise refused(name, f"unit.{kind} must be a table [unit.{kind}]")
    _known(name, given, _UNIT, where)
    path = _text(name, given, "path", where) or (None if "in" in given else default)
    if path is None:
        raise refused(name, f"{where}path is missing", 'path = "//…" selects the units')
    type_ = given.get("type", "versioned")
    if type_ not in ("versioned", "event"):
        raise refused(name, f"{where}type must be versioned or event; got {type_!r}")
    key = given.get("key", [])
    keys = tuple(key) if isinstance(key, list) else (key,)
    if not all(isinstance(one, str) for one in keys):
        raise refused(name, f"{where}key must be an XPath or a list of them; got {key!r}")
    if not keys and type_ == "versioned":
        raise refused(
            name,
            f"{where}key is missing",
            "the key identifies a unit: what do two messages about it have in common?",
        )
    whole = given.get("whole", False)
    if not isinstance(whole, bool | str):
        raise refused(name, f"{where}whole must be true, false or an XPath; got {whole!r}")
    for word, why in _NOT_OF_EVENTS.items():
        if type_ == "event" and given.get(word, False) is not False:
            raise refused(name, f'{where}{word} has no meaning for type = "event": {why}')
    rest = {word: _text(name, given, word, where) for word in ("version", "remove", "skip")}
    rest |= {
        word: _text(name, given, word, where)
        for word in ("cancels", "alias", "temporary", "statement")
    }
    return UnitRule(
        kind, path, keys, _time(name, given, "from", where), _time(name, given, "to", where),
        type=type_, whole=whole, within=_text(name, given, "in", where), **rest,
    )  # fmt: skip


def _check_nesting(name: str, units: tuple[UnitRule, ...]) -> None:
    known: set[str] = set()
    for one in units:
        if one.within is not None and one.within not in known:
            raise refused(
                name, f"unit.{one.name}.in must name a kind above it; got {one.within!r}",
                f"kinds above it: {', '.join(sorted(known)) or 'none'}",
            )  # fmt: skip
        known.add(one.name)


def _time(name: str, given: Table[str, Any], word: str, where: str) -> TimeRule | None:
    value = given.get(word)
    if value is None:
        return None
    if isinstance(value, str):
        return TimeRule(value)
    if not isinstance(value, dict) or not isinstance(value.get("path"), str):
        raise refused(name, f"{where}{word} must be an XPath or a table with a path; got {value!r}")
    _known(name, value, _TIME, f"{where}{word}.")
    rule = TimeRule(**{one: str(said) for one, said in value.items()})
    from xstreamcast.edges.mapping.times import mistake_in  # here: it takes long to import

    wrong = mistake_in(rule)
    if wrong is not None:
        raise refused(name, f"{where}{word}.{wrong}")
    return rule


def _known(name: str, given: Table[str, Any], words: tuple[str, ...], where: str) -> None:
    for word in given:
        if word not in words:
            raise refused(name, f"there is no entry {where}{word}", f"known: {', '.join(words)}")


def _table(name: str, given: Table[str, Any], word: str) -> dict[str, Any]:
    value = given.get(word, {})
    if not isinstance(value, dict):
        raise refused(name, f"{word} must be a table [{word}]; got {value!r}")
    return value


def _namespaces(name: str, given: Table[str, Any]) -> dict[str, str]:
    found = _table(name, given, "namespaces")
    for prefix, uri in found.items():
        if prefix and not NCNAME.fullmatch(prefix):
            raise refused(name, f"namespaces: a prefix must be a name; got {prefix!r}")
        if not isinstance(uri, str):
            raise refused(name, f"namespaces.{prefix} must be a string; got {uri!r}")
    return found


def _text(name: str, given: Table[str, Any], word: str, where: str) -> str | None:
    value = given.get(word)
    if value is not None and not isinstance(value, str):
        raise refused(name, f"{where}{word} must be a string; got {value!r}")
    return value
