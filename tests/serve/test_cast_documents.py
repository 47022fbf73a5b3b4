"""Documents that are cast: those that follow one another, and one that is still being written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from xstreamcast.kernels.intern import Ids
from xstreamcast.model.fragment import Arrival, FragmentBatch
from xstreamcast.serve.reading import read_into

TAGS = '<tag id="1" name="log" type="snapshot"><tag id="2" name="r" type="event"/></tag>'


def taken(tmp_path: Path, pieces: list[bytes]) -> list[list[str]]:
    """The ids that are handed on after each piece."""
    (tmp_path / "ts").write_text(TAGS)
    found: list[list[str]] = [[]]

    def receive(arrivals: list[Arrival], ids: Ids) -> None:
        for one in arrivals:
            if isinstance(one, FragmentBatch):
                found[-1] += [ids.text(int(code)) for code in one.id]

    def given() -> Iterator[bytes]:
        for piece in pieces:
            yield piece
            found.append([])

    read_into(receive, "r", given(), structure=tmp_path / "ts")
    return found


def test_documents_one_after_another_share_no_id(tmp_path: Path) -> None:
    document = b"<log><r/><r/></log>\n"
    found = taken(tmp_path, [document + document[:9], document[9:] + b"<log/>"])
    ids = [one for step in found for one in step]
    assert len(ids) == len(set(ids)) == 7


def test_a_fragment_is_cast_as_soon_as_its_element_has_ended(tmp_path: Path) -> None:
    pieces = [b"<log><r/>", b"<r>x</r>", b"<r", b"/></log>"]
    assert taken(tmp_path, pieces)[:4] == [["1"], ["2"], [], ["3", "0"]]
