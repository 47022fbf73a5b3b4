"""What goes wrong inside Spark, as an error that says what happened and to what."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from xstreamcast.errors import CODES, Error, error

_AGAIN: Final = "free space and start it again: it continues where it stopped"
_LITTLE: Final = 1 << 20  # bytes: a disk that has less is full
_TRACE: Final = "run it again with --debug for the trace"
_AGAIN_SOON: Final = "if memory ran out, give it more; started again, it continues"
_PLAN: Final = "=== Streaming Query ==="
_DAMAGED: Final = re.compile(
    r"Checksum error: .*|MISSING_STATE_DIRECTORY|CANNOT_LOAD_STATE_STORE.*"
    r"|(?i:malformed log file).*"
)
_CRASHED: Final = re.compile(
    r"Python worker exited unexpectedly|PYTHON_WORKER_EXITED|worker exited unexpectedly \(crashed\)"
)
_OURS: Final = re.compile(r"xstreamcast\.errors\.\w+: (\w+): (.+)")
_FULL: Final = re.compile(r"No space left on device|Disk quota exceeded|File too large")
_PATH: Final = re.compile(r"(?:file:)?(/[^\s:'\"(),;\]]+)")
# `[CLASS] text SQLSTATE: …`, `java.io.Some: text` and the like: the text alone
_CLASS: Final = re.compile(
    r'^(?:Caused by: |: |Exception in thread "[^"]*" )?(?:[a-z]\w*(?:\.[\w$]+)+: )*'
    r"(?:\[[A-Z_.0-9]+\] )?"
)
_STATE: Final = re.compile(r" ?SQLSTATE: \w+\s*$")


def failure(
    stopped: Exception, printed: str = "", writes: tuple[str | os.PathLike[str], ...] = ()
) -> Error:
    """The error for what Spark raised, and printed besides; the trace is for --debug.

    `writes`: where it writes, so that a disk that is full has a name.

    One of ours that a task raised → itself, as it would have been here.
    """
    if isinstance(stopped, Error):
        return stopped
    if "--debug" in sys.argv:
        sys.stderr.write(printed)
        raise stopped
    text = f"{_whole(stopped)}\n{printed}"
    known = _ours(text) or _full(text, writes) or _damaged(text) or _killed(text) or _gone(text)
    return known or _spark(printed or text)


def _whole(stopped: BaseException) -> str:
    """All that is said, causes included."""
    said = [str(stopped).partition(_PLAN)[0]]  # what follows is for those who work on Spark
    java = getattr(stopped, "java_exception", None)
    while java is not None:
        said.append(str(java.toString()).partition(_PLAN)[0])
        java = java.getCause()
    cause = stopped.__cause__ or stopped.__context__
    return "\n".join(said if cause is None else [*said, _whole(cause)])


def _ours(text: str) -> Error | None:
    for code, message in _OURS.findall(text):
        if code in CODES:
            return error(code, message.strip())
    return None


def _full(text: str, writes: tuple[str | os.PathLike[str], ...]) -> Error | None:
    found = _FULL.search(text)
    if found is None:
        return None
    about = [line for line in text.splitlines() if _FULL.search(line)]
    named = [one for line in about for one in _paths(line)]
    where = [os.fspath(one) for one in writes if _free(Path(one)) < _LITTLE]
    path = (where or named or ["what Spark writes"])[0]
    return error("XSCU0004", f"{path} does not fit: {found[0].lower()}", hint=_AGAIN)


def _free(path: Path) -> int:
    """Bytes that are left where something is, or would be."""
    there = next(one for one in (path.absolute(), *path.absolute().parents) if one.exists())
    return shutil.disk_usage(there).free


def _damaged(text: str) -> Error | None:
    """What Spark wrote is not what it reads."""
    found = _DAMAGED.search(text)
    if found is None:
        return None
    where = next(_paths(found[0]), None)
    return error(
        "XSCU0005", "the checkpoint is damaged" + ("" if where is None else f": {where}"),
        hint="restore it, or start with an empty folder and a new sink",
    )  # fmt: skip


def _killed(text: str) -> Error | None:
    if not _CRASHED.search(text):
        return None
    return error("XSCK0001", "a Python process that Spark had started was killed", hint=_AGAIN_SOON)


def _gone(text: str) -> Error | None:
    if "JAVA_GATEWAY_EXITED" in text:
        return None
    for line in text.splitlines():
        if "FileNotFound" in line or "No such file" in line or "PermissionError" in line:
            for path in _paths(line):
                why = "permission denied" if "Permission" in line else "it is no longer there"
                return error("XSCU0003", f"{path} cannot be read: {why}")
    return None


def _paths(line: str) -> Iterator[str]:
    return (found[1] for found in _PATH.finditer(line) if found[1].count("/") > 1)


def _spark(text: str) -> Error:
    """The innermost sentence that Spark has for it."""
    lines = [line.strip() for line in text.splitlines()]
    said = [line for line in lines if line and not line.startswith(("at ", "...", "File "))]
    named = [line for line in said if re.search(r"(Exception|Error)\b", line)]
    last = (named or said or ["it says nothing"])[-1]
    return error("XSCK0001", _STATE.sub("", _CLASS.sub("", last))[:300], hint=_TRACE)
