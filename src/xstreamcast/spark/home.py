"""Spark's home as its Python workers should see it: without a second pyspark in an archive.

Spark puts `python/lib/pyspark.zip` of its home before all else; what is imported from there is
compiled again by every process that starts, which takes a second. In a home without it, workers
find the pyspark that is installed, and compiled.
"""

from __future__ import annotations

import os
import shutil
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_NEEDED: Final = ("bin", "jars", "sbin", "licenses")


def spark_home(folder: Path) -> Path | None:
    """A home of links in a folder of ours; None where pyspark is not in its usual place."""
    spec = find_spec("pyspark")
    there = None if spec is None or spec.origin is None else Path(spec.origin).parent
    if there is None or not (there / "jars").is_dir() or "SPARK_HOME" in os.environ:
        return None
    home = folder / f"spark-{version('pyspark')}"
    if (home / "jars").exists() and (home / "jars").resolve() == (there / "jars").resolve():
        return home
    part = Path(f"{home}.{os.getpid()}")
    part.mkdir(parents=True, exist_ok=True)
    for name in _NEEDED:
        if (there / name).exists():
            (part / name).symlink_to(there / name)
    shutil.rmtree(home, ignore_errors=True)
    try:
        part.replace(home)
    except OSError:  # another process was faster
        shutil.rmtree(part, ignore_errors=True)
    return home
