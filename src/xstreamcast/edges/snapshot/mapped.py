"""A decoder of a mapped feed between two pieces: what it knows of units, and what it has kept."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.edges.lines import LineProgress
from xstreamcast.edges.mapping.aliases import UNKNOWN, Aliases, AliasUses, KeyedUnit
from xstreamcast.edges.mapping.attendance import ABSENT, AttendanceStep, PartDeliveries
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.progress import FeedProgress, MappingCounts
from xstreamcast.edges.mapping.statements import StatedVersion, Statement
from xstreamcast.edges.mapping.unchanged import Said
from xstreamcast.model.instant import NOW, START
from xstreamcast.operators.snapshot.arrow import Unwritten
from xstreamcast.operators.snapshot.names import read_ids, write_ids

_NAMED = ("kind", "alias", "code", "tag", "valid", "since")
_USES = ("kind", "alias", "valid", "code")
_UNITS = ("kind", "code", "tag", "valid", "to")
_REMOVALS = ("kind", "name", "valid", "code")
_GONE = ("kind", "code", "valid")
_STEPS = ("part", "code", "when", "valid", "shown")
_VOID = ("part", "code", "when")
_SAID = ("kind", "code", "valid", "digest", "kept", "until")
_STATED = ("statement", "code", "tag", "valid", "flags", "parent")

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter


def write_mapped(to: TableWriter, at: str, decoder: MappingDecoder) -> None:
    """Put a decoder into tables; Unwritten where its input cannot be left."""
    there = decoder.progress()
    if there is None:
        raise Unwritten(f"{decoder.name} is broken, or not written in UTF-8")
    write_ids(to, f"{at}.ids", decoder.ids)
    _write_deliveries(to, at, there.deliveries)
    _write_statements(to, at, there.statements)
    _write_aliases(to, at, there.aliases)
    said = [
        (kind, code, *one)
        for kind, own in there.unchanged.items()
        for code, known in own.items()
        for one in known
    ]
    _write_rows(to, f"{at}.unchanged", _SAID, said)
    to.facts[f"{at}.mapped"] = {
        "counts": asdict(decoder.counts),
        "ended": decoder.ended,
        "begun": there.begun,
        "arrival": there.arrival,
        "offset": there.offset,
        "held": _text(there.held),
        "tree": _text(there.tree),
        "lines": None if there.lines is None else _line_facts(there.lines),
        "tags": there.tags,
        "numbers": there.numbers,
    }


def read_mapped(source: TableReader, at: str, decoder: MappingDecoder) -> None:
    """Give a new decoder what another one had."""
    facts = source.facts[f"{at}.mapped"]
    read_ids(source, f"{at}.ids", decoder.ids)
    decoder.counts, decoder.ended = MappingCounts(**facts["counts"]), facts["ended"]
    lines = None if facts["lines"] is None else _lines_from(facts["lines"])
    decoder.go_on(
        FeedProgress(
            facts["begun"], facts["arrival"], facts["offset"], _bytes(facts["held"]),
            _bytes(facts["tree"]), lines, [(k, u, n) for k, u, n in facts["tags"]],
            _deliveries(source, at), _unchanged(source, at), _statements(source, at),
            _aliases(source, at), facts["numbers"] if "numbers" in facts else _numbers(decoder),
        )
    )  # fmt: skip


def _numbers(decoder: MappingDecoder) -> dict[str, int]:
    """What units without a key are numbered from; states of earlier versions do not hold it, but
    the ids that are still known say it."""
    out = {rule.name: 0 for rule in decoder.mapping.units if not rule.key}
    used = np.flatnonzero(decoder.ids.spans()[2] >= 0)
    for code in used.tolist():
        kind, _, number = decoder.ids.text(code).rpartition("/")[2].partition(":")
        if kind in out and number.isdigit():
            out[kind] = max(out[kind], int(number) + 1)
    return out


def _write_deliveries(
    to: TableWriter, at: str, deliveries: Mapping[str, Mapping[str, PartDeliveries]]
) -> None:
    parts = [(kind, part, one) for kind, own in deliveries.items() for part, one in own.items()]
    to.values(
        f"{at}.delivered parts",
        kind=[kind for kind, _, _ in parts],
        part=[part for _, part, _ in parts],
    )
    known = [one for _, _, one in parts]
    rows = [(n, when) for n, one in enumerate(known) for when in one.times]
    _write_rows(to, f"{at}.delivery times", ("part", "time"), rows)
    tags = [
        (n, c, tag, c in one.units) for n, one in enumerate(known) for c, tag in one.tags.items()
    ]
    _write_rows(to, f"{at}.delivered units", ("part", "code", "tag", "last"), tags)
    steps = [
        (n, code, *step)
        for n, one in enumerate(known)
        for code, own in one.steps.items()
        for step in own
    ]
    _write_rows(to, f"{at}.delivery steps", _STEPS, steps)
    void = [
        (n, c, when) for n, one in enumerate(known) for c, own in one.void.items() for when in own
    ]
    _write_rows(to, f"{at}.void contents", _VOID, void)


def _write_rows(to: TableWriter, at: str, names: tuple[str, ...], rows: list[Any]) -> None:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    to.values(at, **dict(zip(names, columns, strict=True)))


def _deliveries(source: TableReader, at: str) -> dict[str, dict[str, PartDeliveries]]:
    if f"{at}.delivered parts" not in source:
        return _last_deliveries(source, at)
    out: dict[str, dict[str, PartDeliveries]] = {}
    made: list[PartDeliveries] = []
    for kind, part in zip(*source.values(f"{at}.delivered parts", "kind", "part"), strict=True):
        made.append(PartDeliveries())
        out.setdefault(kind, {})[part] = made[-1]
    for n, when in zip(*source.values(f"{at}.delivery times", "part", "time"), strict=True):
        made[n].times.append(when)
    columns = source.values(f"{at}.delivered units", "part", "code", "tag", "last")
    for n, code, tag, last in zip(*columns, strict=True):
        made[n].tags[code] = tag
        made[n].units |= {code} if last else set()
    for n, code, *step in zip(*source.values(f"{at}.delivery steps", *_STEPS), strict=True):
        made[n].steps.setdefault(code, []).append(AttendanceStep(*step))
    if f"{at}.void contents" in source:
        for n, code, when in _rows(source, f"{at}.void contents", _VOID):
            made[n].void.setdefault(code, set()).add(when)
    return out


def _last_deliveries(source: TableReader, at: str) -> dict[str, dict[str, PartDeliveries]]:
    """States of earlier versions hold the last delivery, and when units were last removed."""
    out: dict[str, dict[str, PartDeliveries]] = {}
    made: list[PartDeliveries] = []
    columns = source.values(f"{at}.deliveries", "kind", "part", "said")
    for kind, part, said in zip(*columns, strict=True):
        made.append(PartDeliveries([said]))
        out.setdefault(kind, {})[part] = made[-1]
    rows = source.values(f"{at}.units delivered", "delivery", "code", "value")
    for n, code, tag in zip(*rows, strict=True):
        said = made[n].times[-1]
        made[n].units.add(code)
        made[n].tags[code] = tag
        made[n].steps[code] = [AttendanceStep(said, said, said)]
    rows = source.values(f"{at}.gone delivered", "delivery", "code", "value")
    for n, code, when in zip(*rows, strict=True):
        made[n].steps[code] = [AttendanceStep(when, ABSENT, when)]
    return out


def _unchanged(source: TableReader, at: str) -> dict[str, dict[int, list[Said]]]:
    """What units were said to have; states of earlier versions hold the last of it."""
    out: dict[str, dict[int, list[Said]]] = {}
    try:
        columns = source.values(f"{at}.unchanged", *_SAID)
    except KeyError:
        kind, code, valid, digest = source.values(f"{at}.unchanged", *_SAID[:4])
        columns = [kind, code, valid, digest, [True] * len(kind), [NOW] * len(kind)]
    for kind, code, *said in zip(*columns, strict=True):
        out.setdefault(kind, {}).setdefault(code, []).append(Said(*said))
    return out


def _write_statements(
    to: TableWriter, at: str, statements: Mapping[str, Mapping[str, Statement]]
) -> None:
    known = [(kind, name, one) for kind, own in statements.items() for name, one in own.items()]
    to.values(
        f"{at}.statements",
        kind=[kind for kind, _, _ in known],
        name=[name for _, name, _ in known],
        version=[one.version for _, _, one in known],
    )
    rows = [(n, *said) for n, (_, _, one) in enumerate(known) for said in one.said]
    columns = list(zip(*rows, strict=True)) or [()] * len(_STATED)
    to.values(f"{at}.stated", **dict(zip(_STATED, columns, strict=True)))


def _statements(source: TableReader, at: str) -> dict[str, dict[str, Statement]]:
    """What statements said; states that were written before there were any hold none."""
    out: dict[str, dict[str, Statement]] = {}
    if f"{at}.statements" not in source:
        return out
    made: list[Statement] = []
    columns = source.values(f"{at}.statements", "kind", "name", "version")
    for kind, name, version in zip(*columns, strict=True):
        made.append(Statement(version))
        out.setdefault(kind, {})[name] = made[-1]
    for statement, *said in zip(*source.values(f"{at}.stated", *_STATED), strict=True):
        made[statement].said.append(StatedVersion(*said))
    return out


def _write_aliases(to: TableWriter, at: str, aliases: Mapping[str, Aliases]) -> None:
    uses = [
        (kind, alias, *one)
        for kind, own in aliases.items()
        for alias, used in own.uses.items()
        for one in zip(used.times, used.codes, strict=True)
    ]
    _write_rows(to, f"{at}.alias uses", _USES, uses)
    units = [(kind, c, *one) for kind, own in aliases.items() for c, one in own.units.items()]
    _write_rows(to, f"{at}.alias units", _UNITS, units)
    named = [
        (kind, name, *one)
        for kind, own in aliases.items()
        for name, some in own.named.items()
        for one in some.items()
    ]
    _write_rows(to, f"{at}.removals by name", _REMOVALS, named)
    removed = [
        (kind, code, when, name)
        for kind, own in aliases.items()
        for code, some in own.removed.items()
        for when, names in some.items()
        for name in names or (UNKNOWN,)
    ]
    _write_rows(to, f"{at}.names of removals", _REMOVALS, removed)
    gone = [(kind, *one) for kind, own in aliases.items() for one in own.gone.items()]
    _write_rows(to, f"{at}.gone by alias", _GONE, gone)


def _aliases(source: TableReader, at: str) -> dict[str, Aliases]:
    """Other keys of units; states that were written before there were any hold none."""
    out: dict[str, Aliases] = {}
    if f"{at}.alias uses" not in source:
        return _last_aliases(source, at)
    for kind, alias, when, code in _rows(source, f"{at}.alias uses", _USES):
        own = out.setdefault(kind, Aliases())
        own.uses.setdefault(alias, AliasUses()).add(when, code)
    for kind, code, *unit in _rows(source, f"{at}.alias units", _UNITS):
        out.setdefault(kind, Aliases()).units[code] = KeyedUnit(*unit)
    for kind, name, when, code in _rows(source, f"{at}.removals by name", _REMOVALS):
        out.setdefault(kind, Aliases()).named.setdefault(name, {})[when] = code
    for kind, code, when, name in _rows(source, f"{at}.names of removals", _REMOVALS):
        known = out.setdefault(kind, Aliases()).removed.setdefault(code, {})
        known[when] = () if name == UNKNOWN else (*known.get(when, ()), name)
    for kind, code, when in _rows(source, f"{at}.gone by alias", _GONE):
        out.setdefault(kind, Aliases()).gone[code] = when
    return out


def _last_aliases(source: TableReader, at: str) -> dict[str, Aliases]:
    """States of earlier versions hold the first and the last use of each alias."""
    out: dict[str, Aliases] = {}
    if f"{at}.aliases" not in source:
        return out
    named = [(*one, START) for one in _rows(source, f"{at}.aliases", _NAMED[:-1])]
    if f"{at}.earlier aliases" in source:
        named = [
            *_rows(source, f"{at}.aliases", _NAMED),
            *_rows(source, f"{at}.earlier aliases", _NAMED),
        ]
    for kind, alias, code, tag, valid, since in named:
        own = out.setdefault(kind, Aliases())
        uses = own.uses.setdefault(alias, AliasUses())
        for when in {valid, max(since, START)}:
            uses.add(when, code)
        if code not in own.units or own.units[code].valid < valid:
            own.units[code] = KeyedUnit(tag, valid, NOW)
    for kind, name, when in _rows(source, f"{at}.early removals", ("kind", "alias", "valid")):
        own = out.setdefault(kind, Aliases())
        own.named.setdefault(name, {})[when] = UNKNOWN
        own.removed.setdefault(name, {})[when] = (name,)
    if f"{at}.gone by alias" in source:
        for kind, code, when in _rows(source, f"{at}.gone by alias", _GONE):
            out.setdefault(kind, Aliases()).gone[code] = when
    return out


def _rows(source: TableReader, at: str, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    return zip(*source.values(at, *names), strict=True)


def _line_facts(lines: LineProgress) -> dict[str, Any]:
    return {**lines._asdict(), "held": _text(lines.held)}


def _lines_from(facts: Mapping[str, Any]) -> LineProgress:
    held, columns = _bytes(facts["held"]), tuple(facts["columns"])
    return LineProgress(held, facts["offset"], facts["line"], facts["header"], columns)


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
