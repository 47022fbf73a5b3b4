"""Library modules: found by namespace, read once each, their public names seen where imported.

Modules may import each other in a circle: all prologs are read before any body is lowered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias
from urllib.parse import urljoin

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.annotations import is_private
from xstreamcast.algebra.lowering.namespaces import collapsed
from xstreamcast.algebra.lowering.prolog import SortedProlog, read_prolog
from xstreamcast.algebra.lowering.scope import Compilation, Numbers, Scope
from xstreamcast.errors import Error, error
from xstreamcast.syntax import parse_library
from xstreamcast.syntax import tree as t

# (namespace, places named by the import) → (place, text) of each file that makes up the module.
Modules: TypeAlias = Callable[[str, tuple[str, ...]], Sequence[tuple[str, str]]]


def no_modules(uri: str, places: tuple[str, ...]) -> Sequence[tuple[str, str]]:
    """Nothing was given to import from."""
    return ()


@dataclass(slots=True)
class Linked:
    """A module whose prolog is read, and the libraries that each of its imports brought."""

    module: t.Module | t.LibraryModule
    shared: Compilation
    found: list[tuple[t.ModuleImport, list[Linked]]] = field(default_factory=list)
    _prolog: SortedProlog | None = None

    @property
    def prolog(self) -> SortedProlog:
        """The declarations; read when first needed."""
        if self._prolog is None:
            scope = Scope(self.shared)
            if isinstance(self.module, t.LibraryModule):
                bound = {self.module.prefix: collapsed(self.module.uri)}
                scope = replace(scope, prefixes={**scope.prefixes, **bound})
            self._prolog = read_prolog(self.module.prolog, scope)
        return self._prolog


class Linker:
    """Finds the libraries of a program, each file once."""

    def __init__(
        self,
        modules: Modules,
        numbers: Numbers,
        lower: Callable[[t.Expr, Scope], p.Expression],
    ) -> None:
        self._modules = modules
        self._numbers = numbers
        self._lower = lower
        self._files: dict[str, Linked] = {}

    def linked(self, main: Linked) -> list[Linked]:
        """All libraries, with what each module imports put into its scope."""
        self._imports(main)
        for one in (main, *self._files.values()):
            for written, libraries in one.found:
                for library in libraries:
                    _import(one, library, written)
        return list(self._files.values())

    def _imports(self, one: Linked) -> None:
        for written in one.prolog.imports:
            one.found.append((written, self._libraries(one, written)))

    def _libraries(self, one: Linked, written: t.ModuleImport) -> list[Linked]:
        uri = collapsed(written.uri)
        base = one.shared.base_uri
        places = tuple(urljoin(base, place) if base else place for place in written.places)
        files = self._modules(uri, places)
        if not files:
            hint = "name its folder: --module-path FOLDER" if not written.places else None
            sentence = f"no module of the namespace {uri} was found"
            raise one.shared.fail("XQST0059", sentence, written.span, hint)
        return [self._library(place, text, uri, one, written) for place, text in files]

    def _library(
        self, place: str, text: str, uri: str, importer: Linked, written: t.ModuleImport
    ) -> Linked:
        if place in self._files:
            return self._files[place]
        module = parse_library(text, place)
        if collapsed(module.uri) != uri:
            sentence = f"{place} is a module of the namespace {module.uri}, not of {uri}"
            raise importer.shared.fail("XQST0059", sentence, written.span)
        number = len(self._files) + 1
        base = place if ":" in place else importer.shared.base_uri
        shared = Compilation(module.source, self._lower, self._numbers, number, uri, base_uri=base)
        made = self._files[place] = Linked(module, shared)
        self._imports(made)
        return made


def _import(into: Linked, library: Linked, written: t.ModuleImport) -> None:
    """The public functions and variables of a library, seen in another module."""
    if library is into:
        return
    _functions(into, library, written)
    scope = into.prolog.scope
    variables = dict(scope.variables)
    for declared, variable in library.prolog.variables:
        if is_private(declared.annotations, library.prolog.scope):
            continue
        name = library.prolog.scope.expand_variable(declared.name)
        if name in variables and variables[name] != variable:
            raise _twice(into, library, written, "XQST0049", f"the variable ${declared.name}")
        variables[name] = variable
        into.shared.types[variable] = library.shared.types[variable]
    into.prolog.scope = replace(scope, variables=variables)


def _functions(into: Linked, library: Linked, written: t.ModuleImport) -> None:
    own = library.shared.module
    for key, declared in library.shared.functions.items():
        if declared.private or declared.module != own:
            continue
        known = into.shared.functions.get(key)
        if known is not None and known.index != declared.index:
            what = f"the function {declared.name}#{key[2]}"
            raise _twice(into, library, written, "XQST0034", what)
        into.shared.functions[key] = declared


def _twice(into: Linked, library: Linked, written: t.ModuleImport, code: str, what: str) -> Error:
    sentence = f"{what} of {library.module.source.name} is known in {into.module.source.name} too"
    return error(code, sentence, at=into.shared.source.place(written.span), static=True)
