"""What the place of an expression decides: variables, prefixes, enclosing constructors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from difflib import get_close_matches

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.namespaces import PREDECLARED, collapsed
from xstreamcast.errors import Error, Source, Span, error
from xstreamcast.functions.call import CODEPOINT
from xstreamcast.functions.signature import FN
from xstreamcast.functions.strings.collations import known
from xstreamcast.functions.strings.uca import UCA
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import SequenceType
from xstreamcast.syntax import tree as t

Expanded = tuple[str, str]  # (namespace, local)


@dataclass(frozen=True, slots=True)
class Declared:
    """The head of a declared function, known before any body is lowered."""

    index: int
    name: str
    parameters: tuple[SequenceType, ...]
    private: bool = False
    module: int = 0


@dataclass(slots=True)
class Numbers:
    """What the modules of one program count together: variables and functions."""

    variables: int = 0
    functions: int = 0


@dataclass(slots=True)
class Compilation:
    """What is shared by all places of one module while it is lowered."""

    source: Source
    lower: Callable[[t.Expr, Scope], p.Expression]
    numbers: Numbers = field(default_factory=Numbers)
    module: int = 0
    target: str | None = None  # the namespace of a library module
    functions: dict[tuple[str, str, int], Declared] = field(default_factory=dict)
    default_function: str = FN
    base_uri: str | None = None
    collation: str = CODEPOINT
    empty_greatest: bool = False
    copy: p.CopyMode = field(default_factory=p.CopyMode)
    used: set[p.Variable] = field(default_factory=set)
    types: dict[p.Variable, SequenceType] = field(default_factory=dict)
    bound_at: dict[p.Variable, Span] = field(default_factory=dict)

    def variable(self, name: str) -> p.Variable:
        """A variable with a number of its own."""
        self.numbers.variables += 1
        return p.Variable(self.numbers.variables, name)

    def fail(self, code: str, message: str, span: Span, hint: str | None = None) -> Error:
        """A static error at a place of the text."""
        return error(code, message, at=self.source.place(span), hint=hint, static=True)


@dataclass(frozen=True, slots=True)
class Scope:
    """One place: names mean what these tables say.

    `default_element` is the default namespace of elements and types. `constructed` holds what the
    enclosing direct constructors declare, None if there is none around.
    """

    shared: Compilation
    variables: Mapping[Expanded, p.Variable] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=lambda: dict(PREDECLARED))
    default_element: str = ""
    constructed: Mapping[str, str] | None = None

    # -- going down -----------------------------------------------------------------------------

    def lower(self, expr: t.Expr) -> p.Expression:
        """The plan of an expression at this place."""
        return self.shared.lower(expr, self)

    def lowered(self, exprs: tuple[t.Expr, ...]) -> tuple[p.Expression, ...]:
        """The plans of several."""
        return tuple(self.shared.lower(expr, self) for expr in exprs)

    def fail(self, code: str, message: str, span: Span, hint: str | None = None) -> Error:
        """A static error at a place of the text."""
        return self.shared.fail(code, message, span, hint)

    # -- variables ------------------------------------------------------------------------------

    def bind(self, name: t.Name) -> tuple[p.Variable, Scope]:
        """A new variable and the place in which its name means it."""
        variable = self.shared.variable(str(name))
        self.shared.bound_at[variable] = name.span
        return variable, self.with_variable(self.expand_variable(name), variable)

    def with_variable(self, name: Expanded, variable: p.Variable) -> Scope:
        """The same place with one more variable."""
        return replace(self, variables={**self.variables, name: variable})

    def variable(self, name: t.Name, span: Span) -> p.Variable:
        """The variable that a name means here, or XPST0008."""
        expanded = self.expand_variable(name)
        found = self.variables.get(expanded)
        if found is None:
            hint = self._near_variable(expanded[1])
            raise self.fail("XPST0008", f"variable ${name} is not declared", span, hint)
        self.shared.used.add(found)
        return found

    def _near_variable(self, local: str) -> str | None:
        """A variable in scope whose name is like this one, and where it was bound."""
        near = get_close_matches(local, [known for _, known in self.variables], 1)
        if not near:
            return None
        meant = next(v for (_, known), v in self.variables.items() if known == near[0])
        at = self.shared.bound_at.get(meant)
        where = f", bound on line {self.shared.source.place(at).line}" if at else ""
        return f"did you mean ${meant.name}{where}?"

    # -- names ----------------------------------------------------------------------------------

    def expand_variable(self, name: t.Name) -> Expanded:
        """A name to which no default namespace applies: variables, attributes."""
        return self.uri_of(name, ""), name.local

    def expand_element(self, name: t.Name) -> Expanded:
        """The name of an element or a type."""
        return self.uri_of(name, self.default_element), name.local

    def expand_function(self, name: t.Name) -> Expanded:
        """The name of a function."""
        return self.uri_of(name, self.shared.default_function), name.local

    def uri_of(self, name: t.Name, default: str) -> str:
        """The namespace of a name, `default` if it has no prefix, or XPST0081."""
        if name.uri is not None:
            return collapsed(name.uri)
        return self.uri_of_prefix(name.prefix, name.span) if name.prefix else default

    def uri_of_prefix(self, prefix: str, span: Span) -> str:
        """The namespace of a prefix, or XPST0081."""
        uri = self.prefixes.get(prefix)
        if not uri:
            near = get_close_matches(prefix, list(self.prefixes), 1, 0.8)
            hint = (
                f"did you mean {near[0]}:?" if near else f'add: declare namespace {prefix} = "…";'
            )
            raise self.fail("XPST0081", f"no namespace is bound to the prefix {prefix}", span, hint)
        return uri

    def namespaces(self, with_default: bool = True) -> p.Namespaces:
        """All bindings here, sorted; the default element namespace under the empty prefix."""
        pairs = [(prefix, uri) for prefix, uri in self.prefixes.items() if uri]
        if with_default and self.default_element:
            pairs.append(("", self.default_element))
        return tuple(sorted(pairs))

    def local_namespaces(self) -> p.Namespaces | None:
        """All bindings, where constructors around changed them; None: the module's hold."""
        return None if self.constructed is None else self.namespaces()

    def with_namespaces(self, declared: Mapping[str, str]) -> Scope:
        """The place inside a direct constructor that declares these."""
        named = {prefix: uri for prefix, uri in declared.items() if prefix and prefix != "xml"}
        return replace(
            self,
            prefixes={**self.prefixes, **named},
            default_element=declared.get("", self.default_element),
            constructed={**(self.constructed or {}), **declared},
        )

    def collation(self, uri: str | None, span: Span, code: str = "XQST0076") -> str:
        """The URI of a known collation; that of the prolog where none is written."""
        if uri is None:
            return self.shared.collation
        found = known(uri, self.shared.base_uri)
        if found is None:
            hint = f'the codepoint collation is "{CODEPOINT}"'
            if uri.startswith(UCA):  # the parameters ask for more than there is
                code = "FOCH0002"
            raise self.fail(code, f"the collation {uri} is not known", span, hint)
        return found.uri
