"""What a server of answers knows: queries, answers, numbers, and who follows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xstreamcast.serve.answers import Answers, ServedAnswer
from xstreamcast.serve.listeners import Listeners


class Page(NamedTuple):
    """A page, and what a browser may do with it."""

    html: str
    policy: str


@dataclass(slots=True)
class Served:
    """Queries by name."""

    texts: Mapping[str, str]
    page: Page
    answers: Answers
    listeners: Listeners = field(default_factory=Listeners)
    measured: dict[str, Any] = field(default_factory=dict)  # as they were a second ago at most

    def listed(self) -> list[dict[str, Any]]:
        """The queries, with their states."""
        failing = self._failing()
        with self.answers.lock:
            return [
                {
                    "name": name, "state": self._state(one, name in failing),
                    "items": len(one.items), "changes": one.count, "id": one.id,
                    "error": failing.get(name) if one.failed is None else str(one.failed),
                }
                for name, one in self.answers.of.items()
            ]  # fmt: skip

    def numbers(self) -> dict[str, Any]:
        """The numbers of the queries, and those of the clients."""
        heard = self.listeners
        clients = {"now": heard.listening, "most": heard.most, "stuck": heard.stuck}
        return {**self.measured, "clients": clients}

    def health(self) -> dict[str, Any]:
        """Whether all is well, and what has failed."""
        states = [self._state(one) for one in self.answers.of.values()]
        failed = {n: str(one.failed) for n, one in self.answers.of.items() if one.failed}
        status = "failed" if failed else states[0]
        return {
            "status": status, "queries": len(states), "failed": failed, "failing": self._failing()
        }  # fmt: skip

    def _failing(self) -> dict[str, str]:
        """The errors of queries that an input may still correct."""
        only = next(iter(self.texts))
        found = self.measured.get("failing", ())
        return {one["query"] or only: f"{one['code']}: {one['message']}" for one in found}

    def _state(self, one: ServedAnswer, failing: bool = False) -> str:
        if one.failed is not None:
            return "failed"
        if not self.answers.started:
            return "starting"
        if self.answers.ended:
            return "ended"
        return "failing" if failing else "running"
