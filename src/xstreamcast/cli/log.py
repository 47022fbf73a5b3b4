"""The log of a continuous query on stderr: lines of text, or of JSON."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from xstreamcast.model.instant import show_instant

if TYPE_CHECKING:
    from xstreamcast.model.fragment import Refused


class CommandLog:
    """Notes, refused fragments, counts and errors, a line each."""

    def __init__(self, form: str) -> None:
        self._json = form == "json"

    def write(self, kind: str, message: str, **more: object) -> None:
        """A line; `kind` is note, refused, report or error."""
        if not self._json:
            sys.stderr.write(f"{message}\n" if kind == "report" else f"{kind}: {message}\n")
            return
        when = show_instant(time.time_ns() // 1000, zoned=True)
        record = {"time": when, "kind": kind, "message": message, **more}
        sys.stderr.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")

    def refused(self, one: Refused) -> None:
        """A refused fragment that is not kept."""
        if not self._json:
            self.write("refused", str(one))
            return
        more = {"stream": one.stream, "fragment": one.fragment, "byte": one.offset}
        self.write("refused", one.reason, code=one.code, **more)
