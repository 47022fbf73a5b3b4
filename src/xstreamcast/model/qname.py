"""An expanded QName: what xs:QName and xs:NOTATION columns hold."""

from __future__ import annotations

from dataclasses import field

from xstreamcast.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class QName:
    """Namespace and local name; the prefix is carried along but is no part of equality."""

    uri: str
    local: str
    prefix: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.prefix}:{self.local}" if self.prefix else self.local

    @property
    def eqname(self) -> str:
        """Q{uri}local"""
        return f"Q{{{self.uri}}}{self.local}"
