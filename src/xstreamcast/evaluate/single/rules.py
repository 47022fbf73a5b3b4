"""The table: which nodes have a rule for one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.single import calls, control, filters, functions, operands

if TYPE_CHECKING:
    from xstreamcast.evaluate.single.codes import Maker

MAKERS: Final[dict[type, Maker]] = {
    p.Const: operands.const,
    p.Var: operands.var,
    p.Comma: operands.comma,
    p.Range: operands.range_,
    p.Arithmetic: operands.arithmetic,
    p.ValueCompare: operands.value_compare,
    p.GeneralCompare: operands.general_compare,
    p.If: control.if_,
    p.And: control.and_,
    p.Or: control.or_,
    p.Return: control.return_,
    p.Convert: control.convert,
    p.Treat: control.treat,
    p.Filter: filters.filter_,
    p.Call: calls.call,
    p.UserCall: calls.user_call,
    p.DynamicCall: functions.dynamic_call,
    p.Lookup: functions.lookup,
}
