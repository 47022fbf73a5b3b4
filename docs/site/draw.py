"""python -m docs.site.draw: writes the drawings into docs/img."""

from __future__ import annotations

from pathlib import Path

from docs.site.diagrams import DIAGRAMS
from docs.site.timelines import TIMELINES

FOLDER = Path(__file__).parents[1] / "img"
DRAWINGS = TIMELINES | DIAGRAMS


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, draw in DRAWINGS.items():
        (FOLDER / f"{name}.svg").write_text(draw(), "utf-8")


if __name__ == "__main__":
    main()
