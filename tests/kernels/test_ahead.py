"""Kernels compiled ahead: all of them are, they give what Python gives, and nothing else fits."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from xstreamcast.kernels.ahead import finding, loading, stamps
from xstreamcast.kernels.ahead.finding import called_kernels
from xstreamcast.kernels.ahead.forms import Array, NoFormError, Record, Scalar, parameter_forms
from xstreamcast.kernels.ahead.loading import compiled_ahead, described
from xstreamcast.kernels.intern import Ids

CHECKOUT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not stamps.levels(), reason="no library is made for this machine")

I64 = npt.NDArray[np.int64]
PAIR = np.dtype([("a", np.int32), ("b", np.int64)])


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    """The library for the present sources: what changed since `make install` is compiled now."""
    if all(compiled_ahead(one.kernel.function) for one in called_kernels()):
        return
    subprocess.run([sys.executable, "-m", "xstreamcast", "kernels"], check=True, cwd=CHECKOUT)
    loading._library.cache_clear()
    loading._unchanged.cache_clear()


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True
    )


# which kernels there are


def test_every_kernel_that_python_calls_is_in_the_library() -> None:
    """Fails for a new kernel whose annotations do not say how its arguments are laid out."""
    missing = [one for one in called_kernels() if compiled_ahead(one.kernel.function) is None]
    assert not missing


def test_kernels_are_found_without_a_list_of_them() -> None:
    found = {(one.module, one.name) for one in called_kernels()}
    assert ("xstreamcast.tape.tokenize.loop", "tokenize") in found
    assert ("xstreamcast.tape.steps.axis_kernels", "along") in found
    assert (
        "xstreamcast.tape.steps.axis_kernels",
        "walk_along",
    ) not in found  # kernels alone call it


def test_finding_kernels_imports_no_compiler() -> None:
    code = (
        "import sys\n"
        "from xstreamcast.kernels.ahead.finding import called_kernels\n"
        "called_kernels()\n"
        "print('numba' in sys.modules, 'llvmlite' in sys.modules)\n"
    )
    assert run(code).stdout == "False False\n"


# what a kernel is compiled for


class Row(NamedTuple):
    numbers: I64
    pairs: Annotated[Any, PAIR]
    table: Annotated[I64, 2]
    many: int


def test_annotations_say_how_arguments_are_laid_out() -> None:
    def kernel(row: Row, flag: bool, hashed: np.uint64, ratio: float) -> None: ...

    whole = np.dtype(np.int64)
    fields = (Array(whole), Array(PAIR), Array(whole, 2), Scalar("int64"))
    assert parameter_forms(kernel) == (
        Record(Row, fields), Scalar("bool"), Scalar("uint64"), Scalar("float64"),
    )  # fmt: skip


def test_an_annotation_that_says_nothing_is_refused() -> None:
    def vague(column: Any) -> None: ...

    def silent(column) -> None: ...

    with pytest.raises(NoFormError, match="says nothing about the layout"):
        parameter_forms(vague)
    with pytest.raises(NoFormError, match="column has no annotation"):
        parameter_forms(silent)


# what it takes


@cache
def compiled_owners() -> Any:
    from xstreamcast.tape.fragments.counterpart_kernels import owners

    return compiled_ahead(owners.function)  # type: ignore[attr-defined]


def called(*arguments: Any) -> Any:
    return compiled_owners()(*arguments)


def columns(**changed: Any) -> list[Any]:
    given = {
        "kind": np.array([0, 1, 2, 1], np.uint8),
        "size": np.array([3, 2, 0, 0], np.int32),
        "element": 1,
        "mask": 7,
        "row": np.array([2, 3], np.int64),
    }
    return list((given | changed).values())


def test_arguments_of_the_right_form_are_taken() -> None:
    from xstreamcast.tape.fragments.counterpart_kernels import owners

    expected = owners.function(*columns())  # type: ignore[attr-defined]  # plain Python
    assert called(*columns()).tolist() == expected.tolist()
    assert called(*columns()).dtype == expected.dtype


def test_read_only_arrays_are_taken_where_nothing_is_written() -> None:
    frozen = np.array([2, 3], np.int64)
    frozen.flags.writeable = False
    assert called(*columns(row=frozen)).tolist() == called(*columns()).tolist()


@pytest.mark.parametrize(
    "changed",
    [
        {"row": np.array([2, 3], np.int32)},
        {"row": np.array([2, 3], np.float64)},
        {"row": np.array([2, 0, 3, 0], np.int64)[::2]},
        {"row": np.array([[2, 3]], np.int64)},
        {"row": np.array([2, 3], ">i8")},
        {"row": [2, 3]},
        {"row": None},
        {"kind": np.array([0, 1, 2, 1], np.int8)},
        {"element": 1.0},
        {"element": True},
        {"element": 2**70},
        {"element": "1"},
    ],
    ids=str,
)
def test_arguments_of_another_form_are_left_to_numba(changed: dict[str, Any]) -> None:
    assert called(*columns(**changed)) is NotImplemented


def test_a_wrong_number_of_arguments_is_left_to_numba() -> None:
    assert called() is NotImplemented
    assert called(*columns(), 1) is NotImplemented


def test_a_read_only_array_is_not_written_to() -> None:
    """A kernel that writes gets no array that must not change: numba refuses it in words."""
    from xstreamcast.tape.tokenize.lexicon import rename

    function = compiled_ahead(rename.function)
    names, ids = np.array([0, 1], np.int32), np.array([5, 6, 7], np.int32)
    assert function(names, ids) is None
    assert names.tolist() == [5, 6]
    names.flags.writeable = False
    assert function(names, ids) is NotImplemented


def test_integers_of_numpy_are_integers() -> None:
    for kind in (np.int64, np.int32, np.uint8):
        assert called(*columns(element=kind(1))).tolist() == called(*columns()).tolist()


def test_a_dtype_that_was_pickled_is_the_same_dtype() -> None:
    import pickle

    copied = pickle.loads(pickle.dumps(np.array([2, 3], np.int64)))
    assert called(*columns(row=copied)).tolist() == called(*columns()).tolist()


def test_an_answer_keeps_its_memory_and_gives_it_back() -> None:
    answers = [called(*columns()) for _ in range(1000)]
    gc.collect()
    assert all(one.tolist() == answers[0].tolist() for one in answers)
    assert answers[0].base is not None
    before = resident()
    for _ in range(200_000):
        called(*columns(row=np.zeros(8, np.int64)))
    assert resident() - before < 20_000_000


def resident() -> int:
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def test_arguments_are_not_kept() -> None:
    row = np.array([2, 3], np.int64)
    before = sys.getrefcount(row)
    for _ in range(10):
        called(*columns(row=row))
    assert sys.getrefcount(row) == before


def test_an_error_in_a_kernel_is_raised_as_it_is() -> None:
    code = """
import numpy as np
from xstreamcast.kernels.ahead.loading import _failed
import pickle, ctypes
said = pickle.dumps((IndexError, ("a payload does not fit",), None))
kept = ctypes.create_string_buffer(said, len(said))
try:
    _failed(1, ctypes.addressof(kept), len(said))
except IndexError as error:
    print(error)
"""
    assert run(code).stdout == "a payload does not fit\n"


# when it is not used

WITHOUT = """
import sys
from xstreamcast.kernels.intern import Ids
print(Ids().code("a"), "numba" in sys.modules)
"""


def test_a_kernel_runs_without_numba() -> None:
    assert run(WITHOUT).stdout == "0 False\n"


def test_the_library_is_left_alone_where_bounds_are_checked_or_numba_is_asked_for() -> None:
    assert run(WITHOUT, XSC_BOUNDSCHECK="1").stdout == "0 True\n"
    assert run(WITHOUT, XSC_KERNELS="numba").stdout == "0 True\n"


def test_a_source_that_changed_leaves_its_kernels_to_numba(monkeypatch: Any) -> None:
    ids = Ids()
    ids.code("a")
    from xstreamcast.kernels import intern

    function = intern._intern.function  # type: ignore[attr-defined]
    assert compiled_ahead(function) is not None
    library = loading._library()
    assert library is not None
    files = dict(library.manifest["files"])
    files["kernels/intern.py"] = "another"
    monkeypatch.setitem(library.manifest, "files", files)
    loading._unchanged.cache_clear()
    try:
        assert compiled_ahead(function) is None
        other = next(k for k in called_kernels() if k.module == "xstreamcast.kernels.acyclic")
        assert compiled_ahead(other.kernel.function) is not None
    finally:
        loading._unchanged.cache_clear()


def test_a_library_that_cannot_be_loaded_is_said_and_left(monkeypatch: Any, capsys: Any) -> None:
    real = loading.read_manifest

    def broken(level: str) -> Any:
        return {**(real(level) or {}), "library": "nowhere.so"}

    monkeypatch.setattr(loading, "read_manifest", broken)
    loading._library.cache_clear()
    try:
        assert loading._library() is None
        assert "kernels compiled ahead cannot be loaded" in capsys.readouterr().err
    finally:
        loading._library.cache_clear()


def test_a_manifest_of_another_format_is_left(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(loading, "manifest_path", lambda level: tmp_path / "manifest.json")
    assert loading.read_manifest("x") is None
    (tmp_path / "manifest.json").write_text('{"format": 0}')
    assert loading.read_manifest("x") is None
    (tmp_path / "manifest.json").write_text('{"for')
    assert loading.read_manifest("x") is None


def test_a_processor_without_avx2_gets_the_level_below(monkeypatch: Any) -> None:
    monkeypatch.setattr(stamps, "_flags", lambda: frozenset({"sse2"}))
    monkeypatch.setattr(os, "uname", lambda: Machine("x86_64"))
    assert stamps.levels() == ["x86-64"]
    monkeypatch.setattr(stamps, "_flags", lambda: stamps._V3)
    assert stamps.levels() == ["x86-64-v3", "x86-64"]
    monkeypatch.setattr(os, "uname", lambda: Machine("riscv64"))
    assert stamps.levels() == []


class Machine(NamedTuple):
    machine: str


def test_files_of_a_kernel_are_those_it_is_made_from() -> None:
    files = {
        path.name for path in finding.sources(CHECKOUT / "src/xstreamcast/tape/tokenize/loop.py")
    }
    assert {"loop.py", "words.py", "load_bytes.py", "compiled.py"} <= files
    assert "axis_kernels.py" not in files


def test_a_form_is_described_for_whoever_looks_for_the_one_that_misses() -> None:
    assert described((np.zeros(4, np.int8)[::2], 1)) == "tuple(int8[1d, not c_contiguous], int)"


# the law: the library, numba and Python give the same


def test_commands_need_no_numba(tmp_path: Path) -> None:
    """A broad piece of work with numba forbidden: a kernel called in another form is an error."""
    code = f"""
import sys
sys.path.insert(0, {str(CHECKOUT)!r})
from tests.kernels.ahead_work import work
work({str(tmp_path)!r})
assert "numba" not in sys.modules
"""
    done = run(code, XSC_KERNELS="ahead")
    assert done.returncode == 0, done.stderr[-3000:]
