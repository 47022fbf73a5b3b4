"""A declared function and all that it calls, as the text of one Python module, compiled."""

from __future__ import annotations

from types import CodeType
from typing import Any, Final, NamedTuple, TypeAlias

from xstreamcast.algebra.program import Program
from xstreamcast.evaluate.direct.shapes import (
    EMPTY,
    NO_KIND,
    Pending,
    Unsupported,
    Value,
    ValueShape,
    declared,
    joined,
)
from xstreamcast.evaluate.direct.writing import Writing
from xstreamcast.functions.call import CODEPOINT

Key: TypeAlias = tuple[int, tuple[ValueShape, ...]]  # a function, and the shapes of its arguments

_MOST: Final = 24  # functions of one text; more shapes of arguments than that are no pattern
_ROUNDS: Final = 6  # until the results of functions that call each other are known


class CompiledFunctions(NamedTuple):
    """The code that defines the functions, and the values that it needs."""

    code: CodeType
    text: str
    name: str  # of the requested function
    result: ValueShape
    constants: dict[str, Any]
    variables: dict[int, ValueShape]  # of the prolog


def compiled(
    program: Program, function: int, shapes: tuple[ValueShape, ...]
) -> CompiledFunctions | None:
    """The function for arguments of these shapes; None where Python has no text for it."""
    try:
        return _Module(program).compiled((function, shapes))
    except (Unsupported, Pending):
        return None


class _Module:
    """Functions that call each other; the shapes of their results are found by repetition."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.results: dict[Key, ValueShape | None] = {}  # None: not known yet
        self.constants: dict[str, Any] = {}
        self.variables: dict[int, ValueShape] = {}

    def compiled(self, key: Key) -> CompiledFunctions:
        self.results[key] = None
        for _ in range(_ROUNDS):
            before = dict(self.results)
            for one in before:
                self.look(one)
            if self.results == before and None not in before.values():
                break
        else:
            raise Unsupported
        texts = [self._text(one) for one in list(self.results)]
        if len(texts) != len(self.results):
            raise Unsupported
        text = "\n".join(texts)
        try:
            code = compile(text, "<declared functions>", "exec")
        except SyntaxError:  # Python nests loops and parentheses only so deep
            raise Unsupported from None
        result = self.results[key]
        assert result is not None
        return CompiledFunctions(code, text, self.name(key), result, self.constants, self.variables)

    def name(self, key: Key) -> str:
        """The name of a function in the text."""
        return f"f{list(self.results).index(key)}"

    def look(self, key: Key) -> None:
        """The shape of the result, as far as it is known by now."""
        body, writing = self.program.functions[key[0]].body, self._begun(key)
        try:
            found = writing.value(body).shape
        except Pending:
            return
        known = self.results[key]
        self.results[key] = found if known is None else joined(known, found)

    def _begun(self, key: Key) -> Writing:
        function = self.program.functions[key[0]]
        writing = Writing(_Inside(self, function.module))
        for parameter, shape in zip(function.parameters, key[1], strict=True):
            number = parameter.variable.number
            writing.variables[number] = Value(f"v{number}", shape)
        return writing

    def _text(self, key: Key) -> str:
        function, writing = self.program.functions[key[0]], self._begun(key)
        result = self.results[key]
        assert result is not None
        writing.result(function.body, result)
        names = [f"v{one.variable.number}" for one in function.parameters]
        head = [f"def {self.name(key)}({', '.join([*names, 'd'])}):", "    if d < 0: unfit()"]
        return "\n".join([*head, *writing.text.lines, ""])


class _Inside:
    """What one function of the module takes from around it."""

    def __init__(self, module: _Module, number: int) -> None:
        program = module.program
        static = program.libraries[number - 1].static if number else program.static
        self.plain = static.collation == CODEPOINT
        self._module = module

    def constant(self, value: Any) -> str:
        """A value that is passed in: no text of a query becomes text of Python."""
        known = self._module.constants
        name = f"K{len(known)}"
        known[name] = value
        return name

    def global_variable(self, number: int) -> Value:
        """A variable of the prolog, which is looked at when it is first read."""
        found = (v for v in self._module.program.variables if v.variable.number == number)
        variable = next(found, None)
        if variable is None:
            raise Unsupported
        shape = declared(variable.type, EMPTY)
        if shape.kind == NO_KIND or shape.occurs == "optional":
            raise Unsupported
        self._module.variables[number] = shape
        return Value(f"(G{number} if G{number} is not None else load({number}))", shape)

    def call(self, function: int, arguments: list[Value]) -> Value:
        """A call of another function of the module, one deeper."""
        key = function, tuple(argument.shape for argument in arguments)
        results = self._module.results
        if key not in results and len(results) >= _MOST:
            raise Unsupported
        if key not in results:
            results[key] = None
            self._module.look(key)
        result = results[key]
        if result is None:
            raise Pending
        codes = [argument.code for argument in arguments]
        return Value(f"{self._module.name(key)}({', '.join([*codes, 'd - 1'])})", result)
