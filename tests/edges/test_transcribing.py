"""A stream of updates as a file of fragments: torn anywhere and begun again, it goes on in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.spark.test_watch_inputs import REPLACED, UPDATES
from xstreamcast.edges.transcribing import Transcript
from xstreamcast.errors import Error
from xstreamcast.model.fragment import Refused

SIZE = 100


def transcribed(path: Path, data: bytes, size: int = SIZE) -> list[Refused]:
    """Read all of a stream, in pieces of any size."""
    refused = list[Refused]()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    made = Transcript("s", "updates", iter([*pieces, None]), path, keep=refused.append)
    made.start()
    made.join()
    if made.failed is not None:
        raise made.failed
    made.finish()
    return refused


@given(at=st.integers(0, 4000), size=st.integers(20, 900))
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_torn_anywhere_it_is_completed(tmp_path: Path, at: int, size: int) -> None:
    path = tmp_path / "fragments.xml"
    path.unlink(missing_ok=True)
    refused = transcribed(path, UPDATES + REPLACED)
    whole = path.read_bytes()
    path.write_bytes(whole[:at])
    assert transcribed(path, UPDATES + REPLACED, size) == refused
    again = path.read_bytes()
    # what was there stays, but for an unfinished word on how much was read, and the end
    kept, word, rest = whole[:at].partition(b"<?over?>")[0].rpartition(b"<?")
    assert again.startswith(kept + word + rest if b"\n" in rest or not word else kept)
    assert again.count(b"<stream:filler") >= 3
    assert again.count(b"<?over?>") == 1


def test_what_is_added_is_added(tmp_path: Path) -> None:
    path = tmp_path / "fragments.xml"
    assert transcribed(path, UPDATES) == []
    before = path.read_bytes().removesuffix(b"<?over?>\n")
    (refused,) = transcribed(path, UPDATES + REPLACED)
    assert refused.code == "XSCE0002"
    assert path.read_bytes().startswith(before)
    assert b">7</rate>" in path.read_bytes()[len(before) :]


def test_another_input_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fragments.xml"
    transcribed(path, UPDATES)
    with pytest.raises(Error, match="has changed"):
        transcribed(path, UPDATES.replace(b'"5"', b'"4"'))
    with pytest.raises(Error, match="shorter"):
        transcribed(path, UPDATES[:300])
