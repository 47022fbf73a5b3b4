"""The table: which nodes have Python text."""

from __future__ import annotations

from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.direct import choices, library, loops, operands
from xstreamcast.evaluate.direct.writing import Rule

RULES: Final[dict[type, Rule]] = {
    p.Const: operands.const,
    p.Var: operands.var,
    p.Focus: operands.focus,
    p.Position: operands.focus,
    p.Last: operands.focus,
    p.Comma: operands.comma,
    p.Range: operands.range_,
    p.Arithmetic: operands.arithmetic,
    p.Unary: operands.unary,
    p.StringConcat: operands.string_concat,
    p.ValueCompare: choices.value_compare,
    p.GeneralCompare: choices.general_compare,
    p.If: choices.if_,
    p.And: choices.and_,
    p.Or: choices.and_,
    p.Convert: choices.convert,
    p.Treat: choices.convert,
    p.Cast: choices.cast_,
    p.UserCall: choices.user_call,
    p.Call: library.call,
    p.Return: loops.return_,
    p.Quantified: loops.quantified,
    p.Filter: loops.filter_,
    p.SimpleMap: loops.simple_map,
}
