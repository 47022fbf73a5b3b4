"""Library modules from folders that were given: what `import module` and load-xquery-module find.

A module is known by the namespace that it declares. A place named by `at` must be in one of the
folders; without one, all files of the folders that declare the namespace make up the module.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from xstreamcast.errors import error

_SUFFIXES: Final = (".xq", ".xqm", ".xql", ".xquery", ".xqy")
_HEAD: Final = re.compile(
    r"(?:\s|\(:.*?:\)|xquery\s+(?:version|encoding)[^;]*;)*"
    r"module\s+namespace\s+[^\s=]+\s*=\s*(?:\"([^\"]*)\"|'([^']*)')",
    re.S,
)


class ModulePath:
    """The modules in some folders."""

    def __init__(self, folders: Iterable[str | os.PathLike[str]]) -> None:
        self._folders = [Path(one).resolve() for one in folders]
        for folder in self._folders:
            if not folder.is_dir():
                raise error("XSCU0003", f"the module path {folder} is not a folder")

    def __call__(self, uri: str, places: tuple[str, ...]) -> list[tuple[str, str]]:
        """(address, text) of the files that make up the module of a namespace."""
        named = [path for place in places for path in self._at(place)]
        found = dict.fromkeys(named or self._declaring(uri))
        return [(path.as_uri(), _text(path)) for path in found]

    def _at(self, place: str) -> Iterator[Path]:
        """The file that a place names, if it is in one of the folders."""
        parts = urlsplit(place)
        if parts.scheme not in ("", "file"):
            return
        for folder in self._folders:
            path = (folder / unquote(parts.path)).resolve()
            if path.is_relative_to(folder) and path.is_file():
                yield path
                return

    def _declaring(self, uri: str) -> Iterator[Path]:
        for folder in self._folders:
            for path in sorted(folder.rglob("*")):
                if path.suffix in _SUFFIXES and path.is_file() and _namespace(path) == uri:
                    yield path


def _namespace(path: Path) -> str | None:
    found = _HEAD.match(_text(path))
    return None if found is None else " ".join((found[1] or found[2] or "").split())


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as why:
        raise error("XSCU0003", f"{path} is not UTF-8: invalid byte {why.start}") from None
