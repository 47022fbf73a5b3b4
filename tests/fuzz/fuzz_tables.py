"""Tables with bytes flipped: a query gives the same answer, or says what is damaged."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from tests.faults.test_watch_crashes import BAD
from tests.fuzz.fuzz_checkpoints import damaged, said
from tests.fuzz.target import Check, Finding
from tests.operators.test_checkpoints import INCIDENTS, ROADS

QUERY = 'for $i in stream("roads")//incident?[now] order by $i/@n return $i/severity/text()'


def begin(folder: Path) -> Check:
    """Bytes of any file of a table are flipped."""
    pytest.importorskip("pyarrow")
    feed, table, copy = folder / "feed.xml", folder / "table", folder / "copy"
    feed.write_text(ROADS + "".join(INCIDENTS[:30]) + BAD.format(1, 1))
    ingest = ("ingest", str(feed), "--table", str(table), "--stream", "roads", "--runner", "local")
    status, text = said(*ingest, "--max-per-batch", "12")
    assert status == 4, text  # one fragment is refused

    def answer(path: Path) -> tuple[int, str, bytes]:
        out = folder / "out"
        out.unlink(missing_ok=True)
        status, text = said("run", "-q", QUERY, "-i", f"roads=table:{path}", "-o", str(out))
        return status, text, out.read_bytes() if out.exists() else b""

    status, text, expected = answer(table)
    assert status == 0, text

    def check(chance: random.Random) -> None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(table, copy)
        case = damaged(copy, chance)
        status, text, found = answer(copy)
        if "XSCB0001" in text:
            raise Finding(f"an internal error: {text}", case)
        if status == 0 and found != expected:
            raise Finding(f"another answer, and nothing is said: {found!r}, {text}", case)

    return check
