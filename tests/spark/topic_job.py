"""A query over a topic whose answer goes into a topic, as a program that may be killed.

python -m tests.spark.topic_job FORM SOURCE TARGET FOLDER QUERY
"""

from __future__ import annotations

import sys

from xstreamcast import query
from xstreamcast.errors import Error
from xstreamcast.spark.failing import failure
from xstreamcast.spark.query import SparkQuery
from xstreamcast.spark.session import session
from xstreamcast.spark.topics import write_changes, write_upserts

MOST = 12  # fragments of a batch


def main(form: str, source: str, target: str, folder: str, text: str) -> int:
    """Read what the topic has; 1 and a sentence if something was killed."""
    asked = query(text).spark(session(quick=True, cores=2))
    try:
        (upserted if form == "upserts" else changed)(asked, source, target, folder)
    except Error as failed:
        sys.stderr.write(failed.render() + "\n")
        return 1
    return 0


def upserted(asked: SparkQuery, source: str, target: str, folder: str) -> None:
    """The answer by key."""
    words = {"s": source, "checkpoint": folder, "partitions": 2, "max_per_batch": MOST}
    watching = asked.watching(words | {"snapshot_every": 1})
    written = watching.changes(updates=True).writeStream.foreachBatch(write_upserts(target))
    started = written.option("checkpointLocation", f"file://{folder}/spark").start()
    try:
        watching.prepared.wait(lambda: not started.isActive)
        started.processAllAvailable()
    except Exception as why:
        raise failure(why) from None
    finally:
        started.stop()


def changed(asked: SparkQuery, source: str, target: str, folder: str) -> None:
    """Each change."""
    running = asked.start(
        write_changes(target), s=source, checkpoint=folder, partitions=2, max_per_batch=MOST,
        snapshot_every=1,
    )  # fmt: skip
    running.awaitTermination()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
