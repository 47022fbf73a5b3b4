"""Our lazy dataclasses behave as Python's frozen slotted ones do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from xstreamcast.model import frozen

KINDS = {"python": dataclasses.dataclass, "ours": frozen.dataclass}


def classes(make: Any) -> dict[str, Any]:
    @make(frozen=True, slots=True)
    class Plain:
        """Two fields."""

        a: int
        b: str = "b"

    @make(frozen=True, slots=True)
    class Full:
        """All that a field can be."""

        a: int
        b: list[int] = field(default_factory=list)
        hidden: int = field(default=1, compare=False, repr=False)
        named: int = field(default=2, kw_only=True)
        made: int = field(init=False, default=7)
        shared: ClassVar[int] = 3

        def __post_init__(self) -> None:
            if self.a < 0:
                raise ValueError("a must not be negative")

    @make(frozen=True, slots=True)
    class Below(Plain):
        """One more field."""

        c: int = 0

    @make(frozen=True, slots=True, eq=False)
    class Identical:
        """Equal to itself only."""

        a: int = 0

    @make(frozen=True, slots=True)
    class Empty:
        """Nothing."""

    @make(frozen=True, slots=True)
    class Own:
        """Its own words."""

        a: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    found = (Plain, Full, Below, Identical, Empty, Own)
    return {one.__name__: one for one in found}


@pytest.fixture(params=KINDS)
def made(request: pytest.FixtureRequest) -> dict[str, Any]:
    return classes(KINDS[request.param])


def test_arguments_and_defaults(made: dict[str, Any]) -> None:
    plain, full = made["Plain"](1), made["Full"](1, named=9)
    assert (plain.a, plain.b) == (1, "b")
    assert (full.a, full.b, full.hidden, full.named, full.made, full.shared) == (1, [], 1, 9, 7, 3)
    assert made["Full"](1).b is not made["Full"](1).b
    assert made["Below"](1, c=4).c == 4
    with pytest.raises(TypeError):
        made["Plain"]()
    with pytest.raises(TypeError):
        made["Full"](1, [], 1, 2)
    with pytest.raises(ValueError, match="negative"):
        made["Full"](-1)


def test_equality_and_hash(made: dict[str, Any]) -> None:
    plain, full = made["Plain"], made["Full"]
    assert plain(1) == plain(1) != plain(2)
    assert hash(plain(1)) == hash(plain(1, "b"))
    assert full(1, (), 5) == full(1, (), 6)
    assert plain(1) != made["Below"](1)
    assert plain(1) != (1, "b")
    assert made["Identical"]() != made["Identical"]()
    assert made["Empty"]() == made["Empty"]()
    assert len({made["Empty"](), made["Empty"]()}) == 1
    assert made["Own"](1) == made["Own"](2)
    assert hash(made["Own"](1)) == 5


def test_text(made: dict[str, Any]) -> None:
    name = made["Plain"].__qualname__
    assert repr(made["Plain"](1)) == f"{name}(a=1, b='b')"
    assert "hidden" not in repr(made["Full"](1))
    assert repr(made["Own"](1)) == "own"
    assert made["Plain"].__doc__ == "Two fields."


def test_nothing_can_be_changed(made: dict[str, Any]) -> None:
    plain = made["Plain"](1)
    with pytest.raises(FrozenInstanceError):
        plain.a = 2
    with pytest.raises(FrozenInstanceError):
        del plain.a
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        plain.other = 1
    assert not hasattr(plain, "__dict__")


def test_patterns_replacing_copies_and_fields(made: dict[str, Any]) -> None:
    plain = made["Plain"]
    assert plain.__match_args__ == ("a", "b")
    assert dataclasses.replace(plain(1), b="c") == plain(1, "c")
    assert copy.deepcopy(plain(1)) == plain(1)
    assert [one.name for one in dataclasses.fields(plain)] == ["a", "b"]
    assert dataclasses.is_dataclass(plain)


@frozen.dataclass(frozen=True, slots=True)
class Kept:
    a: int
    b: tuple[int, ...] = ()


def test_pickling() -> None:
    assert pickle.loads(pickle.dumps(Kept(1, (2,)))) == Kept(1, (2,))


def test_methods_are_made_by_the_first_call() -> None:
    @frozen.dataclass(frozen=True, slots=True)
    class Lazy:
        a: int

    assert Lazy.__init__.__code__.co_varnames[:2] == ("self", "arguments")
    Lazy(1)
    assert Lazy.__init__.__code__.co_varnames[:2] == ("self", "a")


def test_other_options_are_those_of_the_standard_library() -> None:
    @frozen.dataclass
    class Open:
        a: int

    changed = Open(1)
    changed.a = 2
    assert changed == Open(2)
