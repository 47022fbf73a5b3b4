"""Which tags a name test of the query means."""

from __future__ import annotations

from dataclasses import field

from xstreamcast.algebra.translate.shapes import Uncovered
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.structure import Tag
from xstreamcast.syntax import tree as t


@dataclass(frozen=True, slots=True)
class Naming:
    """The namespaces that the prolog declares."""

    prefixes: dict[str, str] = field(default_factory=dict)
    default: str = ""

    @classmethod
    def of(cls, module: t.Module) -> Naming:
        """The prolog's namespaces."""
        prefixes = {d.prefix: d.uri for d in module.prolog if isinstance(d, t.NamespaceDecl)}
        default = [
            d.uri
            for d in module.prolog
            if isinstance(d, t.DefaultNamespaceDecl) and d.kind == "element"
        ]
        return cls(prefixes, default[-1] if default else "")

    def matches(self, test: t.NodeTest, tag: Tag) -> bool | None:
        """Is it an element of this tag? None for tests that are not of names."""
        match test:
            case t.NameTest(name) | t.ElementTest(t.Name() as name, None):
                return (self._uri(name), name.local) == (tag.uri, tag.local)
            case t.AnyName() | t.ElementTest(None, None):
                return True
            case t.AnyNamespace(local):
                return local == tag.local
            case t.AnyLocal(prefix, uri):
                return (self._uri(t.Name("", prefix)) if uri is None else uri) == tag.uri
            case _:
                return None

    def test(self, tag: Tag) -> t.NameTest:
        """The test that elements of this tag pass."""
        plain = tag.uri == self.default
        return t.NameTest(t.Name(tag.local) if plain else t.Name(tag.local, uri=tag.uri))

    def _uri(self, name: t.Name) -> str:
        if name.uri is not None:
            return name.uri
        if not name.prefix:
            return self.default
        if name.prefix not in self.prefixes:
            raise Uncovered(f"the prefix {name.prefix} is declared inside the query")
        return self.prefixes[name.prefix]
