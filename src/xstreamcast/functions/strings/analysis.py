"""fn:analyze-string: a string cut into matches, their groups, and the text between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.functions.call import CallContext
from xstreamcast.functions.regex import Regex, cutting_regex
from xstreamcast.functions.regex.guarded import Match
from xstreamcast.functions.registry import function
from xstreamcast.functions.signature import FN
from xstreamcast.functions.strings.matching import rows_of
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.tape.names import Names
    from xstreamcast.tape.writing.builder import Builder

_ELEMENTS: Final = ("analyze-string-result", "match", "non-match", "group")


@function("fn:analyze-string($input as xs:string?, $pattern as xs:string) as element()")
@function(
    "fn:analyze-string($input as xs:string?, $pattern as xs:string, $flags as xs:string)"
    " as element()"
)
def analyze_string(
    call: CallContext, source: Column, pattern: Column, flags: Column | None = None
) -> Column:
    """An element with the matches, the groups in them, and the texts between as elements."""
    from xstreamcast.tape.writing.builder import Builder

    report = _Report(Builder(call.store.names), call.store.names)
    for value, sought, given in rows_of(call, source, pattern, flags):
        report.write(value, cutting_regex(sought, given))
    tape = report.builder.finish()
    number = np.int64(call.store.add(tape) << 32)
    return Column(Items.of_nodes(tape.roots() | number))


class _Report:
    """Writes one element for each string."""

    def __init__(self, builder: Builder, names: Names) -> None:
        self.builder = builder
        self.names = {local: names.intern("", local, FN) for local in _ELEMENTS}
        self.nr = names.intern("", "nr", "")

    def write(self, value: str, sought: Regex) -> None:
        self._start("analyze-string-result")
        at = 0
        for found in sought.compiled.finditer(value):
            self._text("non-match", value[at : found.start()])
            self._start("match")
            self._inside(found, sought, 0)
            self.builder.end()
            at = found.end()
        self._text("non-match", value[at:])
        self.builder.end()

    def _inside(self, found: Match, sought: Regex, group: int) -> None:
        """The text of a group, with the groups in it as elements."""
        at, end = found.span(group)
        for inner in range(1, sought.groups + 1):
            start, stop = found.span(inner)
            # A group of an earlier round of a repetition is before what its parent holds now.
            if sought.parents[inner] != group or start < at or stop > end:
                continue
            self.builder.text(found.string[at:start])
            self._start("group")
            self.builder.attribute(self.nr, str(inner))
            self._inside(found, sought, inner)
            self.builder.end()
            at = stop
        self.builder.text(found.string[at:end])

    def _start(self, local: str) -> None:
        self.builder.start_element(self.names[local])

    def _text(self, local: str, value: str) -> None:
        if value:
            self._start(local)
            self.builder.text(value)
            self.builder.end()
