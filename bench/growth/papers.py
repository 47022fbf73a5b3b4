"""A bibliography as fragments: papers with authors, titles and years."""

from bench.growth.streams import Stream, Unit, filler, holes, scattered, structure

NAME = "dblp"
AUTHORS = ("Ann Jones", "Bo Larsen", "John Smith", "Eve Smithson", "Li Wei", "Ola Berg", "Uma Rao")


def _all(n: int) -> int:
    return n


def _paper(i: int, version: int, n: int) -> bytes:
    author = "John Smith" if version else AUTHORS[scattered(i, len(AUTHORS))]
    year = 2007 if version else 1970 + scattered(i, 50, 1)
    return filler(
        f"p{i}",
        2,
        f"<inproceedings><author>{AUTHORS[i % 2]}</author><author>{author}</author>"
        f"<title>On {i}{' revised' * version}</title><year>{year}</year></inproceedings>",
    )


def _root(n: int) -> bytes:
    return filler("0", 1, f"<dblp>{holes('p', 2, range(PAPERS.reach(n)))}</dblp>")


PAPERS = Unit(NAME, _all, _paper)
BIBLIOGRAPHY = (
    Stream(
        NAME,
        structure(
            '<tag id="1" name="dblp"><tag id="2" name="inproceedings" filler="true">'
            '<tag id="3" name="author"/><tag id="4" name="title"/><tag id="5" name="year"/>'
            "</tag></tag>"
        ),
        _root,
        (PAPERS,),
    ),
)
