"""The table: which rule evaluates which node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate import (
    calls,
    compare,
    function_items,
    logic,
    scripting,
    structured,
    try_catch,
    values,
)
from xstreamcast.evaluate.constructing import construct
from xstreamcast.evaluate.flwor import tuples
from xstreamcast.evaluate.nodes import filters, navigate, sets
from xstreamcast.evaluate.time import allen, temporal
from xstreamcast.evaluate.typing import types

if TYPE_CHECKING:
    from xstreamcast.evaluate.walk import Rule

RULES: Final[dict[type, Rule]] = {
    p.Const: values.const,
    p.Var: values.var,
    p.Comma: values.comma,
    p.Range: values.range_,
    p.Arithmetic: values.arithmetic_,
    p.Unary: values.unary,
    p.StringConcat: values.string_concat,
    p.GeneralCompare: compare.general,
    p.ValueCompare: compare.value,
    p.NodeCompare: compare.node,
    p.And: logic.and_,
    p.Or: logic.or_,
    p.If: logic.if_,
    p.Switch: logic.switch,
    p.TypeSwitch: logic.typeswitch,
    p.Try: try_catch.try_,
    p.Quantified: tuples.quantified,
    p.Return: tuples.return_,
    p.InstanceOf: types.instance,
    p.Treat: types.treat,
    p.Convert: types.convert,
    p.Cast: types.cast_,
    p.Castable: types.castable_,
    p.Focus: navigate.focus,
    p.Position: navigate.position,
    p.Last: navigate.last,
    p.TreeRoot: navigate.root,
    p.Step: navigate.step,
    p.Path: navigate.path,
    p.SimpleMap: navigate.simple_map,
    p.Filter: filters.filter_,
    p.SetOperation: sets.set_operation,
    p.StreamInput: temporal.stream_input,
    p.Call: calls.call,
    p.UserCall: calls.user_call,
    p.DynamicCall: function_items.dynamic_call,
    p.Partial: function_items.partial,
    p.FunctionRef: function_items.function_ref,
    p.UserRef: function_items.user_ref,
    p.Inline: function_items.inline,
    p.SetVariable: scripting.set_variable,
    p.Block: scripting.block,
    p.MakeDocument: construct.document,
    p.MakeElement: construct.element,
    p.MakeAttribute: construct.attribute,
    p.MakeText: construct.text,
    p.MakeComment: construct.comment,
    p.MakePi: construct.pi,
    p.MakeNamespace: construct.namespace,
    p.MakeMap: structured.make_map,
    p.MakeArray: structured.make_array,
    p.Lookup: structured.lookup,
    p.Instant: temporal.instant,
    p.LastVersion: temporal.last_version,
    p.LifespanBound: temporal.lifespan_bound,
    p.IntervalProjection: temporal.interval_projection,
    p.VersionProjection: temporal.version_projection,
    p.Interval: allen.interval,
    p.AllenCompare: allen.allen_compare,
}
