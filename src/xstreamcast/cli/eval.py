"""xstreamcast eval: one JSON request a line on stdin, one JSON answer a line on stdout.

request  {"id": n, "query": text, "context": path|null, "documents": {uri: path},
          "params": {name: {"doc": path} | {"select": expression}}}
answer   {"id": n, "items": [...]}  or  {"id": n, "error": {"code": code, "message": text}}
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from xstreamcast.algebra.program import Program
from xstreamcast.api import compiled
from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.errors import Error, QueryError, error
from xstreamcast.evaluate.context import Inputs
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.results import records
from xstreamcast.evaluate.run import run
from xstreamcast.model.items import Items
from xstreamcast.tape.layout import Tape
from xstreamcast.tape.names import Names
from xstreamcast.tape.store import Store

_MOST_DOCUMENTS: Final = 256


def add_arguments(parser: Parser) -> None:
    """It has none: all is in the requests."""


def main(arguments: Parsed) -> int:
    """Answer until stdin ends."""
    deep(lambda: serve(sys.stdin, sys.stdout.write, sys.stdout.flush))
    return 0


def serve(requests: Iterable[str], write: Any, flush: Any) -> None:
    """Answer every request in its order."""
    shelf = Shelf()
    for line in requests:
        if line.strip():
            write(json.dumps(_answered(line, shelf), ensure_ascii=True) + "\n")
            flush()


def _answered(line: str, shelf: Shelf) -> dict[str, Any]:
    """The answer to one line; one that is no request gets an error, and the next is read."""
    try:
        request = json.loads(line)
        problem = _problem(request)
    except (ValueError, RecursionError) as why:
        request, problem = {}, f"a request must be one line of JSON: {why}"
    if problem is None:
        return answer(request, shelf)
    told = {"code": "XSCU0008", "message": f"XSCU0008: {problem}"}
    return {"id": request.get("id") if isinstance(request, dict) else None, "error": told}


def _problem(request: Any) -> str | None:
    """What is wrong with the form of a request."""
    if not isinstance(request, dict):
        return f"a request must be a JSON object; got {type(request).__name__}"
    if not isinstance(request.get("query"), str):
        return 'a request must have "query", a string'
    if not isinstance(request.get("context"), str | None):
        return '"context" must be a path or null'
    for name in ("documents", "params"):
        if not isinstance(request.get(name), dict | None):
            return f'"{name}" must be an object'
    documents = (request.get("documents") or {}).values()
    if not all(isinstance(one, str) for one in documents):
        return '"documents" must map each address to a path'
    for name, given in (request.get("params") or {}).items():
        if not isinstance(given, dict) or not isinstance(
            given.get("doc", given.get("select")), str
        ):
            return f'"params": {name} must be {{"doc": path}} or {{"select": expression}}'
    return None


class Shelf:
    """Documents read before: one set of names, so that their tapes fit into any store."""

    def __init__(self) -> None:
        self.names = Names()
        self._tapes: dict[str, Tape] = {}

    def document(self, store: Store, path: str, uri: str) -> int:
        """The document node of the file in this store."""
        from xstreamcast.tape import read

        if path not in self._tapes:
            while len(self._tapes) >= _MOST_DOCUMENTS:
                self._tapes.pop(next(iter(self._tapes)))
            self._tapes[path] = read(path, names=self.names)
        return store.add(replace(self._tapes[path], source=uri)) << 32


def answer(request: Mapping[str, Any], shelf: Shelf) -> dict[str, Any]:
    """The items of the answer, or the error."""
    try:
        items = _items(request, shelf)
        return {"id": request.get("id"), "items": items}
    except Error as caught:
        told = {"code": _code(caught), "message": str(caught)}
    except Exception as caught:
        told = {"code": "XSCB0001", "message": f"{type(caught).__name__}: {caught}"}
    return {"id": request.get("id"), "error": told}


def _code(caught: Error) -> str:
    if isinstance(caught, QueryError) and caught.qname is not None:
        uri, local = caught.qname
        return local if uri.endswith("xqt-errors") else f"Q{{{uri}}}{local}"
    return caught.code


def _items(request: Mapping[str, Any], shelf: Shelf) -> list[dict[str, Any]]:
    store = Store(shelf.names)
    inputs = Inputs(store)
    documents = request.get("documents") or {}
    inputs.documents = partial(_document, shelf, store, documents)
    if request.get("context"):
        inputs.item = _node(_open(shelf, store, request["context"], documents))
    program = compiled(request["query"])
    inputs.variables = {
        _expanded(name, program): _parameter(shelf, inputs, given)
        for name, given in (request.get("params") or {}).items()
    }
    return list(records(store, run(program, inputs)))


def _expanded(name: str, program: Program) -> tuple[str, str]:
    """A parameter's name; the query binds its prefix."""
    prefix, _, local = name.rpartition(":")
    return program.static.namespaces.get(prefix, "") if prefix else "", local


def _node(handle: int) -> Items:
    return Items.of_nodes(np.array([handle], np.int64))


def _open(shelf: Shelf, store: Store, path: str, documents: Mapping[str, str]) -> int:
    uri = next((u for u, p in documents.items() if p == path), Path(path).absolute().as_uri())
    return shelf.document(store, path, uri)


def _document(shelf: Shelf, store: Store, documents: Mapping[str, str], uri: str) -> int:
    if uri not in documents:
        raise error("FODC0002", f"{uri} is not among the documents of the request")
    try:
        return shelf.document(store, documents[uri], uri)
    except (OSError, Error) as caught:
        raise error("FODC0002", f"{uri} cannot be read: {caught}") from caught


def _parameter(shelf: Shelf, inputs: Inputs, given: Mapping[str, Any]) -> Items:
    if "doc" in given:
        return _node(_open(shelf, inputs.store, given["doc"], {}))
    return run(compiled(given["select"]), inputs)
