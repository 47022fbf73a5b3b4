"""A few shapes of SVG, in one style."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Final

INK: Final = "#1f2933"
FAINT: Final = "#66727e"
BLUE: Final = "#2f6fb2"
PALE: Final = "#d7e6f6"
GREEN: Final = "#2e7d4f"
RED: Final = "#b3362d"
AMBER: Final = "#fbe6c0"
GREY: Final = "#eceff2"
SANS: Final = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
MONO: Final = "ui-monospace, 'SF Mono', Menlo, 'DejaVu Sans Mono', monospace"


@dataclass(slots=True)
class Drawing:
    """A picture that grows by shapes; `text` is the whole file."""

    width: int
    height: int
    title: str
    parts: list[str] = field(default_factory=list)

    def box(
        self, x: float, y: float, w: float, h: float, fill: str = PALE, line: str = BLUE,
        dashed: bool = False, radius: int = 5,
    ) -> None:  # fmt: skip
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{radius}" '
            f'fill="{fill}" stroke="{line}" stroke-width="1.2"{dash}/>'
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, color: str = FAINT, width: float = 1.2,
        dashed: bool = False, arrow: bool = False,
    ) -> None:  # fmt: skip
        dash = ' stroke-dasharray="4 4"' if dashed else ""
        head = ' marker-end="url(#head)"' if arrow else ""
        self.parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{color}" '
            f'stroke-width="{width:g}"{dash}{head}/>'
        )

    def dot(self, x: float, y: float, r: float = 4.5, color: str = BLUE) -> None:
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}" fill="{color}"/>')

    def text(
        self, x: float, y: float, words: str, size: float = 13, color: str = INK,
        anchor: str = "start", mono: bool = False, bold: bool = False,
    ) -> None:  # fmt: skip
        family = f' font-family="{MONO}"' if mono else ""
        weight = ' font-weight="600"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{color}" '
            f'text-anchor="{anchor}" xml:space="preserve"{family}{weight}>{escape(words)}</text>'
        )

    def svg(self) -> str:
        """The file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" font-family="{SANS}">\n'
            f"<title>{escape(self.title)}</title>\n"
            '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z" fill="{FAINT}"/></marker>'
            "</defs>\n"
            f'<rect width="{self.width}" height="{self.height}" rx="8" fill="#ffffff"/>\n'
        )
        return head + "\n".join(self.parts) + "\n</svg>\n"
