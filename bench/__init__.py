"""Generated documents, peers and measurements; `data` gives a document, made once and kept."""

import os
from pathlib import Path

# Raise when any generator's output changes: cached documents of an older one are not taken for it.
GENERATOR = 2
# With this seed every published query has an answer on documents from factor 0.01 up.
SEED = 22


def data(kind: str, factor: float = 1.0, seed: int = SEED) -> Path:
    """The generated document of that kind, from the cache folder if it is there already."""
    from bench.generate import write

    path = cache_folder() / f"{kind}-{factor:g}-{seed}-v{GENERATOR}.xml"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written beside and renamed, so that an interrupted run leaves no half document.
        unfinished = path.with_suffix(f".{os.getpid()}.part")
        try:
            with unfinished.open("wb") as sink:
                write(kind, factor, seed, sink)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    return path


def cache_folder() -> Path:
    """$XSC_BENCH_DATA, or a folder of ours in the user's cache."""
    if own := os.environ.get("XSC_BENCH_DATA"):
        return Path(own)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "xstreamcast" / "bench"
