"""What Spark's helpers print is for those who work on Spark."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OURS = "xstreamcast.spark.daemon"


def quieten(spark: SparkSession) -> None:
    """From now on the JVM that we started writes nothing on stderr; errors reach us all the same.

    Every start of a stateful query prints a page of it, whatever is logged.
    """
    ours = spark.conf.get("spark.python.daemon.module", "") == _OURS
    if ours and "XSTREAMCAST_SPARK_LOG" not in os.environ:
        java = spark._jvm.java  # type: ignore[union-attr]
        java.lang.System.setErr(java.io.PrintStream(java.io.OutputStream.nullOutputStream()))
