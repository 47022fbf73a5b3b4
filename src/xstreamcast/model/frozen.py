"""Frozen slotted dataclasses whose methods are made when they are first needed.

    from xstreamcast.model.frozen import dataclass

Python's own writes and compiles six functions for each class as it is defined. Trees and plans are
made of 250 classes, most of which a query has no node of: a fifth of a second at every start. Here
a class has its fields, slots and `__match_args__` at once; `__init__` is compiled by the first call
and is then the one that Python would have made; the others are shared by all classes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **options):
        """`dataclasses.dataclass`; lazy if frozen and slotted, with no other option."""
        if cls is None:
            return lambda cls: dataclass(cls, **options)
        lazy = options.keys() <= {"frozen", "slots", "eq", "repr"}
        if not (lazy and options.get("frozen") and options.get("slots")):
            return dataclasses.dataclass(cls, **options)
        return _frozen(cls, options.get("eq", True), options.get("repr", True))


def _frozen(cls: type, eq: bool, repr: bool) -> Any:
    own = cls.__dict__.keys()
    made: Any = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=True)
    fields = dataclasses.fields(made)
    methods: dict[str, Any] = {
        "__init__": _first_call(made),
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _state,
        "__setstate__": _restore,
    }
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods |= _comparison([field.name for field in fields if field.compare])
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    if eq and "__eq__" in own and "__hash__" not in own:
        setattr(made, "__hash__", methods["__hash__"])  # noqa: B010 - a class without it so far
    return made


def _first_call(cls: Any) -> Callable[..., None]:
    """An `__init__` that puts the real one in its place."""

    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        cls.__init__ = _initializer(cls)
        cls.__init__(self, *arguments, **named)

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _initializer(cls: Any) -> Any:
    """The `__init__` of a class, compiled."""
    known: dict[str, Any] = {"_missing": dataclasses.MISSING}
    positional, named, lines = ["self"], list[str](), list[str]()
    for field in dataclasses.fields(cls):
        default, value = "", field.name
        # the slot itself: a third less than `object.__setattr__`, which has to find it
        known[f"_set_{field.name}"] = _slot(cls, field.name).__set__
        if field.default is not dataclasses.MISSING:
            known[f"_default_{field.name}"] = field.default
            default = f"=_default_{field.name}"
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_default_{field.name}"] = field.default_factory
            default = "=_missing"
            value = f"_default_{field.name}() if {value} is _missing else {value}"
        if field.init:
            (named if field.kw_only else positional).append(f"{field.name}{default}")
            lines.append(f" _set_{field.name}(self, {value})")
        elif default:
            made = f"_default_{field.name}"
            lines.append(f" _set_{field.name}(self, {made}{'()' if 'missing' in default else ''})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *named] if named else [])])
    exec(f"def __init__({parameters}):\n" + "\n".join(lines or [" pass"]), known)
    known["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    return known["__init__"]


def _slot(cls: Any, name: str) -> Any:
    """The descriptor of a field, that of a class it extends included."""
    return next(one.__dict__[name] for one in cls.__mro__ if name in one.__dict__)


def _comparison(names: list[str]) -> dict[str, Any]:
    """`__eq__` and `__hash__` by the values of the fields."""
    match names:
        case []:
            values: Callable[[Any], Any] = _no_values
        case [name]:
            values = _one_value(name)
        case _:
            values = attrgetter(*names)

    def __eq__(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _no_values(_self: Any) -> tuple[()]:
    return ()


def _one_value(name: str) -> Callable[[Any], Any]:
    get = attrgetter(name)
    return lambda self: (get(self),)


def _repr(self: Any) -> str:
    shown = (field.name for field in dataclasses.fields(self) if field.repr)
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{self.__class__.__qualname__}({values})"


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
