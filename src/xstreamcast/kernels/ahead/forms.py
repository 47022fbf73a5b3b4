"""The form of a kernel's arguments, read from its annotations: what the library can be given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number or a truth value, by its numpy name."""

    name: str


@dataclass(frozen=True, slots=True)
class Array:
    """A contiguous array: `NDArray[…]` of one dimension, `Annotated[NDArray[…], n]` of n,
    `Annotated[Any, dtype]` of records.
    """

    dtype: Any  # numpy.dtype
    dimensions: int = 1


@dataclass(frozen=True, slots=True)
class Record:
    """A named tuple of arrays and scalars."""

    of: type
    fields: tuple[Form, ...]


Form: TypeAlias = Scalar | Array | Record

_SCALARS = {int: "int64", bool: "bool", float: "float64"}


class NoFormError(Exception):
    """An annotation that does not say how the argument is laid out."""


def parameter_forms(function: Callable[..., Any]) -> tuple[Form, ...]:
    """The forms of all parameters, in order."""
    hints = _hints(function)
    count = function.__code__.co_argcount
    names = function.__code__.co_varnames[:count]
    try:
        return tuple(form_of(hints[name]) for name in names)
    except KeyError as missing:
        raise NoFormError(f"parameter {missing.args[0]} has no annotation") from None


def form_of(hint: Any) -> Form:
    """The form that one annotation asks for."""
    if hint in _SCALARS:
        return Scalar(_SCALARS[hint])
    if get_origin(hint) is np.ndarray:
        return Array(np.dtype(get_args(get_args(hint)[1])[0]))
    if get_origin(hint) is Annotated:
        return _annotated(*get_args(hint)[:2])
    if isinstance(hint, type) and issubclass(hint, np.generic):
        return Scalar(np.dtype(hint).name)
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        hints = _hints(hint)
        return Record(hint, tuple(form_of(hints[name]) for name in hint._fields))
    raise NoFormError(f"{hint} says nothing about the layout of an argument")


def _annotated(hint: Any, said: Any) -> Form:
    if isinstance(said, np.dtype):
        return Array(said)
    form = form_of(hint)
    if isinstance(form, Array) and isinstance(said, int):
        return Array(form.dtype, said)
    raise NoFormError(f"{said!r} says nothing about the layout of an argument")


def _hints(of: Any) -> dict[str, Any]:
    try:
        return get_type_hints(of, include_extras=True)
    except NameError as unknown:
        raise NoFormError(f"an annotation of {of.__name__} cannot be read: {unknown}") from None
