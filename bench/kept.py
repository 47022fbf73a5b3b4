"""What a long measurement has found so far: an interrupted one goes on where it was."""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench import cache_folder

CHECKOUT = Path(__file__).parents[1]


class Kept:
    """Parts by name, in a folder of this source and these words; other source, other folder."""

    def __init__(self, bench: str, words: str) -> None:
        self.folder = cache_folder() / "measured" / f"{bench}-{_digest(words)}"

    def known(self, name: str) -> Any:
        """A part that was measured before, as JSON has it, or None."""
        path = self._path(name)
        return json.loads(path.read_text()) if path.exists() else None

    def keep(self, name: str, what: Any) -> Any:
        """A part that was measured now."""
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(what))
        unfinished.replace(path)
        return self.known(name)

    def part(self, name: str, measure: Callable[[], Any]) -> Any:
        """A part that was measured before, or is now."""
        found = self.known(name)
        return self.keep(name, measure()) if found is None else found

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def forget(self) -> None:
        """A run that is over is not gone on with."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _digest(words: str) -> str:
    """Of all that decides what is measured: the source here, and what was asked for."""
    told = sha256(words.encode())
    for folder in ("src", "bench"):
        for path in sorted((CHECKOUT / folder).rglob("*.py")):
            told.update(path.read_bytes())
    return told.hexdigest()[:16]
