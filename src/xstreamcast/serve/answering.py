"""Answers of running queries over HTTP; nothing that a client sends changes anything.

GET /                        the page
GET /queries                 the queries, with their states
GET /queries/NAME            the current answer: lines, xml, ndjson, json or csv
GET /queries/NAME/changes    the answer and its changes, as server-sent events
GET /queries/NAME/text       the text of the query; /circuit: its operators
GET /metrics, /health        numbers; whether all is well
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from xstreamcast.errors import Error
from xstreamcast.model.counted import counted
from xstreamcast.serve.events import UNSTORED, event_stream
from xstreamcast.serve.follower import Follower
from xstreamcast.serve.formats import FORMATS, accepted, text_of
from xstreamcast.serve.http_server import HttpServer
from xstreamcast.serve.served import Served

_SPARE: Final = 64  # connections for requests that end at once, besides those of followers
# Items come from feeds: what a browser is sent must not run in it.
_DATA: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    **UNSTORED,
}

Answering = Callable[[Any], Awaitable[Any]]


class AnswerServer(HttpServer):
    """A server of what queries answer."""

    def __init__(
        self, served: Served, host: str, port: int, clients: int, circuit: Callable[[str], str]
    ) -> None:
        """`clients`: how many may follow answers at once; `circuit` explains a query."""
        super().__init__(host, port, clients + _SPARE)
        self._served, self._clients, self._explain = served, clients, circuit

    def _app(self) -> Any:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.routing import Route

        own: dict[str, Answering] = {"": self._answer, "/changes": self._changes}
        own |= {"/text": self._text, "/circuit": self._circuit}
        paths: dict[str, Answering] = {"/": self._page, "/queries": self._list}
        paths |= {f"/queries/{{name}}{path}": self._named(one) for path, one in own.items()}
        paths |= {"/metrics": self._metrics, "/health": self._health}
        routes = [Route(path, self._guarded(one)) for path, one in paths.items()]
        return Starlette(routes=routes, exception_handlers={HTTPException: _refused})

    def _guarded(self, answer: Answering) -> Answering:
        """Answer requests that name this machine: no page of another site reads what is here."""

        async def guarded(request: Any) -> Any:
            if is_loopback(self.host) and not is_loopback(request.url.hostname or ""):
                return _json({"error": {"message": "the Host of a request must be local"}}, 403)
            return await answer(request)

        return guarded

    def _named(self, answer: Answering) -> Answering:
        """Answer requests for a query that there is, and that has not failed."""

        async def named(request: Any) -> Any:
            name, answers = request.path_params["name"], self._served.answers
            if name not in answers.of:
                said = {"message": f"there is no query {name}", "queries": list(answers.of)}
                return _json({"error": said}, 404)
            failed = answers.of[name].failed
            if failed is not None and answer in (self._answer, self._changes):
                return _json({"query": name, "error": facts(failed)}, 500)
            return await answer(request)

        return named

    # -- answers ----------------------------------------------------------------------------------

    async def _answer(self, request: Any) -> Any:
        from starlette.responses import Response

        name = request.query_params.get("format", accepted(request.headers.get("accept", "*/*")))
        if name not in FORMATS:
            return _json({"error": {"message": f"formats are {', '.join(FORMATS)}"}}, 406)
        answers = self._served.answers
        if not answers.started:
            said = {"message": "the inputs have not begun"}
            return _json({"error": said}, 503, {"Retry-After": "1"})
        with answers.lock:
            answer = answers.of[request.path_params["name"]]
            items, tag = answer.items.items(), f'"{answer.id}-{name}"'
        headers = {**_DATA, "Cache-Control": "no-cache", "ETag": tag, "Vary": "Accept"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        text = await asyncio.to_thread(text_of, items, name)
        return Response(text, media_type=FORMATS[name][0], headers=headers)

    async def _changes(self, request: Any) -> Any:
        from starlette.responses import Response, StreamingResponse

        served = self._served
        last = request.headers.get("last-event-id", request.query_params.get("since", ""))
        follower = Follower(served.answers, request.path_params["name"], last)
        if follower.finished:
            return Response(status_code=204, headers=_DATA)  # how events say: do not come back
        if served.listeners.listening >= self._clients:
            said = {"message": f"the limit of {counted(self._clients, 'client')} is reached"}
            return _json({"error": said}, 503, {"Retry-After": "5"})
        events = event_stream(served.listeners, follower, b"".join)
        return StreamingResponse(events, media_type="text/event-stream", headers=_DATA)

    async def _text(self, request: Any) -> Any:
        return _plain(self._served.texts[request.path_params["name"]])

    async def _circuit(self, request: Any) -> Any:
        return _plain(await asyncio.to_thread(self._explain, request.path_params["name"]))

    # -- all of them ------------------------------------------------------------------------------

    async def _page(self, _: Any) -> Any:
        from starlette.responses import HTMLResponse

        page = self._served.page
        return HTMLResponse(page.html, headers={**_DATA, "Content-Security-Policy": page.policy})

    async def _list(self, _: Any) -> Any:
        return _json({"queries": self._served.listed()})

    async def _metrics(self, _: Any) -> Any:
        return _json(self._served.numbers())

    async def _health(self, _: Any) -> Any:
        said = self._served.health()
        return _json(said, 200 if said["status"] in ("running", "ended") else 503)


def facts(failed: Error) -> dict[str, Any]:
    """An error as JSON has it."""
    place = None if failed.place is None else str(failed.place)
    return {
        "code": failed.code, "message": failed.sentence, "place": place, "hint": failed.hint,
    }  # fmt: skip


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by a name that no one else can give to theirs."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


async def _refused(_: Any, why: Any) -> Any:
    """A path that there is not, or something other than GET."""
    said = {"message": why.detail, "paths": ["/", "/queries", "/metrics", "/health"]}
    return _json({"error": said}, why.status_code, why.headers)


def _json(said: Any, status: int = 200, more: dict[str, str] | None = None) -> Any:
    from starlette.responses import Response

    text = json.dumps(said, ensure_ascii=False) + "\n"
    headers = {**_DATA, **(more or {})}
    return Response(text, status, media_type="application/json", headers=headers)


def _plain(text: str) -> Any:
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(text, headers=_DATA)
