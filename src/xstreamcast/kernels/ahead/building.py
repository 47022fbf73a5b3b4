"""All kernels as one library: compiled two at a time, linked, and described by a manifest.

An object file is kept under the stamp of all that it was made from, so that a change of one file
compiles only the kernels that it is part of.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from xstreamcast.kernels.ahead.compiling import Compiled, Target, compile_kernel, prepare
from xstreamcast.kernels.ahead.finding import Called, called_kernels, sources
from xstreamcast.kernels.ahead.stamps import (
    FOLDER,
    FORMAT,
    LEVELS,
    PACKAGE,
    digest,
    levels,
    manifest_path,
)

AT_A_TIME = 2
# What object code depends on, of ours.
_MAKERS = ("forms", "only_read", "wrapping", "runtime", "compiling")
_LINKERS = (
    ("cc", "-shared", "-nostdlib"),
    ("gcc", "-shared", "-nostdlib"),
    ("clang", "-shared", "-nostdlib"),
    ("ld", "-shared"),
    ("ld.lld", "-shared"),
)
# Linkers for the objects of another machine.
_CROSS_LINKERS = (("{}-linux-gnu-ld", "-shared"), ("ld.lld", "-shared"))

Said = Callable[[int, int], None]  # how many of how many are done


class CannotBuildError(Exception):
    """No library can be made here; the kernels are compiled when they are first called."""


@dataclass(frozen=True, slots=True)
class Built:
    """What building came to."""

    target: Target
    compiled: int
    kept: int
    problems: tuple[Compiled, ...]


def targets(every: bool, machine: str | None = None) -> list[Target]:
    """The best level for this machine, or all that its kind has, or all of another machine."""
    if not levels():
        raise CannotBuildError(f"no library is made for {platform.system()} {platform.machine()}")
    if machine is not None and machine not in LEVELS:
        raise CannotBuildError(f"no library is made for {machine}")
    here = platform.machine()
    if machine is None or machine == here:
        return [Target(here, level) for level in (LEVELS[here] if every else levels()[:1])]
    return [Target(machine, level) for level in LEVELS[machine]]


def build(target: Target, said: Said) -> Built:
    """Compile what is new or has changed, link it all, and write down what is in it."""
    kernels = called_kernels()
    objects = FOLDER / f"objects-{target.machine}-{target.level}"
    objects.mkdir(parents=True, exist_ok=True)
    stamps = {one: _stamp(one, target) for one in kernels}
    kept = {one: found for one in kernels if (found := _kept(objects / stamps[one], one))}
    made = dict(kept)
    said(len(made), len(kernels))
    for compiled in _compile([k for k in kernels if k not in kept], target, objects, stamps):
        made[compiled.kernel] = compiled
        said(len(made), len(kernels))
    good = [made[one] for one in kernels if made[one].problem is None]
    _publish(target, good, [objects / f"{stamps[one.kernel]}.o" for one in good])
    _sweep(objects, set(stamps.values()))
    problems = tuple(one for one in made.values() if one.problem is not None)
    return Built(target, len(kernels) - len(kept), len(kept), problems)


def _compile(
    kernels: list[Called], target: Target, objects: Path, stamps: dict[Called, str]
) -> Iterator[Compiled]:
    if not kernels:
        return
    workers = min(AT_A_TIME, len(kernels))
    with ProcessPoolExecutor(workers, get_context("spawn"), prepare, (target,)) as pool:
        largest_first = sorted(
            kernels, key=lambda k: -sum(p.stat().st_size for p in sources(k.path))
        )
        futures = [
            pool.submit(compile_kernel, one, target, _symbol(one), objects / f"{stamps[one]}.o")
            for one in largest_first
        ]
        for future in as_completed(futures):
            compiled = future.result()
            described = json.dumps({"slots": compiled.slots, "problem": compiled.problem})
            (objects / f"{stamps[compiled.kernel]}.json").write_text(described, "utf-8")
            yield compiled


def _size(kernel: Called) -> int:
    """How much there is to compile, roughly."""
    return sum(path.stat().st_size for path in sources(kernel.path))


def _kept(path: Path, kernel: Called) -> Compiled | None:
    """What an earlier build made from the same sources."""
    described = path.with_suffix(".json")
    if not described.is_file():
        return None
    row = json.loads(described.read_text("utf-8"))
    if row["problem"] is None and not path.with_suffix(".o").is_file():
        return None
    return Compiled(kernel, row["slots"], row["problem"])


def _publish(target: Target, kernels: list[Compiled], objects: list[Path]) -> None:
    """Write the library, then the manifest that names it: readers see both or neither."""
    scratch = FOLDER / f"{os.getpid()}.so"
    _link(objects, scratch, target.machine)
    name = f"{target.machine}-{target.level}-{digest(scratch)[:12]}.so"
    scratch.replace(FOLDER / name)
    files = {path for one in kernels for path in sources(one.kernel.path)}
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "library": name,
        "level": target.level,
        "made with": {one: version(one) for one in ("numba", "llvmlite", "numpy")},
        "files": {_relative(path): digest(path) for path in sorted(files)},
        "kernels": {f"{k.kernel.module}.{k.kernel.name}": _row(k) for k in kernels},
    }
    new = FOLDER / f"{os.getpid()}.json"
    new.write_text(json.dumps(manifest), "utf-8")
    new.replace(manifest_path(target.level, target.machine))
    for old in FOLDER.glob(f"{target.machine}-{target.level}-????????????.so"):
        if old.name != name:
            old.unlink()


def _row(compiled: Compiled) -> dict[str, Any]:
    files = sorted(_relative(path) for path in sources(compiled.kernel.path))
    return {"symbol": _symbol(compiled.kernel), "slots": compiled.slots, "files": files}


def _link(objects: list[Path], target: Path, machine: str) -> None:
    linkers = _LINKERS if machine == platform.machine() else _CROSS_LINKERS
    for known, *options in linkers:
        name = known.format(machine)
        if shutil.which(name):
            command = [name, *options, "-o", str(target), *map(str, objects)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise CannotBuildError(f"{name} could not link them: {done.stderr.strip()}")
            return
    wanted = " or ".join(known.format(machine) for known, *_ in linkers)
    raise CannotBuildError(f"no linker for {machine} ({wanted}) was found")


def _sweep(objects: Path, used: set[str]) -> None:
    for path in objects.iterdir():
        if path.stem not in used:
            path.unlink()


def _stamp(kernel: Called, target: Target) -> str:
    """Everything that the object code of a kernel depends on, in short."""
    known = [
        target.level,
        target.machine,
        str(FORMAT),
        _symbol(kernel),
        version("numba"),
        version("llvmlite"),
    ]
    makers = [Path(__file__).with_name(f"{name}.py") for name in _MAKERS]
    known += [digest(path) for path in (*sorted(sources(kernel.path)), *makers)]
    return blake2b("\n".join(known).encode(), digest_size=12).hexdigest()


def _symbol(kernel: Called) -> str:
    return f"{kernel.module}.{kernel.name}".removeprefix("xstreamcast.").replace(".", "_")


def _relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()
