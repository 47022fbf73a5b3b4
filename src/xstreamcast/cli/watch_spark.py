"""What `xstreamcast watch --runner spark` adds to the command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.errors import error

if TYPE_CHECKING:
    from xstreamcast.api import Query
    from xstreamcast.edges.watching import WatchOptions
    from xstreamcast.spark.watching.run import SparkWatching


def add_spark_arguments(parser: Parser) -> None:
    """Where a query runs, and what Spark has to know."""
    parser.add_argument(
        "--runner", choices=("local", "spark"), default="local",
        help="this process, or a streaming query on Spark (default: local)",
    )  # fmt: skip
    parser.add_argument("--master", metavar="URL", help="a Spark cluster; default: in this process")
    parser.add_argument(
        "--max-per-batch",
        type=int,
        metavar="N",
        help="on Spark: maximum number of fragments per batch",
    )
    parser.add_argument(
        "--interval",
        default="100ms",
        metavar="D",
        help="on Spark: time between two batches (100ms)",
    )
    parser.add_argument(
        "--partitions", type=int, metavar="N",
        help="on Spark: number of tasks of each stage of a query; a checkpoint with another number "
        "is moved to it (default: that of the checkpoint, or as many as run at once)",
    )  # fmt: skip


def on_spark(
    compiled: Query,
    document: Any,
    inputs: Mapping[str, Any],
    options: WatchOptions,
    arguments: Parsed,
) -> SparkWatching:
    """The query on Spark, over the same inputs."""
    from xstreamcast.edges.durations import micros
    from xstreamcast.spark.session import session

    spark = session(arguments.master, quick=True)  # Java does little: most of it is in Python
    from xstreamcast.spark.query import bound_programs
    from xstreamcast.spark.watching.run import SparkWatching, watchings

    bound = bound_programs(compiled.telling(options.tell), document, inputs)
    interval = f"{(micros(arguments.interval) or 0) // 1000} milliseconds"
    made = watchings({"query": bound}, options)
    many = arguments.partitions
    if many is not None and many < 1:
        raise error("XSCU0001", f"there must be at least one partition, not {many}")
    return SparkWatching(spark, made, options, arguments.max_per_batch, interval, many)
