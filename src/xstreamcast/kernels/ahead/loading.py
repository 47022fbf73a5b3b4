"""The library of kernels at run time: found, checked, and its functions handed out.

Imports neither numba nor LLVM. A kernel is taken only if every file it was made from is as it was;
the others of the same library may still be good. Whatever does not fit is compiled by numba.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from xstreamcast.kernels.ahead.stamps import FOLDER, FORMAT, PACKAGE, digest, levels, manifest_path

_FASTCALL = 0x80
_NEW_ARRAY, _SET_BASE = 94, 282  # in numpy's table of functions


class _Definition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Library(NamedTuple):
    """An open library and what its manifest says."""

    opened: ctypes.CDLL
    manifest: dict[str, Any]


def compiled_ahead(function: FunctionType) -> Any:
    """The compiled form of a kernel as a function of Python; None if no library fits it."""
    library = _library()
    if library is None:
        return None
    name = f"{function.__module__}.{function.__name__}"
    row = library.manifest["kernels"].get(name)
    if row is None or not all(_unchanged(file) for file in row["files"]):
        return None
    return _function(library.opened, row, name)


@cache
def _library() -> _Library | None:
    """The best library that this machine can run, if there is one."""
    if os.environ.get("XSC_BOUNDSCHECK") == "1" or os.environ.get("XSC_KERNELS") == "numba":
        return None
    for level in levels():
        manifest = read_manifest(level)
        if manifest is not None:
            try:
                return _Library(ctypes.PyDLL(str(FOLDER / manifest["library"])), manifest)
            except OSError as refused:
                sys.stderr.write(f"kernels compiled ahead cannot be loaded: {refused}\n")
    return None


def read_manifest(level: str) -> dict[str, Any] | None:
    """What is said about the library of a level; None without one that we understand."""
    try:
        manifest: dict[str, Any] = json.loads(manifest_path(level).read_text("utf-8"))
    except (FileNotFoundError, ValueError):  # none was built, or building was interrupted
        return None
    return manifest if manifest.get("format") == FORMAT else None


@cache
def _unchanged(name: str) -> bool:
    """Whether a file is what the library was made from."""
    library = _library()
    path = PACKAGE / name
    return (
        library is not None and path.is_file() and (digest(path) == library.manifest["files"][name])
    )


def _function(library: ctypes.CDLL, row: dict[str, Any], name: str) -> Any:
    symbol, slots = row["symbol"], row["slots"]
    table = (ctypes.c_void_p * len(slots)).in_dll(library, f"xsc_slots_{symbol}")
    for place, words in enumerate(slots):
        table[place] = _address(*words)
    address = ctypes.cast(library[f"xsc_{symbol}"], ctypes.c_void_p).value
    definition = _Definition(name.encode(), address, _FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = (
        ctypes.py_object,
        (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p),
    )
    _keep(definition)
    return make(ctypes.addressof(definition), None, None)


def _keep(held: object) -> None:
    """Never free what a library points to: functions made of it outlive all modules at exit."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))


def _address(what: str, *of: str) -> int:
    """The address of what a slot is for."""
    match what:
        case "ndarray":
            return id(np.ndarray)
        case "bool":
            return id(np.bool_)
        case "scalar":
            return id(np.dtype(of[0]).type)
        case "failed":
            return id(_failed)
        case "new array":
            return _numpy_function(_NEW_ARRAY)
        case "set base":
            return _numpy_function(_SET_BASE)
    held = _dtype(of) if what == "dtype" else _class(*of[0].split(":"))
    _keep(held)
    return id(held)


def _dtype(of: tuple[str, ...]) -> Any:
    if len(of) == 1 and ":" not in of[0]:
        return np.dtype(of[0])
    fields = [(name, kind) for name, _, kind in (one.partition(":") for one in of)]
    return np.dtype(fields)


def _class(module: str, name: str) -> Any:
    return getattr(sys.modules[module], name)


def _numpy_function(number: int) -> int:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    from numpy._core import multiarray

    table = pointer(multiarray._ARRAY_API, None)
    return int(ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[number] or 0)


def _failed(code: int, address: int, size: int) -> None:
    """Raise what a kernel raised: numba put the error next to its code."""
    if not address:
        raise SystemError(f"a kernel ended with status {code}")
    import pickle

    raised, arguments, _ = pickle.loads(ctypes.string_at(address, size))
    raise raised(*arguments)


def described(value: Any) -> str:
    """The form of an argument, to find one that does not fit."""
    match value:
        case np.ndarray():
            odd = [name for name in ("c_contiguous", "writeable") if not getattr(value.flags, name)]
            return f"{value.dtype}[{value.ndim}d{''.join(f', not {name}' for name in odd)}]"
        case tuple():
            return f"{type(value).__name__}({', '.join(map(described, value))})"
        case _:
            return type(value).__name__
