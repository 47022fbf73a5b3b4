"""Queries asked of RumbleDB; runs in an environment of its own, where nothing of ours is needed."""

import json
import sys
import time
from typing import Any

from bench.processes import used


def main(told: dict[str, Any]) -> int:
    from jsoniq import RumbleSession  # type: ignore[import-not-found]

    builder = RumbleSession.builder.master(f"local[{told['cores']}]")
    for name, value in told["settings"].items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    for name, (small, text) in told["queries"].items():
        _say(query=name, begun=True)
        try:
            session.xquery(small).items()
            taken = [_timed(session, text) for _ in range(told["rounds"])]
        except Exception as failed:  # whatever it cannot do, and that is what is told of it
            _say(query=name, failed=_reason(failed))
            continue
        _say(
            query=name, items=taken[0][2], seconds=[one[0] for one in taken],
            processor=[one[1] for one in taken],
        )  # fmt: skip
    return 0


def _timed(session: Any, text: str) -> tuple[float, float, list[str]]:
    """Until the items are there; that each is then fetched from Java does not count."""
    before, began = used(), time.perf_counter()
    items = session.xquery(text).items()
    return time.perf_counter() - began, used() - before, [_shown(item) for item in items]


def _shown(item: Any) -> str:
    """Text as it is, everything else as XML."""
    return str(item.getStringValue() if item.isTextNode() else item.serialize())


def _reason(failed: Exception) -> str:
    """What it says itself, or the last words of Java about the kind of failure."""
    lines = [line.strip(" :\t") for line in str(failed).splitlines() if line.strip()]
    told = [line.removeprefix("Message: ") for line in lines if line.startswith("Message: ")]
    java = [line for line in lines[1:2] if lines[0].startswith("An error occurred")]
    return str([*told, *java, *lines][0][:200])


def _say(**what: Any) -> None:
    sys.stdout.write("\n" + json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
