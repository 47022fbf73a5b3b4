"""Compressed files of a followed folder that cannot be decompressed."""

from __future__ import annotations

import gzip
import random
from contextlib import closing
from pathlib import Path

import pytest

from tests.edges.sources.test_files import following, steps
from xstreamcast import query
from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.sources.notes import Notes

pytest.importorskip("pyarrow")

PLAIN = bytes(random.Random(7).choices(b"0123456789abcdef", k=1 << 21))


def corrupt(whole: bytes) -> bytes:
    """A byte near the end is another one."""
    at = len(whole) - 9000
    return whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]


def test_what_follows_a_corrupt_file_is_read(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    there, whole = tmp_path / "a.gz", gzip.compress(PLAIN)
    there.write_bytes(corrupt(whole))
    acts = [
        lambda: (tmp_path / "b.xml").write_bytes(b"next"),
        lambda: None,
        lambda: there.write_bytes(whole),
    ]
    found = steps(following(tmp_path), acts)
    first = found.index(None)
    before = b"".join(filter(None, found[:first]))
    assert 0 < len(before) < len(PLAIN)
    assert PLAIN.startswith(before)
    assert found[first + 1 : first + 3] == [b"next", None]
    assert b"".join(filter(None, found[first + 3 :])) == PLAIN
    said = capfd.readouterr().err
    assert said.count(f"note: {there} cannot be decompressed: ") == 1


def test_a_corrupt_file_is_the_same_after_a_restart(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(corrupt(gzip.compress(PLAIN)))
    (tmp_path / "b.xml").write_bytes(b"next")
    with closing(Notes(tmp_path / ".notes")) as notes:
        found = steps(following(tmp_path, notes), [])
    with closing(Notes(tmp_path / ".notes")) as notes:
        again = steps(following(tmp_path, notes), [], ended=1)
    assert b"".join(filter(None, again)) == b"".join(filter(None, found))
    assert again.count(None) == found.count(None)


def test_a_table_leaves_a_corrupt_file_out_until_it_changes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder, structure = tmp_path / "in", tmp_path / "ts"
    folder.mkdir()
    structure.write_text('<tag id="1" name="log" type="snapshot"/>')
    whole = gzip.compress(b"<log>" + PLAIN + b"</log>")
    (folder / "a.xml.gz").write_bytes(corrupt(whole))
    (folder / "b.xml").write_text("<log/>")

    def read() -> list[str]:
        ingest(folder, tmp_path / "table", stream="r", structure=structure, follow=True)
        counted = query('stream("r")/log/string-length()')
        return list(counted.run(r=f"table:{tmp_path / 'table'}").lines())

    assert (read(), read()) == (["0"], ["0"])
    said = capfd.readouterr().err
    assert said.count(f"note: {folder / 'a.xml.gz'} cannot be decompressed: ") == 1
    (folder / "a.xml.gz").write_bytes(whole)
    assert read() == ["0", str(len(PLAIN))]
