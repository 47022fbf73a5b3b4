"""Kernels for the other kind of machine: its object code, and nothing that only ours has."""

from __future__ import annotations

import platform
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from xstreamcast.kernels.ahead import building, stamps
from xstreamcast.kernels.ahead.building import CannotBuildError, targets
from xstreamcast.kernels.ahead.compiling import Target, _aimed

pytestmark = pytest.mark.skipif(not stamps.levels(), reason="no library is made for this machine")

HERE = platform.machine()
OTHER = {"x86_64": "aarch64", "aarch64": "x86_64"}.get(HERE, "")
ELF_MACHINE = {"x86_64": 62, "aarch64": 183}

COMPILE = """
import sys
from pathlib import Path
from xstreamcast.kernels.ahead.compiling import Target, compile_kernel, prepare
from xstreamcast.kernels.ahead.finding import called_kernels

target = Target(sys.argv[1], sys.argv[2])
prepare(target)
(kernel,) = [one for one in called_kernels() if one.name == sys.argv[3]]
compiled = compile_kernel(kernel, target, "one", Path(sys.argv[4]))
sys.exit(compiled.problem)
"""


@pytest.mark.parametrize("kernel", ["owners", "chained"])
def test_a_kernel_is_compiled_for_the_other_machine(kernel: str, tmp_path: Path) -> None:
    level, made = list(stamps.LEVELS[OTHER])[-1], tmp_path / "one.o"
    words = [OTHER, level, kernel, str(made)]
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, *words], capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    header = made.read_bytes()[:20]
    assert header[:4] == b"\x7fELF"
    assert struct.unpack_from("<H", header, 18)[0] == ELF_MACHINE[OTHER]


@pytest.mark.skipif(HERE != "x86_64", reason="what x86 makes of reference counts")
def test_reference_counts_are_those_of_any_machine() -> None:
    """LLVM has an instruction of x86 for a count that reaches zero; the other has none."""
    ours = (
        'target datalayout = "e-m:e"\ntarget triple = "x86_64-unknown-linux-gnu"\n'
        "  %a = tail call i8 @llvm.x86.atomic.sub.cc.i64(ptr nonnull %b, i64 1, i32 4)\n"
        'attributes #0 = { "target-cpu"="x86-64" nounwind }\n'
    )

    class Machine:
        target_data = "e-i64"

    theirs = _aimed(ours, Target("aarch64", "generic"), Machine)
    assert "x86" not in theirs
    assert re.search(r"%a = tail call i8 @xsc_release\(ptr nonnull %b, i64 1\)", theirs)
    assert 'target datalayout = "e-i64"' in theirs
    assert 'target triple = "aarch64-unknown-linux-gnu"' in theirs
    assert _aimed(ours, Target(HERE, "x86-64"), Machine) == ours


def test_which_libraries_are_built() -> None:
    assert targets(every=False) == [Target(HERE, stamps.levels()[0])]
    assert targets(every=True) == targets(True, HERE)
    assert [one.level for one in targets(True, HERE)] == list(stamps.LEVELS[HERE])
    assert [one.level for one in targets(False, OTHER)] == list(stamps.LEVELS[OTHER])
    with pytest.raises(CannotBuildError, match="no library is made for vax"):
        targets(False, "vax")


def test_without_its_linker_nothing_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(CannotBuildError, match=f"no linker for {OTHER} .*{OTHER}-linux-gnu-ld"):
        building._link([], tmp_path / "none.so", OTHER)
