"""Names as written: prefixes stay lexical, the lowering resolves them."""

from __future__ import annotations

from dataclasses import field

from xstreamcast.model.frozen import dataclass

Span = tuple[int, int]
NOWHERE: Span = (0, 0)  # two nodes differ by what they say, not by where: spans never compare


@dataclass(frozen=True, slots=True)
class Name:
    """`local`, `prefix:local` or `Q{uri}local`; `uri` is None unless the text spelled it out."""

    local: str
    prefix: str = ""
    uri: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        if self.uri is not None:
            return f"Q{{{self.uri}}}{self.local}"
        return f"{self.prefix}:{self.local}" if self.prefix else self.local
