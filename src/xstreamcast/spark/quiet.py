"""What Spark's helpers print is for those who work on Spark."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from xstreamcast.spark.session import OURS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def quieten(spark: SparkSession) -> None:
    """From now on the JVM that we started writes nothing on stderr; errors reach us all the same.

    Every start of a stateful query prints a page of it, whatever is logged.
    """
    gateway = getattr(spark, "_jvm", None)  # a client of Spark Connect has none
    if gateway is None or spark.conf.get(OURS, "") != "true":
        return
    if "XSTREAMCAST_SPARK_LOG" not in os.environ:
        java = gateway.java
        java.lang.System.setErr(java.io.PrintStream(java.io.OutputStream.nullOutputStream()))
