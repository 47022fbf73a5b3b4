"""xstreamcast eval: one JSON request a line on stdin, one JSON answer a line on stdout.

request  {"id": n, "query": text, "context": path|null, "documents": {uri: path},
          "params": {name: {"doc": path} | {"select": expression}},
          "base_uri": uri, "resources": {uri: {"file": path, "encoding": name}},
          "collections": {uri: [{"doc": path} | {"select": expression}]},
          "modules": [{"uri": namespace, "location": hint, "file": path}], "serialize": true}
answer   {"id": n, "items": [...]}  or  {"id": n, "error": {"code": code, "message": text}};
         if requested: "serialized": text, or "serialization_error": {"code": code, …}
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from xstreamcast.algebra.program import Program
from xstreamcast.api import compiled
from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.eval_inputs import EvalRequest, Shelf
from xstreamcast.errors import Error, QueryError
from xstreamcast.evaluate.context import Inputs
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.results.results import records
from xstreamcast.evaluate.results.serializing import serialized
from xstreamcast.evaluate.run import run
from xstreamcast.model.items import Items

_LOADED: Final = frozenset((1, 10, 100))  # requests after which what is there stays


def add_arguments(parser: Parser) -> None:
    """It has none: all is in the requests."""


def main(arguments: Parsed) -> int:
    """Answer until stdin ends."""
    deep(lambda: serve(lines(sys.stdin), sys.stdout.write, sys.stdout.flush))
    return 0


def lines(requests: Iterable[str]) -> Iterator[str]:
    """The requests; what the first ones have loaded stays, and is not looked at for garbage again.

    Most of it comes with the first; what some queries alone need comes with the first hundred.
    """
    for number, line in enumerate(requests, start=1):
        yield line
        if number in _LOADED:
            gc.collect()
            gc.freeze()


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
    described = {"code": "XSCU0008", "message": f"XSCU0008: {problem}"}
    return {"id": request.get("id") if isinstance(request, dict) else None, "error": described}


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


def answer(request: Mapping[str, Any], shelf: Shelf) -> dict[str, Any]:
    """The items of the answer, or the error."""
    try:
        return {"id": request.get("id"), **_computed(request, shelf)}
    except Error as caught:
        return {"id": request.get("id"), "error": _described(caught)}
    except Exception as caught:
        described = {"code": "XSCB0001", "message": f"{type(caught).__name__}: {caught}"}
        return {"id": request.get("id"), "error": described}


def _described(caught: Error) -> dict[str, str]:
    return {"code": _code(caught), "message": str(caught)}


def _code(caught: Error) -> str:
    if isinstance(caught, QueryError) and caught.qname is not None:
        uri, local = caught.qname
        return local if uri.endswith("xqt-errors") else f"Q{{{uri}}}{local}"
    return caught.code


def _computed(request: Mapping[str, Any], shelf: Shelf) -> dict[str, Any]:
    given = EvalRequest(request, shelf)
    inputs = given.inputs()
    modules = given.modules if request.get("modules") else None
    program = compiled(request["query"], base_uri=request.get("base_uri"), modules=modules)
    _parameters(request, program, given, inputs)
    items = run(program, inputs)
    made: dict[str, Any] = {"items": list(records(inputs.store, items))}
    if request.get("serialize"):
        made |= _serialized(program, inputs, items)
    return made


def _parameters(
    request: Mapping[str, Any], program: Program, given: EvalRequest, inputs: Inputs
) -> None:
    variables: dict[tuple[str, str], Items] = {}
    for name, one in (request.get("params") or {}).items():
        value = given.parameter(one)
        if name == ".":
            inputs.item = value
        else:
            variables[_expanded(name, program)] = value
    inputs.variables = variables


def _expanded(name: str, program: Program) -> tuple[str, str]:
    """A parameter's name; the query binds its prefix."""
    prefix, _, local = name.rpartition(":")
    return program.static.namespaces.get(prefix, "") if prefix else "", local


def _serialized(program: Program, inputs: Inputs, items: Items) -> dict[str, Any]:
    try:
        return {"serialized": serialized(program, inputs, items)}
    except Error as caught:
        return {"serialization_error": _described(caught)}
