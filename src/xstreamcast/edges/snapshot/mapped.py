"""A decoder of a mapped feed between two pieces: what it knows of units, and what it has kept."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.edges.lines import LineProgress
from xstreamcast.edges.mapping.aliases import Aliases, Named
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.deliveries import LastDelivery
from xstreamcast.edges.mapping.progress import FeedProgress, MappingCounts
from xstreamcast.edges.mapping.statements import StatedVersion, Statement
from xstreamcast.operators.snapshot.arrow import Unwritten
from xstreamcast.operators.snapshot.names import read_ids, write_ids

_NAMED = ("kind", "alias", "code", "tag", "valid")
_STATED = ("statement", "code", "tag", "valid", "flags", "parent")

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    known = [
        (kind, code, *one) for kind, own in there.unchanged.items() for code, one in own.items()
    ]
    columns = list(zip(*known, strict=True)) or [(), (), (), ()]
    names = ("kind", "code", "valid", "digest")
    to.values(f"{at}.unchanged", **dict(zip(names, columns, strict=True)))
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
    unchanged: dict[str, dict[int, tuple[int, bytes]]] = {}
    columns = source.values(f"{at}.unchanged", "kind", "code", "valid", "digest")
    for kind, code, valid, digest in zip(*columns, strict=True):
        unchanged.setdefault(kind, {})[code] = valid, digest
    lines = None if facts["lines"] is None else _lines_from(facts["lines"])
    decoder.go_on(
        FeedProgress(
            facts["begun"], facts["arrival"], facts["offset"], _bytes(facts["held"]),
            _bytes(facts["tree"]), lines, [(k, u, n) for k, u, n in facts["tags"]],
            _deliveries(source, at), unchanged, _statements(source, at), _aliases(source, at),
            facts["numbers"] if "numbers" in facts else _numbers(decoder),
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
    to: TableWriter, at: str, deliveries: Mapping[str, Mapping[str, LastDelivery]]
) -> None:
    parts = [(kind, part, one) for kind, own in deliveries.items() for part, one in own.items()]
    to.values(
        f"{at}.deliveries",
        kind=[kind for kind, _, _ in parts],
        part=[part for _, part, _ in parts],
        said=[one.said for _, _, one in parts],
    )
    for name in ("units", "gone"):
        rows = [
            (n, *pair) for n, (_, _, one) in enumerate(parts) for pair in getattr(one, name).items()
        ]
        delivery, code, value = list(zip(*rows, strict=True)) or [(), (), ()]
        to.values(f"{at}.{name} delivered", delivery=delivery, code=code, value=value)


def _deliveries(source: TableReader, at: str) -> dict[str, dict[str, LastDelivery]]:
    out: dict[str, dict[str, LastDelivery]] = {}
    made: list[LastDelivery] = []
    columns = source.values(f"{at}.deliveries", "kind", "part", "said")
    for kind, part, said in zip(*columns, strict=True):
        made.append(LastDelivery(said))
        out.setdefault(kind, {})[part] = made[-1]
    for name in ("units", "gone"):
        rows = source.values(f"{at}.{name} delivered", "delivery", "code", "value")
        for delivery, code, value in zip(*rows, strict=True):
            getattr(made[delivery], name)[code] = value
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
    rows = [(kind, a, *n) for kind, own in aliases.items() for a, n in own.named.items()]
    columns = list(zip(*rows, strict=True)) or [()] * len(_NAMED)
    to.values(f"{at}.aliases", **dict(zip(_NAMED, columns, strict=True)))
    early = [
        (kind, code, one)
        for kind, own in aliases.items()
        for code, instants in own.waiting.items()
        for one in instants
    ]
    kinds, codes, valid = list(zip(*early, strict=True)) or [(), (), ()]
    to.values(f"{at}.early removals", kind=kinds, alias=codes, valid=valid)
    gone = [(kind, *one) for kind, own in aliases.items() for one in own.gone.items()]
    kinds, codes, valid = list(zip(*gone, strict=True)) or [(), (), ()]
    to.values(f"{at}.gone by alias", kind=kinds, code=codes, valid=valid)


def _aliases(source: TableReader, at: str) -> dict[str, Aliases]:
    """Other keys of units; states that were written before there were any hold none."""
    out: dict[str, Aliases] = {}
    if f"{at}.aliases" not in source:
        return out
    for kind, alias, *named in zip(*source.values(f"{at}.aliases", *_NAMED), strict=True):
        out.setdefault(kind, Aliases()).named[alias] = Named(*named)
    early = source.values(f"{at}.early removals", "kind", "alias", "valid")
    for kind, alias, valid in zip(*early, strict=True):
        out.setdefault(kind, Aliases()).waiting.setdefault(alias, set()).add(valid)
    if f"{at}.gone by alias" in source:
        columns = source.values(f"{at}.gone by alias", "kind", "code", "valid")
        for kind, code, valid in zip(*columns, strict=True):
            out.setdefault(kind, Aliases()).gone[code] = valid
    return out


def _line_facts(lines: LineProgress) -> dict[str, Any]:
    return {**lines._asdict(), "held": _text(lines.held)}


def _lines_from(facts: Mapping[str, Any]) -> LineProgress:
    held, columns = _bytes(facts["held"]), tuple(facts["columns"])
    return LineProgress(held, facts["offset"], facts["line"], facts["header"], columns)


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
