"""The published queries: nine paths over two documents, and XMark's twenty."""

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
# The joins of XMark, whose time must not grow with the square of the document.
JOINS = ("q08", "q09", "q10", "q11", "q12")
# p8 and p9 ask the bibliography, all others the auction document.
OF_BIBLIOGRAPHY = ("p8", "p9")


@dataclass(frozen=True, slots=True)
class Query:
    """A query file, and the kind of document that it asks."""

    name: str
    text: str
    kind: str


def nine() -> tuple[Query, ...]:
    """The nine queries of the XFlux paper."""
    return _folder("nine")


def xmark() -> tuple[Query, ...]:
    """XMark's Q1 to Q20."""
    return _folder("xmark")


def _folder(name: str) -> tuple[Query, ...]:
    return tuple(_query(path) for path in sorted((HERE / name).glob("*.xq")))


def _query(path: Path) -> Query:
    kind = "bibliography" if path.stem in OF_BIBLIOGRAPHY else "auction"
    return Query(path.stem, path.read_text(), kind)
