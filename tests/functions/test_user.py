"""Functions written in Python, called from queries."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import xstreamcast
from xstreamcast.errors import Error, UsageError
from xstreamcast.functions import registry
from xstreamcast.functions.signature import FN, XSC
from xstreamcast.model.atomic import DOUBLE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

DOCUMENT = b"<r><a n='1'>x</a><a n='2'>y</a></r>"


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test registers is forgotten after it."""
    registry.lookup(FN, "count", 1)
    monkeypatch.setattr(registry, "_ROWS", dict(registry._ROWS))
    yield
    xstreamcast.api._compiled.cache_clear()


def answer(text: str) -> list[Any]:
    return list(xstreamcast.query(text).run(DOCUMENT))


def code(text: str) -> tuple[str, str]:
    with pytest.raises(Error) as caught:
        answer(text)
    return caught.value.code, caught.value.message


def test_a_name_without_prefix_is_called_without_and_as_xsc() -> None:
    xstreamcast.function("twice($x as xs:double) as xs:double")(lambda x: 2 * x)
    assert answer("twice(4)") == [8.0]
    assert answer(f'declare namespace xsc = "{XSC}"; xsc:twice(4)') == [8.0]
    assert answer("for-each(1 to 2, twice#1)") == [2.0, 4.0]


def test_a_prefix_of_ones_own_needs_its_namespace() -> None:
    xstreamcast.function("g:f($x as xs:integer) as xs:integer", namespace="urn:g")(lambda x: x + 1)
    assert answer('declare namespace g = "urn:g"; g:f(1)') == [2]
    assert code("f(1)")[0] == "XPST0017"
    with pytest.raises(UsageError):
        xstreamcast.function("h:f($x as xs:integer) as xs:integer")


def test_arguments_are_python_values() -> None:
    seen: list[Any] = []

    @xstreamcast.function(
        "look($s as xs:string, $d as xs:decimal, $b as xs:boolean, $o as xs:integer?,"
        " $m as xs:integer*) as xs:boolean"
    )
    def look(*values: Any) -> bool:
        seen.append(values)
        return True

    assert (
        answer('look("s", 1.50, true(), (), (1, 2)), look(//a[1], 2, false(), 7, ())') == [True] * 2
    )
    assert seen == [("s", Decimal("1.5"), True, None, [1, 2]), ("x", Decimal(2), False, 7, [])]


def test_nodes_come_and_go() -> None:
    @xstreamcast.function("next-one($n as element()) as node()*")
    def next_one(node: Any) -> Any:
        assert node.name == "a"
        return [*node.attributes, node.parent]

    assert answer("next-one(//a[2]) ! name()") == ["n", "r"]
    assert answer("next-one(//a[2])[2] is /r") == [True]


@pytest.mark.parametrize(
    ("result", "value", "expected"),
    [
        ("xs:double", 1, [1.0]),
        ("xs:decimal", 1, [Decimal(1)]),
        ("xs:string?", None, []),
        ("item()*", [1, "a", True, 2.5, Decimal("0.1")], [1, "a", True, 2.5, Decimal("0.1")]),
        ("xs:integer+", (1, 2), [1, 2]),
    ],
)
def test_results_are_items_of_the_declared_type(result: str, value: Any, expected: Any) -> None:
    xstreamcast.function(f"give() as {result}")(lambda: value)
    assert answer("give()") == expected


@pytest.mark.parametrize(
    ("result", "value"),
    [
        ("xs:double", "1"),
        ("xs:integer", True),
        ("xs:integer", 1.0),
        ("xs:string", None),
        ("xs:string?", ["a", "b"]),
        ("item()", object()),
    ],
)
def test_a_result_of_another_type_is_an_error_that_names_the_function(
    result: str, value: Any
) -> None:
    xstreamcast.function(f"give() as {result}")(lambda: value)
    found = code("give()")
    assert found[0] == "XSCD0002"
    assert "give" in found[1]


def test_an_exception_becomes_an_error_of_the_query() -> None:
    @xstreamcast.function("inverse($x as xs:double) as xs:double")
    def inverse(x: float) -> float:
        return 1 / x

    assert answer("inverse(4)") == [0.25]
    found = code("inverse(0)")
    assert found[0] == "XSCD0002"
    assert "inverse" in found[1]
    assert "ZeroDivisionError" in found[1]


def test_a_vectorised_function_sees_columns_once() -> None:
    calls: list[int] = []

    @xstreamcast.function("root2($x as xs:double) as xs:double", vectorised=True)
    def root2(x: Column) -> Column:
        calls.append(x.n)
        return Column(Items(DOUBLE, np.sqrt(x.items.values)))

    assert answer("for $i in (1, 4, 9) return root2($i)") == [1.0, 2.0, 3.0]
    assert calls == [3]


def test_a_builtin_function_is_not_hidden() -> None:
    with pytest.raises(UsageError):
        xstreamcast.function("count($x as item()*) as xs:integer")(len)
    xstreamcast.function("xsc:count($x as item()*) as xs:integer")(lambda x: -len(x))
    assert answer("count((1, 2))") == [2]


@pytest.mark.parametrize("signature", ["f", "f($x as xs:nothing) as xs:string", "f($x) as", "(1)"])
def test_a_signature_that_cannot_be_read_says_so(signature: str) -> None:
    with pytest.raises(UsageError):
        xstreamcast.function(signature)(lambda: None)


def test_wrong_arguments_are_the_querys_error() -> None:
    xstreamcast.function("twice($x as xs:double) as xs:double")(lambda x: 2 * x)
    assert code('twice("a")')[0] == "XPTY0004"
    assert code("twice()")[0] == "XPST0017"


def test_a_function_registered_again_is_the_one_that_is_called() -> None:
    for factor in (2, 3):
        signature = "scaled($x as xs:integer) as xs:integer"
        xstreamcast.function(signature)(lambda x, by=factor: by * x)
        assert answer("scaled(10)") == [10 * factor]
