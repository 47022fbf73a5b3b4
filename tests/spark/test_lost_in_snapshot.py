"""A worker that dies while it writes a snapshot: its task is done again, and nothing is lost."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import write_feed
from tests.spark.test_watch_killed import DECLARED, JOIN, MOST, ticked
from tests.spark.watched import Left
from xstreamcast import query

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from pyspark import cloudpickle

from xstreamcast.spark.watching import changes, spread
from xstreamcast.spark.watching.moving import last_batch, stored
from xstreamcast.spark.watching.state import Hosting
from xstreamcast.spark.watching.store import _PIECES, KeyValues, StateLog

pytestmark = pytest.mark.spark


class _DyingStore(KeyValues):
    """Half of the second snapshot of each stage is written; then the process is no more."""

    def __init__(self, store: KeyValues, stage: str, deaths: Path) -> None:
        self._values = store._values
        self._first, self._died = deaths / f"{stage} wrote", deaths / f"{stage} died"

    def write_snapshot(self, log: StateLog, whole: bytes) -> StateLog:
        if self._first.exists() and not self._died.exists():
            self._died.touch()
            self._values.updateValue((_PIECES,), ("", None, whole[: len(whole) // 2]))
            os.kill(os.getpid(), signal.SIGKILL)
        self._first.touch()
        return super().write_snapshot(log, whole)


def _dying(stage: type[Any], deaths: Path) -> type[Any]:
    """A stage whose workers die; it has the name of the other, by which checkpoints know it."""

    def init(self: Any, handle: Any) -> None:
        stage.init(self, handle)
        self._store = _DyingStore(self._store, self.name, deaths)

    return type(stage.__name__, (stage,), {"init": init, "__module__": __name__})


@pytest.mark.parametrize(
    ("text", "partitions", "stages"),
    [(JOIN, 2, 3), (DECLARED, 1, 1)],
    ids=["join", "declared streams"],
)
def test_a_worker_lost_while_a_snapshot_is_written(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    text: str, partitions: int, stages: int,
) -> None:  # fmt: skip
    feed = write_feed(tmp_path / "feed", 200, keyed=True)
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    for name in ("DirectStage", "LaterStage", "LastStage"):
        monkeypatch.setattr(spread, name, _dying(getattr(spread, name), deaths))
    monkeypatch.setattr(changes, "Hosting", _dying(Hosting, deaths))
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        left = Left(
            spark, text, credit=feed, partitions=partitions, snapshot_every=1, max_per_batch=MOST,
            checkpoint=tmp_path / "kept",
        )  # fmt: skip
        assert left.ended() == list(query(text).run(credit=feed).lines())
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert left.changes == ticked(feed, text)
    assert len(list(deaths.glob("* died"))) == stages
    kept = stored(spark, tmp_path / "kept", last_batch(tmp_path / "kept", "commits"))
    logs = [one.log() for one in kept.values()]
    assert len(logs) >= stages
    assert any(log is not None and log.pieces > 0 and log.first > 3 for log in logs)
