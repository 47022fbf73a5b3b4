"""Which values of a table are kept as columns: a path below the elements of a tag.

TABLE/_index/path-KEY.json           what is kept
TABLE/_index/FILE-KEY-CRC.parquet    the values of one file of the table, which never changes

Both are derived from the files of the log, so the log does not name them: a reader that does not
know them reads all payloads, and a file without values is read as it is.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from xstreamcast.edges.disk import make_folder, put_whole, take_away
from xstreamcast.errors import error
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.model.structure import TagStructure

FOLDER: Final = "_index"
_FORMAT: Final = 1
_PATH: Final = re.compile(r"(?://)?([^/@]+)((?:/[^/@]+)*)(?:/@([^/@]+))?")
_NAME: Final = re.compile(r"(?:[^\W\d][\w.-]*:)?([^\W\d][\w.-]*)")


@dataclass(frozen=True, slots=True)
class ValuePath:
    """Local names below the elements of a tag: of children, then perhaps of an attribute."""

    stream: str
    tag: int
    element: str
    steps: tuple[str, ...]
    attribute: str | None

    @property
    def text(self) -> str:
        """As a query has it."""
        last = () if self.attribute is None else (f"@{self.attribute}",)
        return "//" + "/".join((self.element, *self.steps, *last))

    @property
    def key(self) -> str:
        """What names of files have of it."""
        said = [_FORMAT, self.stream, self.tag, self.steps, self.attribute]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def paths_of(text: str, stream: str, structure: TagStructure) -> list[ValuePath]:
    """The paths that a word means, one for each tag of that name."""
    found = _PATH.fullmatch(text.strip())
    if found is None or (not found[2] and found[3] is None):
        raise error(
            "XSCU0005", f"a path must lead from an element to its values; got {text}",
            hint="//event/severity, or //event/@id",
        )  # fmt: skip
    element, steps = _local(found[1], text), found[2].split("/")[1:]
    attribute = None if found[3] is None else _local(found[3], text)
    if attribute in ("vtFrom", "vtTo"):
        raise error("XSCU0005", f"lifespans are columns already; got {text}")
    tags = [one for one in structure.named(None, element) if structure.travels(one.id)]
    if not tags:
        there = sorted({t.local for t in structure.tags.values() if structure.travels(t.id)})
        raise error(
            "XSCU0005", f"the fragments of {stream} are no {element}; got {text}",
            hint=f"a path begins with one of {', '.join(there)}",
        )  # fmt: skip
    names = tuple(_local(step, text) for step in steps)
    return [ValuePath(stream, tag.id, element, names, attribute) for tag in tags]


def _local(name: str, text: str) -> str:
    found = _NAME.fullmatch(name)
    if found is None:
        raise error(
            "XSCU0005", f"a path must consist of names; got {name} in {text}",
            hint="//event/severity, or //event/@id",
        )  # fmt: skip
    return found[1]


def defined(table: Path) -> tuple[ValuePath, ...]:
    """The paths whose values are kept, by name."""
    found = [_read(path) for path in (table / FOLDER).glob("path-*.json")]
    return tuple(sorted((one for one in found if one is not None), key=lambda one: one.text))


def _read(path: Path) -> ValuePath | None:
    """A path that is kept; None if it is damaged, or in a format of another version."""
    try:
        said = json.loads(path.read_text("utf-8"))
        steps = tuple(said["steps"])
        one = ValuePath(said["stream"], said["tag"], said["element"], steps, said["attribute"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return one if path.name == f"path-{one.key}.json" else None


def define(table: Path, paths: Sequence[ValuePath]) -> None:
    """From now on, writers of the table keep the values of these paths."""
    make_folder(table / FOLDER)
    for one in paths:
        said = {
            "stream": one.stream, "tag": one.tag, "element": one.element,
            "steps": one.steps, "attribute": one.attribute,
        }  # fmt: skip
        put_whole(table / FOLDER / f"path-{one.key}.json", json.dumps(said).encode())


def drop(table: Path, paths: Sequence[ValuePath]) -> None:
    """Values of these paths are no longer kept; files that have them are deleted."""
    for one in paths:
        take_away(table / FOLDER / f"path-{one.key}.json")
        for path in (table / FOLDER).glob(f"*-{one.key}-*.parquet"):
            take_away(path)
