"""The prolog: what its declarations fix for the rest of the module."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urljoin

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.annotations import check_declared, is_private
from xstreamcast.algebra.lowering.constructors import check_binding
from xstreamcast.algebra.lowering.namespaces import OUTPUT, RESERVED, XQUERY, collapsed
from xstreamcast.algebra.lowering.scope import Declared, Scope
from xstreamcast.algebra.lowering.types import sequence_type
from xstreamcast.algebra.program import Settings
from xstreamcast.functions import registry
from xstreamcast.functions.call import StaticContext
from xstreamcast.functions.decimal_format import PROPERTIES, DecimalFormat
from xstreamcast.syntax import tree as t

_SERIALISATION: Final = (
    "allow-duplicate-names byte-order-mark cdata-section-elements doctype-public doctype-system "
    "encoding escape-uri-attributes html-version include-content-type indent item-separator "
    "json-node-output-method media-type method normalization-form omit-xml-declaration "
    "parameter-document standalone suppress-indentation undeclare-prefixes use-character-maps "
    "version"
)


@dataclass(slots=True)
class SortedProlog:
    """The declarations sorted by kind, and the place in which the bodies are."""

    scope: Scope
    settings: Settings = field(default_factory=Settings)
    formats: dict[tuple[str, str] | None, DecimalFormat] = field(
        default_factory=lambda: {None: DecimalFormat()}
    )
    variables: list[tuple[t.VariableDecl, p.Variable]] = field(default_factory=list)
    imports: list[t.ModuleImport] = field(default_factory=list)
    functions: list[t.FunctionDecl] = field(default_factory=list)
    context: t.ContextItemDecl | None = None

    def static(self) -> StaticContext:
        """What functions see of it."""
        return StaticContext(
            namespaces={prefix: uri for prefix, uri in self.scope.prefixes.items() if uri},
            default_element=self.scope.default_element,
            default_function=self.scope.shared.default_function,
            base_uri=self.scope.shared.base_uri,
            collation=self.scope.shared.collation,
            decimal_formats=self.formats,
        )


def read_prolog(declarations: tuple[t.Declaration, ...], scope: Scope) -> SortedProlog:
    """Namespaces and settings first: names in the other declarations need them."""
    prolog = SortedProlog(scope)
    for declaration in declarations:
        _setting(declaration, prolog)
    for declaration in declarations:
        match declaration:
            case t.VariableDecl():
                _variable(declaration, prolog)
            case t.FunctionDecl():
                _function(declaration, prolog)
            case t.OptionDecl():
                _option(declaration, prolog)
            case t.DecimalFormatDecl():
                _decimal_format(declaration, prolog)
            case t.ContextItemDecl():
                prolog.context = declaration
            case t.ModuleImport():
                _import(declaration, prolog)
            case _:
                pass  # a setting, read above
    return prolog


def _setting(declaration: t.Declaration, prolog: SortedProlog) -> None:
    shared = prolog.scope.shared
    match declaration:
        case t.NamespaceDecl() | t.DefaultNamespaceDecl():
            _namespace(declaration, prolog)
        case t.ModuleImport(prefix, uri) if prefix is not None:
            bound = t.NamespaceDecl(prefix, uri, declaration.span)
            _namespace(bound, prolog)
        case t.BaseUriDecl(uri):
            shared.base_uri = urljoin(shared.base_uri or "", collapsed(uri))
        case t.CopyNamespacesDecl(preserve, inherit):
            shared.copy = p.CopyMode(preserve, inherit)
        case t.EmptyOrderDecl(greatest):
            shared.empty_greatest = greatest
        case t.ConstructionDecl(preserve):
            prolog.settings = replace(prolog.settings, construction_preserve=preserve)
        case t.OrderingModeDecl(ordered):
            prolog.settings = replace(prolog.settings, ordered=ordered)
        case t.ExecutionDecl():
            prolog.settings = replace(prolog.settings, sequential=True)
        case t.DefaultCollationDecl(uri):
            shared.collation = prolog.scope.collation(uri, declaration.span, "XQST0038")
        case _:
            pass  # not a setting


def _namespace(declaration: t.NamespaceDecl | t.DefaultNamespaceDecl, prolog: SortedProlog) -> None:
    uri, scope = collapsed(declaration.uri), prolog.scope
    prefix = declaration.prefix if isinstance(declaration, t.NamespaceDecl) else ""
    check_binding(prefix, uri, declaration.span, scope)
    if isinstance(declaration, t.NamespaceDecl):
        prolog.scope = replace(scope, prefixes={**scope.prefixes, prefix: uri})
    elif declaration.kind == "element":
        prolog.scope = replace(scope, default_element=uri)
    else:
        scope.shared.default_function = uri


def _import(declaration: t.ModuleImport, prolog: SortedProlog) -> None:
    uri = collapsed(declaration.uri)
    if any(collapsed(one.uri) == uri for one in prolog.imports):
        sentence = f"the module {uri} is imported more than once"
        raise prolog.scope.fail("XQST0047", sentence, declaration.span)
    prolog.imports.append(declaration)


def _in_target(uri: str, name: t.Name, scope: Scope) -> None:
    target = scope.shared.target
    if target is not None and uri != target:
        sentence = f"names that a module declares must be in its namespace {target}; got {name}"
        raise scope.fail("XQST0048", sentence, name.span)


def _variable(declaration: t.VariableDecl, prolog: SortedProlog) -> None:
    scope = prolog.scope
    check_declared(declaration.annotations, scope, "XQST0116")
    _in_target(scope.expand_variable(declaration.name)[0], declaration.name, scope)
    if scope.expand_variable(declaration.name) in scope.variables:
        sentence = f"the variable ${declaration.name} is declared more than once"
        raise scope.fail("XQST0049", sentence, declaration.span)
    variable, prolog.scope = scope.bind(declaration.name)
    scope.shared.types[variable] = sequence_type(declaration.type, scope)
    prolog.variables.append((declaration, variable))


def _function(declaration: t.FunctionDecl, prolog: SortedProlog) -> None:
    scope, name = prolog.scope, declaration.name
    check_declared(declaration.annotations, scope, "XQST0106")
    uri, local = scope.expand_function(name)
    arity = len(declaration.parameters)
    _allowed(uri, name, scope)
    _in_target(uri, name, scope)
    if (uri, local, arity) in scope.shared.functions:
        sentence = f"the function {name}#{arity} is declared more than once"
        raise scope.fail("XQST0034", sentence, declaration.span)
    if declaration.body is None:
        _external(uri, local, arity, declaration, scope)
        return
    kinds = tuple(sequence_type(one.type, scope) for one in declaration.parameters)
    private = is_private(declaration.annotations, scope)
    number = scope.shared.numbers.functions
    scope.shared.numbers.functions += 1
    declared = Declared(number, str(name), kinds, private, scope.shared.module)
    scope.shared.functions[uri, local, arity] = declared
    prolog.functions.append(declaration)


def _allowed(uri: str, name: t.Name, scope: Scope) -> None:
    if uri == "":
        sentence = f"the function {name} must be in a namespace"
        raise scope.fail("XQST0060", sentence, name.span, f"call it local:{name.local}")
    if uri in RESERVED:
        sentence = f"the namespace of the function {name} is reserved"
        raise scope.fail("XQST0045", sentence, name.span, f"call it local:{name.local}")


def _external(uri: str, local: str, arity: int, declaration: t.FunctionDecl, scope: Scope) -> None:
    """An external function is one registered from Python under the same name."""
    if registry.lookup(uri, local, arity) is None:
        sentence = f"no function {declaration.name}#{arity} is registered"
        raise scope.fail("XPST0017", sentence, declaration.span)


def _option(declaration: t.OptionDecl, prolog: SortedProlog) -> None:
    scope, name = prolog.scope, declaration.name
    uri = scope.uri_of(name, XQUERY)
    if uri == OUTPUT and scope.shared.target is not None:
        sentence = "a library module has no serialisation parameters"
        raise scope.fail("XQST0108", sentence, declaration.span)
    if uri == OUTPUT:
        if name.local not in _SERIALISATION.split():
            sentence = f"there is no serialisation parameter {name.local}"
            raise scope.fail("XQST0109", sentence, declaration.span)
        if any(row[:2] == (uri, name.local) for row in prolog.settings.options):
            sentence = f"the serialisation parameter {name.local} is declared more than once"
            raise scope.fail("XQST0110", sentence, declaration.span)
    options = (*prolog.settings.options, (uri, name.local, declaration.value))
    prolog.settings = replace(prolog.settings, options=options)


def _decimal_format(declaration: t.DecimalFormatDecl, prolog: SortedProlog) -> None:
    scope, name = prolog.scope, declaration.name
    key = None if name is None else scope.expand_variable(name)
    if key is not None and key in prolog.formats:
        sentence = f"the decimal format {name} is declared more than once"
        raise scope.fail("XQST0111", sentence, declaration.span)
    given = {PROPERTIES[word]: value for word, value in declaration.properties}
    made = DecimalFormat(**given)
    if not made.distinct():
        sentence = "two properties of the decimal format have the same character"
        raise scope.fail("XQST0098", sentence, declaration.span)
    prolog.formats[key] = made
