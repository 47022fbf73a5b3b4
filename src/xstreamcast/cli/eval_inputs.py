"""What the requests of `xstreamcast eval` hand to a query: documents, texts, collections, modules.

A query reads what its request names, and files in the folder of a base URI that is a file's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import numpy as np

from xstreamcast.api import compiled
from xstreamcast.errors import Error, error
from xstreamcast.evaluate.context import Inputs
from xstreamcast.evaluate.run import run
from xstreamcast.functions.call import FetchedText
from xstreamcast.functions.strings.collations import Collation, register
from xstreamcast.model.items import Items
from xstreamcast.tape.layout import Tape
from xstreamcast.tape.names import Names
from xstreamcast.tape.store import Store

_MOST_DOCUMENTS: Final = 256
# The collation that drivers of the W3C suite must supply: letters without regard to case.
_CASEBLIND: Final = "http://www.w3.org/2010/09/qt-fots-catalog/collation/caseblind"


class Shelf:
    """Documents read before: one set of names, so that their tapes fit into any store."""

    def __init__(self) -> None:
        self.names = Names()
        self._tapes: dict[str, Tape] = {}
        # the variables that queries see: those of the W3C suite
        self.environment = {k: v for k, v in os.environ.items() if k.startswith("QTTEST")}
        register(Collation(_CASEBLIND, str.casefold, str.casefold))

    def document(self, store: Store, path: str, uri: str) -> int:
        """The document node of the file in this store."""
        from xstreamcast.tape import read

        if path not in self._tapes:
            while len(self._tapes) >= _MOST_DOCUMENTS:
                self._tapes.pop(next(iter(self._tapes)))
            self._tapes[path] = read(path, names=self.names)
        return store.add(replace(self._tapes[path], source=uri)) << 32


class EvalRequest:
    """One request, as the inputs of its query."""

    def __init__(self, request: Mapping[str, Any], shelf: Shelf) -> None:
        self._request = request
        self._shelf = shelf
        self._store = Store(shelf.names)
        self._nodes: dict[str, int] = {}
        self._documents: dict[str, str] = dict(request.get("documents") or {})
        self._uris = {path: uri for uri, path in reversed(self._documents.items())}
        self._inputs = Inputs(self._store)

    def inputs(self) -> Inputs:
        """The inputs of the query, all but its parameters."""
        made = self._inputs
        made.documents, made.texts = self._document, self._text
        made.environment = self._shelf.environment
        if self._request.get("collections"):
            made.collections, made.addresses = self._collection, self._addresses
        made.modules = self.modules
        if self._request.get("context"):
            made.item = _node(self._open(self._request["context"]))
        return made

    def parameter(self, given: Mapping[str, Any]) -> Items:
        """The value of a parameter."""
        if "doc" in given:
            return _node(self._open(given["doc"]))
        program = compiled(given["select"], base_uri=self._request.get("base_uri"))
        return run(program, self._inputs)

    def modules(self, uri: str, places: tuple[str, ...]) -> Sequence[tuple[str, str]]:
        """The files that make up a module."""
        listed = [one for one in self._request.get("modules") or () if one["uri"] == uri]
        named = [one["file"] for one in listed]
        files = dict.fromkeys(named or filter(None, map(self._near, places)))
        return [(Path(one).as_uri(), Path(one).read_text("utf-8")) for one in files]

    # -- by address -----------------------------------------------------------------------------

    def _open(self, path: str) -> int:
        uri = self._uris.get(path, Path(path).absolute().as_uri())
        if uri not in self._nodes:
            self._nodes[uri] = self._shelf.document(self._store, path, uri)
        return self._nodes[uri]

    def _document(self, uri: str) -> int:
        path = self._documents.get(uri) or self._near(uri)
        if path is None:
            raise error("FODC0002", f"{uri} is not among the documents of the request")
        try:
            if uri not in self._nodes:
                self._nodes[uri] = self._shelf.document(self._store, path, uri)
            return self._nodes[uri]
        except (OSError, Error) as caught:
            raise error("FODC0002", f"{uri} cannot be read: {caught}") from caught

    def _near(self, uri: str) -> str | None:
        """The path of a file in the folder of the base URI, or of a document that was opened."""
        base = urlsplit(self._request.get("base_uri") or "")
        parts = urlsplit(uri)
        if parts.scheme != "file":
            return None
        path = Path(unquote(parts.path))
        if uri in self._nodes:
            return str(path)
        inside = base.scheme == "file" and path.is_relative_to(Path(unquote(base.path)).parents[1])
        return str(path) if inside and path.is_file() else None

    def _text(self, uri: str) -> FetchedText:
        known = (self._request.get("resources") or {}).get(uri)
        path = known["file"] if known else self._documents.get(uri) or self._near(uri)
        if path is None or not Path(path).is_file():
            raise error("FOUT1170", f"{uri} is not among the texts of the request")
        return FetchedText(Path(path).read_bytes(), known.get("encoding") if known else None)

    # -- collections ----------------------------------------------------------------------------

    def _listed(self, uri: str | None) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] | None = self._request["collections"].get(uri or "")
        if found is None:
            raise error("FODC0002", f"there is no collection {uri or 'by default'}")
        return found

    def _collection(self, uri: str | None) -> Items:
        return Items.concat([self.parameter(one) for one in self._listed(uri)])

    def _addresses(self, uri: str | None) -> list[str]:
        paths = (one["doc"] for one in self._listed(uri) if "doc" in one)
        return [self._uris.get(path, Path(path).absolute().as_uri()) for path in paths]


def _node(handle: int) -> Items:
    return Items.of_nodes(np.array([handle], np.int64))
