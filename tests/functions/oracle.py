"""SaxonC-HE asked about one operation on given values, many at a time."""

from __future__ import annotations

import json
from functools import cache
from typing import Final, NamedTuple

from saxonche import PySaxonProcessor, PyXQueryProcessor

from xstreamcast.model.atomic import ATOMIC

Value = tuple[str, str]  # (type, lexical form)


class Case(NamedTuple):
    """One operation: its name and the operands, or a type and the operand to cast."""

    op: str
    left: Value
    right: Value = ("string", "")


# SaxonC calls every xs:dateTime with a time zone an xs:dateTimeStamp.
_UNSEEN: Final = ("anyAtomicType", "NOTATION", "QName", "dateTimeStamp")
_TYPES: Final = [name for name in ATOMIC if name not in _UNSEEN]
# Derived types before what they derive from, so that the first that fits is the narrowest.
_NARROW: Final = sorted(_TYPES, key=lambda name: -_TYPES.index(name))
_BINARY: Final = (
    *("+", "-", "*", "div", "idiv", "mod", "eq", "ne", "lt", "le", "gt", "ge"),
    *("=", "!=", "<", "<=", ">", ">="),
)
_FUNCTIONS: Final = {
    "abs": "abs($a)",
    "floor": "floor($a)",
    "ceiling": "ceiling($a)",
    "round": "round($a)",
    "round2": "round($a, xs:integer($b))",
    "half-even": "round-half-to-even($a, xs:integer($b))",
    "number": "number($a)",
    "minus": "-$a",
    "boolean": "boolean($a)",
    "distinct": "count(distinct-values(($a, $b)))",
    "sorted": "for $x in ($a, $b) order by $x return $x",
    "format-integer": "format-integer($a, $b)",
    "format-number": "format-number($a, $b)",
    "format-dateTime": "format-dateTime($a, $b)",
    "adjust": "adjust-dateTime-to-timezone($a, $b)",
    "timezone": "timezone-from-dateTime($a)",
    "seconds": "seconds-from-duration($a)",
    "hours": "hours-from-duration($a)",
    "fn:dateTime": "dateTime($a, $b)",
}
_QUERY: Final = f"""
declare namespace err = "http://www.w3.org/2005/xqt-errors";
declare variable $cases as xs:string external;
declare function local:cast($type as xs:string, $v) {{
  switch ($type) {" ".join(f'case "{t}" return xs:{t}($v)' for t in _TYPES)} default return error()
}};
declare function local:type($v) as xs:string {{
  {" else ".join(f'if ($v instance of xs:{t}) then "{t}"' for t in _NARROW)} else "?"
}};
declare function local:apply($op as xs:string, $a, $b) {{
  switch ($op)
  {" ".join(f'case "{op}" return $a {op} $b' for op in _BINARY)}
  {" ".join(f'case "{op}" return {text}' for op, text in _FUNCTIONS.items())}
  default return local:cast($op, $a)
}};
array {{ for $c in parse-json($cases)?* return try {{
  let $a := local:cast($c?2?1, $c?2?2), $b := local:cast($c?3?1, $c?3?2)
  return string-join(
    for $v in local:apply($c?1, $a, $b) return local:type($v) || " " || string($v), "; ")
}} catch * {{ "!" || local-name-from-QName($err:code) }} }} => serialize(map {{"method": "json"}})
"""


@cache
def _prepared() -> tuple[PySaxonProcessor, PyXQueryProcessor]:
    saxon = PySaxonProcessor(license=False)
    query = saxon.new_xquery_processor()
    query.set_query_content(_QUERY)
    return saxon, query


def answers(cases: list[Case]) -> list[str]:
    """For every case "type value; …" or "!CODE"."""
    saxon, query = _prepared()
    rows = [[case.op, list(case.left), list(case.right)] for case in cases]
    query.set_parameter("cases", saxon.make_string_value(json.dumps(rows)))
    result: list[str] = json.loads(query.run_query_to_string().partition("?>")[2] or "[]")
    return result
