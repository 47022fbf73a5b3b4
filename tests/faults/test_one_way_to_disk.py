"""Whatever `edges` writes goes through `edges/disk`, so that the faults of these tests reach it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import xstreamcast

EDGES = Path(xstreamcast.__file__).parent / "edges"
ELSEWHERE = {
    "transcribing.py": "completes what is there byte by byte; only Spark reads it, by length",
    "table/delta.py": "a lock, and the log that the package deltalake writes",
    "table/compacting.py": "what Spark staged and left behind",
}
CALLS = {"fsync", "replace", "rename", "link", "unlink", "truncate", "mkdir", "makedirs", "rmtree"}


def writes(path: Path) -> list[str]:
    """Calls that write: of os and shutil, of paths, and open for writing."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Attribute(value=ast.Name(id="os" | "shutil"), attr=name) if name in CALLS:
                found.append(name)
            case ast.Attribute(attr="write_bytes" | "write_text" | "touch" | "mkdir" as name):
                found.append(name)
            case ast.Name(id="open"):
                modes = [str(a.value) for a in node.args[1:2] if isinstance(a, ast.Constant)]
                found += [f"open {mode}" for mode in modes if set(mode) & set("wax+")]
    return found


@pytest.mark.parametrize("path", sorted(EDGES.rglob("*.py")), ids=lambda path: path.name)
def test_only_the_disk_room_writes(path: Path):
    name = path.relative_to(EDGES).as_posix()
    if name.startswith("disk/") or name in ELSEWHERE:
        return
    assert writes(path) == []


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_listed_does_write(name: str):
    assert writes(EDGES / name)
