"""Spark, started inside this process with settings that suit us, or one that is given."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.errors import error
from xstreamcast.spark.failing import failure
from xstreamcast.spark.home import spark_home
from xstreamcast.spark.java import Launch, cache_folder, find_java, prepared
from xstreamcast.spark.master import check_master, is_here, is_local
from xstreamcast.spark.muffled import Muffled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What goes wrong reaches us as an exception; a log would report it a second time.
_LOGGING: Final = """\
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark: %p %c{{1}}: %m%n
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = {level}
"""

_STATE: Final = "org.apache.spark.sql.execution.streaming"
OURS: Final = "spark.xstreamcast.started"  # by us, so that its streams are ours too
_SETTINGS: Final[Mapping[str, str]] = {
    OURS: "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # Hadoop's usual manager of local files starts a process for each: three times the latency.
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{_STATE}.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.stateStore.providerClass": (f"{_STATE}.state.RocksDBStateStoreProvider"),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
}
# A stack of 8 MB: stopping a query inside a batch overflows the usual one.
_JAVA: Final = ("-Xss8m",)
_TRIES: Final = 3
_QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def session(
    master: str | None = None,
    given: SparkSession | None = None,
    *,
    cores: int | None = None,
    memory: str = "2g",
    quick: bool = False,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """The session to work with.

    given → itself; sc://… → a Spark Connect client; another master → a driver of that cluster;
    nothing → Spark in local mode, in this process's own JVM. `quick`: Java compiles less, so it
    starts sooner and computes slower. For what is over soon; and for queries that are left running,
    where compilers took more processor time than all else that Java did.
    """
    if given is not None:
        return given
    builder = _spark().builder.appName("xstreamcast")
    if master is not None:
        check_master(master)
    if master is not None and master.startswith("sc://"):
        return _connected(builder, master)
    many = cores or os.cpu_count() or 1
    launch = prepared(find_java(), cache_folder())
    conf = {**_SETTINGS, **_local(many if is_local(master) else None, memory), **(settings or {})}
    options = (*_JAVA, *(_QUICK if quick else ()), *launch.options, *_logging())
    conf["spark.driver.extraJavaOptions"] = " ".join(options)
    for name, value in conf.items():
        builder = builder.config(name, value)
    # A task whose worker was killed is tried again, as it would be on a cluster.
    return _started(
        builder.master(master or f"local[{many},{_TRIES}]"), launch, _environment(master)
    )


def _connected(builder: Any, address: str) -> SparkSession:
    """A client of a Spark Connect server."""
    try:
        found: SparkSession = builder.remote(address).getOrCreate()
    except ImportError as missing:
        said = str(missing).splitlines()[0]
        raise error("XSCU0006", said, hint="pip install 'pyspark[connect]'") from None
    except Exception as stopped:
        raise failure(stopped) from None
    return found


def _environment(master: str | None) -> dict[str, str]:
    """What Spark has to find while it starts.

    A cluster's workers use the Python that its settings name, else the one that runs this.
    """
    chosen = "" if is_local(master) else os.environ.get("PYSPARK_PYTHON", "")
    found = {"PYSPARK_PYTHON": chosen or sys.executable}
    found |= {"SPARK_LOCAL_IP": "127.0.0.1"} if is_here(master) else {}
    home = spark_home(cache_folder())
    return found if home is None else {**found, "SPARK_HOME": str(home)}


def _local(cores: int | None, memory: str) -> dict[str, str]:
    """Settings of a Spark that has this machine alone."""
    if cores is None:
        return {}
    return {
        "spark.sql.shuffle.partitions": str(cores),
        "spark.default.parallelism": str(cores),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.python.daemon.module": "xstreamcast.spark.daemon",
        "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
        "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    }


def _started(builder: Any, launch: Launch, environment: Mapping[str, str]) -> SparkSession:
    """The session of a builder; the environment is ours only while Java starts."""
    if launch.recording:
        sys.stderr.write("spark: classes are archived when this ends; the next start is faster\n")
    ours = {
        "JAVA_HOME": str(launch.home),
        "SPARK_LAUNCHER_OPTS": " ".join(_QUICK),
        **environment,
    }
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    said = Muffled()
    try:
        with said:
            found: SparkSession = builder.getOrCreate()
    except Exception as stopped:
        raise failure(stopped, said.text) from None
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return found


def _logging() -> tuple[str, ...]:
    """What Spark logs: nothing, or from the level on that XSTREAMCAST_SPARK_LOG names."""
    level = os.environ.get("XSTREAMCAST_SPARK_LOG", "off").lower()
    path = cache_folder() / f"log4j2-{level}.properties"
    text = _LOGGING.format(level=level)
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = Path(f"{path}.{os.getpid()}")
        part.write_text(text)
        part.replace(path)
    return (f"-Dlog4j2.configurationFile={path.as_uri()}",)


def _spark() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise error(
            "XSCU0006", "Spark is not installed", hint="pip install 'xstreamcast[spark]'"
        ) from None
    return SparkSession
