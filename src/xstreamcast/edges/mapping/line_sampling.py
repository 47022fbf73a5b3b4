"""A mapping for samples of lines: how they are written, and what each line says."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from xstreamcast.edges.line_documents import begins_with_json, form_of
from xstreamcast.edges.lines import LineForm, element_name
from xstreamcast.edges.mapping.proposing import KEYED, Kind, propose_lines
from xstreamcast.edges.mapping.sampling import Name, SampledPath, Steps
from xstreamcast.edges.mapping.writing import fitting

_LINES: Final = 20_000  # of a sample that are looked at
_DELIMITERS: Final = ",;\t|"


def line_form(path: str, data: bytes) -> LineForm | None:
    """How the lines of a sample are written; None if it is no sample of lines."""
    form = form_of(path)
    if (form is None or form.type != "csv") and _listed(data) is not None:
        return LineForm("json")
    if form is None:
        return LineForm("ndjson") if begins_with_json(data) else None
    if form.type != "csv":
        return LineForm("ndjson")
    delimiter = _delimiter(data) if Path(path).suffix != ".tsv" else "\t"
    first = next(_records(data, delimiter), [])
    if first and all(_is_name(cell) for cell in first):
        return LineForm("csv", delimiter=delimiter)
    columns = tuple(f"c{k}" for k in range(1, len(first) + 1))
    return LineForm("csv", columns, header=False, delimiter=delimiter)


def line_proposal(form: LineForm, inputs: list[bytes]) -> str:
    """The mapping as TOML."""
    known = fitting(inputs)
    lines = [] if known is None else [f"# {known.said()}", ""]
    lines += ["[message]", f'type = "{form.type}"']
    if form.type == "csv":
        if form.delimiter != ",":
            lines.append(f"delimiter = {json.dumps(form.delimiter)}")
        if form.columns:
            lines.append(f"columns = {json.dumps(form.columns)}  # no header: name them")
    kind = _proposed(form, inputs)
    lines += ["", f"[unit.{kind.name}]"]
    if form.type == "json":
        found = _listed(inputs[0])
        assert found is not None
        steps = "".join(f"/*[@key='{one}']" for one in found[0])
        lines.append(f"path = {json.dumps('/*' + steps + '/*')}  # the members of the largest list")
    lines += [
        f"{e.word} = {json.dumps(e.value, ensure_ascii=False)}  # {e.why}" for e in kind.entries
    ]
    return "\n".join([*lines, ""])


def _proposed(form: LineForm, inputs: list[bytes]) -> Kind:
    spot = SampledPath(count=0)
    for data in inputs:
        for values in islice(_values(form, data), _LINES):
            for steps, value in values:
                spot.values[steps].append((spot.count, value))
            spot.count += 1
    return propose_lines(spot, {"csv": "row", "ndjson": "line", "json": "member"}[form.type])


def _values(form: LineForm, data: bytes) -> Iterator[list[tuple[Steps, str]]]:
    """What each line says: paths and values."""
    if form.type == "csv":
        rows = _records(data, form.delimiter)
        columns = form.columns or tuple(next(rows, []))
        names: list[Name] = [("", element_name(one, k)) for k, one in enumerate(columns, start=1)]
        for row in rows:
            yield [((name,), cell.strip()) for name, cell in zip(names, row, strict=False)]
        return
    if form.type == "json":
        for member in (_listed(data) or ((), []))[1]:
            yield list(_leaves(member, ()))
        return
    for line in data.decode("utf-8-sig", "replace").splitlines():
        try:
            yield list(_leaves(json.loads(line), ()))
        except ValueError:
            continue  # judged by what the mapping refuses


def _listed(data: bytes) -> tuple[tuple[str, ...], list[Any]] | None:
    """The largest list of objects in a sample that is one JSON text, and the keys that lead there;
    None if it is none, or has no such list.
    """
    try:
        text = json.loads(data.decode("utf-8-sig"))
    except ValueError:
        return None
    return max(_lists(text, ()), key=lambda one: len(one[1]), default=None)


def _lists(value: Any, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if "'" not in key:
                yield from _lists(inner, (*keys, key))
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        yield keys, value


def _leaves(value: Any, above: Steps) -> Iterator[tuple[Steps, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*above, (KEYED, key)))
    elif isinstance(value, str | int | float) and above:
        yield above, str(value).lower() if isinstance(value, bool) else str(value)


def _records(data: bytes, delimiter: str) -> Iterator[list[str]]:
    text = io.StringIO(data.decode("utf-8-sig", "replace"), newline="")
    return (row for row in csv.reader(text, delimiter=delimiter) if row)


def _delimiter(data: bytes) -> str:
    """The character that parts the first lines into as many fields each, and most of them."""

    def fields(delimiter: str) -> tuple[bool, int]:
        counts = [len(row) for row in islice(_records(data, delimiter), 20)]
        return len(set(counts)) == 1, max(counts, default=0)

    return max(_DELIMITERS, key=fields)


def _is_name(cell: str) -> bool:
    return (
        bool(cell.strip()) and not any(c.isdigit() for c in cell[:1]) and not cell.startswith("-")
    )


def all_alike(forms: Iterable[LineForm | None]) -> LineForm | None:
    """The form that all samples have, if any."""
    found = list(forms)
    return found[0] if found and all(one == found[0] for one in found) else None
