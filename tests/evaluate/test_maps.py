"""Maps, arrays and JSON: against Python's own dictionaries, lists and json, on generated values."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from xstreamcast import query

TEXTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=6)
NUMBERS = st.integers(-(10**9), 10**9) | st.floats(
    allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
AS_JSON = query(
    "declare variable $text as xs:string external;"
    'serialize(parse-json($text), map { "method": "json" })'
)
THROUGH_XML = query("declare variable $text as xs:string external; xml-to-json(json-to-xml($text))")
EQUAL = query(
    "declare variable $a as xs:string external; declare variable $b as xs:string external;"
    "deep-equal(parse-json($a), parse-json($b))"
)


def numbers_as_floats(value: Any) -> Any:
    """Every number of JSON is a double."""
    match value:
        case bool():
            return value
        case int() | float():
            return float(value)
        case list():
            return [numbers_as_floats(one) for one in value]
        case dict():
            return {key: numbers_as_floats(one) for key, one in value.items()}
        case _:
            return value


@given(VALUES)
def test_json_comes_back_as_it_went_in(value: Any) -> None:
    text = json.dumps(value)
    assert json.loads(next(iter(AS_JSON.run(text=text)))) == numbers_as_floats(value)


@given(VALUES)
def test_json_comes_back_from_its_xml(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert json.loads(next(iter(THROUGH_XML.run(text=text)))) == numbers_as_floats(value)


@given(VALUES, VALUES)
def test_values_are_deep_equal_where_python_says_so(left: Any, right: Any) -> None:
    def same(a: Any, b: Any) -> bool:
        return bool(next(iter(EQUAL.run(a=json.dumps(a), b=json.dumps(b)))))

    def tagged(value: Any) -> Any:  # to Python true is 1
        match value:
            case bool():
                return str(value)
            case list():
                return [tagged(one) for one in value]
            case dict():
                return {key: tagged(one) for key, one in value.items()}
            case _:
                return float(value) if isinstance(value, int) else value

    assert same(left, left)
    assert same(left, right) == (tagged(left) == tagged(right))


STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "remove"]), st.integers(0, 60), st.integers(0, 9)),
    max_size=120,
)


@given(STEPS)
def test_a_chain_of_changes_gives_the_dictionary_it_describes(
    steps: list[tuple[str, int, int]],
) -> None:
    """Also where so much has changed that the map gets rows of its own."""
    expected: dict[int, int] = {i: -1 for i in range(0, 60, 7)}
    for word, key, value in steps:
        if word == "put":
            expected[key] = value
        else:
            expected.pop(key, None)
    written = ", ".join(f'["{word}", {key}, {value}]' for word, key, value in steps)
    text = f"""
        let $start := map:merge(for $i in 0 to 8 return map {{ 7 * $i : -1 }})
        let $end := fold-left(({written}), $start, function($m, $s) {{
            if ($s?1 = "put") then map:put($m, $s?2, $s?3) else map:remove($m, $s?2) }})
        return (map:size($end), map:size($start), sort(map:keys($end)) ! (., $end(.)))"""
    size, start, *rest = list(query(text).run())
    assert size == len(expected)
    assert start == 9
    assert rest == [part for key in sorted(expected) for part in (key, expected[key])]


@given(st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=5), st.integers(1, 5))
def test_many_rows_at_once_give_what_each_gives_alone(members: list[list[int]], place: int) -> None:
    """Constructors and lookups of a batch share columns; no row sees another's."""
    array = "[" + ", ".join(f"({', '.join(map(str, one))})" for one in members) + "]"
    body = (
        f"let $a := array:append({array}, $i), $m := map {{ 'k': $a, $i : $i }} "
        f"return string-join(($m?k?*, $m?($i), array:size($a), array:subarray($a, 1)?{place}[1]))"
    )
    places = min(len(members) + 1, place)
    body = body.replace(f"?{place}[1]", f"?{places}[1]")
    together = list(query(f"for $i in 1 to 4 return {body}").run())
    alone = [next(iter(query(f"let $i := {i} return {body}").run())) for i in range(1, 5)]
    assert together == alone


def test_a_map_in_a_window_and_in_groups() -> None:
    text = """
        for tumbling window $w in (for $i in 1 to 6 return map { "n": $i })
          start at $s when true() end at $e when $e - $s eq 1
        return sum($w?n)"""
    assert list(query(text).run()) == [3, 7, 11]
    grouped = """
        for $m in (map { "k": "a", "v": 1 }, map { "k": "b", "v": 2 }, map { "k": "a", "v": 4 })
        group by $k := $m?k order by $k return $k || sum($m?v)"""
    assert list(query(grouped).run()) == ["a5", "b2"]
