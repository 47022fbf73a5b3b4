"""Which function lowers which node of the tree: one row for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering import calls, constructors, control, literals, paths, structured
from xstreamcast.algebra.lowering.flwor import flwor
from xstreamcast.algebra.lowering.scope import Scope
from xstreamcast.syntax import tree as t

ROWS: Final[dict[type, Callable[[Any, Scope], p.Expression]]] = {
    t.StringLiteral: literals.string_literal,
    t.IntegerLiteral: literals.integer_literal,
    t.DecimalLiteral: literals.decimal_literal,
    t.DoubleLiteral: literals.double_literal,
    t.TimeLiteral: literals.time_literal,
    t.TimeConstant: literals.time_constant,
    t.VarRef: literals.var_ref,
    t.ContextItemExpr: literals.context_item,
    t.Sequence: literals.sequence,
    t.ComparisonExpr: literals.comparison,
    t.ArithmeticExpr: literals.arithmetic,
    t.UnaryExpr: literals.unary,
    t.RangeExpr: literals.range_,
    t.ConcatExpr: literals.concat,
    t.AndExpr: literals.conjunction,
    t.OrExpr: literals.disjunction,
    t.SetExpr: literals.set_operation,
    t.InstanceOfExpr: literals.instance_of,
    t.TreatAs: literals.treat_as,
    t.CastAs: literals.cast_as,
    t.CastableAs: literals.castable_as,
    t.FunctionCall: calls.function_call,
    t.DynamicFunctionCall: calls.dynamic_call,
    t.NamedFunctionRef: calls.function_ref,
    t.InlineFunction: calls.inline_function,
    t.FilterExpr: paths.filter_,
    t.AxisStep: paths.step,
    t.PathExpr: paths.path,
    t.SimpleMapExpr: paths.simple_map,
    t.IfExpr: control.conditional,
    t.QuantifiedExpr: control.quantified,
    t.SwitchExpr: control.switch,
    t.TypeSwitchExpr: control.typeswitch,
    t.TryCatch: control.try_catch,
    t.Ordering: control.ordering,
    t.Extension: control.extension,
    t.IntervalProjectionExpr: control.interval_projection,
    t.VersionProjectionExpr: control.version_projection,
    t.IntervalComparison: control.interval_comparison,
    t.BlockExpr: control.block,
    t.Flwor: flwor,
    t.DirectElement: constructors.direct_element,
    t.DirectComment: constructors.direct_comment,
    t.DirectPI: constructors.direct_pi,
    t.ComputedElement: constructors.computed_element,
    t.ComputedAttribute: constructors.computed_attribute,
    t.ComputedDocument: constructors.computed_document,
    t.ComputedText: constructors.computed_text,
    t.ComputedComment: constructors.computed_comment,
    t.ComputedPI: constructors.computed_pi,
    t.ComputedNamespace: constructors.computed_namespace,
    t.StringConstructor: constructors.string_constructor,
    t.MapConstructor: structured.map_constructor,
    t.SquareArray: structured.square_array,
    t.CurlyArray: structured.curly_array,
    t.LookupExpr: structured.lookup,
}


def lower_expression(expr: t.Expr, scope: Scope) -> p.Expression:
    """The plan of an expression at a place."""
    return ROWS[type(expr)](expr, scope)
