"""Kernels: compiled when first called, kept on disk, announced while they are made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from xstreamcast.kernels.compiled import kernel, part


@part
def doubled(value: int) -> int:
    return value + value


@kernel
def quadrupled(value: int) -> int:
    return doubled(doubled(value))


@kernel
def factorial(value: int) -> int:
    return 1 if value < 2 else value * factorial(value - 1)


def said(code: str, cache: Path) -> tuple[str, str]:
    """stdout and stderr of a new process."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_a_kernel_calls_others_and_itself():
    assert quadrupled(3) == 12
    assert factorial(5) == 120
    assert quadrupled.__name__ == "quadrupled"


def test_compiling_is_announced_once_and_loading_is_not(tmp_path: Path):
    sample = tmp_path / "sample.py"
    sample.write_text(
        "from xstreamcast.kernels.compiled import kernel\n"
        "@kernel\ndef one(value): return value + 1\n"
        "@kernel\ndef two(value): return one(value) + 1\n"
    )
    loading = f"""
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("xstreamcast.sample", {str(sample)!r})
sample = sys.modules[spec.name] = module_from_spec(spec)
spec.loader.exec_module(sample)
print(sample.one(1), sample.two(1))
"""
    assert said(loading, tmp_path) == ("2 3\n", "compiling kernels, once…\n")
    assert said(loading, tmp_path) == ("2 3\n", "")


def test_a_kernel_whose_types_have_moved_is_compiled_again(tmp_path: Path):
    """What numba keeps names the modules of types: a kept index of other sources is not read."""
    sample = tmp_path / "sample.py"
    source = (
        "from typing import NamedTuple\nfrom xstreamcast.kernels.compiled import kernel\n"
        "class Pair(NamedTuple):\n    a: int\n    b: int\n"
        "@kernel\ndef total(pair): return pair.a + pair.b\n"
    )
    loading = f"""
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("xstreamcast.NAME", {str(sample)!r})
sample = sys.modules[spec.name] = module_from_spec(spec)
spec.loader.exec_module(sample)
print(sample.total(sample.Pair(2, 3)))
"""
    for name, lines in (("before", source), ("after", f"{source}# moved\n")):
        sample.write_text(lines)
        code = loading.replace("NAME", name)
        assert said(code, tmp_path) == ("5\n", "compiling kernels, once…\n")
        assert said(code, tmp_path) == ("5\n", "")


def test_a_kernel_that_cannot_be_kept_is_compiled_all_the_same(tmp_path: Path):
    nowhere = """
from xstreamcast.kernels.compiled import kernel
known = {"__name__": "xstreamcast.nowhere"}
exec("def successor(value): return value + 1", known)
print(kernel(known["successor"])(1))
"""
    assert said(nowhere, tmp_path) == ("2\n", "compiling kernels…\n")


def test_a_question_without_a_document_needs_no_compiler(tmp_path: Path):
    asked = """
import sys
import xstreamcast
print(list(xstreamcast.query("for $i in 1 to 3 return concat('n', $i + 1)").run()))
print("numba" in sys.modules)
"""
    assert said(asked, tmp_path) == ("['n2', 'n3', 'n4']\nFalse\n", "")
