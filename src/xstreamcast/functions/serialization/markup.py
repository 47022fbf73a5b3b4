"""The methods xml and xhtml: trees as markup."""

from __future__ import annotations

from typing import Final

from xstreamcast.functions.serialization.characters import Characters
from xstreamcast.functions.serialization.parameters import Parameters
from xstreamcast.functions.serialization.tree import Branch
from xstreamcast.tape import layout
from xstreamcast.tape.layout import ELEMENT, TEXT

XHTML: Final = "http://www.w3.org/1999/xhtml"
XML: Final = "http://www.w3.org/XML/1998/namespace"
SVG: Final = "http://www.w3.org/2000/svg"
MATHML: Final = "http://www.w3.org/1998/Math/MathML"
_VOID: Final = frozenset(
    (
        *("area", "base", "basefont", "br", "col", "embed", "hr", "img", "input", "link"),
        *("meta", "param"),
    )
)
_VOID_4: Final = _VOID | {"frame", "isindex"}
_VOID_5: Final = _VOID | {"keygen", "source", "track", "wbr"}
INLINE: Final = frozenset(
    (
        *("a", "abbr", "acronym", "applet", "b", "basefont", "bdo", "big", "br", "button"),
        *("cite", "code", "del", "dfn", "em", "font", "i", "iframe", "img", "input", "ins"),
        *("kbd", "label", "map", "object", "q", "s", "samp", "script", "select", "small"),
        *("span", "strike", "strong", "sub", "sup", "textarea", "tt", "u", "var", "audio"),
        *("bdi", "canvas", "data", "datalist", "embed", "keygen", "mark", "math", "meter"),
        *("noscript", "output", "progress", "ruby", "svg", "template", "time", "video"),
        *("wbr",),
    )
)


def is_void(local: str, parameters: Parameters) -> bool:
    """Whether HTML has no end tag for such an element."""
    return local.lower() in (_VOID_5 if parameters.html5 else _VOID_4)


class XmlWriter:
    """Writes trees as XML."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.chars = Characters(parameters)
        self.out: list[str] = []

    def written(self, node: Branch) -> str:
        """The markup of one tree."""
        self.out = []
        self.node(node, {}, 0, self.parameters.indent, "")
        return "".join(self.out)

    # -- nodes ----------------------------------------------------------------------------------

    def node(
        self, node: Branch, scope: dict[str, str], depth: int, indent: bool, within: str
    ) -> None:
        """One node; `scope` holds the namespaces that its ancestors have declared."""
        match node.kind:
            case layout.DOCUMENT:
                self.content(node, scope, depth, indent and not _has_text(node))
            case layout.ELEMENT:
                self.element(node, scope, depth, indent)
            case layout.TEXT:
                self.text(node.value, within)
            case layout.COMMENT:
                self.out.append(f"<!--{self.chars.plain(node.value)}-->")
            case _:
                self.pi(node)

    def pi(self, node: Branch) -> None:
        value = self.chars.plain(node.value)
        self.out.append(f"<?{node.local} {value}?>" if value else f"<?{node.local}?>")

    def text(self, value: str, within: str) -> None:
        self.out.append(self.chars.text(value))

    def element(self, node: Branch, scope: dict[str, str], depth: int, indent: bool) -> None:
        inner = self.start(node, scope)
        if not node.children and self.closes_alone(node):
            self.out.append(self.empty_end(node))
            return
        self.out.append(">")
        self.inside(node, inner, depth, indent and self.indents(node))
        self.out.append(f"</{self.tag(node)}>")

    def inside(self, node: Branch, scope: dict[str, str], depth: int, indent: bool) -> None:
        """The content of an element."""
        if self.has_cdata(node):
            self.with_cdata(node, scope, depth, indent)
            return
        indent = indent and self.may_indent(node)
        self.content(node, scope, depth + 1, indent)
        if indent and node.children:
            self.out.append("\n" + "  " * depth)

    def content(self, node: Branch, scope: dict[str, str], depth: int, indent: bool) -> None:
        """Children; where white space may be added each is on a line of its own."""
        name = f"{{{node.uri}}}{node.local}"
        for i, child in enumerate(node.children):
            if indent and (i or depth):
                self.out.append("\n" + "  " * depth)
            self.node(child, scope, depth, indent, name)

    def has_cdata(self, node: Branch) -> bool:
        """Whether the text of an element is written as CDATA sections."""
        return (node.uri, node.local) in self.parameters.cdata_section_elements

    def with_cdata(self, node: Branch, scope: dict[str, str], depth: int, indent: bool) -> None:
        for child in node.children:
            if child.kind == TEXT:
                self.out.append(self.chars.cdata(child.value))
            else:
                self.node(child, scope, depth + 1, indent, "")

    # -- tags -----------------------------------------------------------------------------------

    def tag(self, node: Branch) -> str:
        """The name of an element as it is written."""
        return self.chars.plain(node.name)

    def start(self, node: Branch, scope: dict[str, str]) -> dict[str, str]:
        """The start tag without its end; the namespaces in scope inside."""
        self.out.append(f"<{self.tag(node)}")
        inner = dict(scope)
        for prefix, uri in self.declared(node, scope).items():
            self.out.append(f' xmlns{":" if prefix else ""}{prefix}="{self.chars.attribute(uri)}"')
            inner[prefix] = uri
        for prefix, local, uri, value in node.attributes:
            self.attribute(node, f"{prefix}:{local}" if prefix else local, local, uri, value)
        return inner

    def declared(self, node: Branch, scope: dict[str, str]) -> dict[str, str]:
        """The namespaces that the start tag must declare."""
        found: dict[str, str] = {}
        for prefix, uri in node.namespaces.items():
            if scope.get(prefix, "") == uri:
                continue
            if uri or not prefix or self._undeclares():
                found[prefix] = uri
        if node.prefix == "" and scope.get("", "") != node.uri and "" not in found:
            found[""] = node.uri
        return found

    def _undeclares(self) -> bool:
        return self.parameters.undeclare_prefixes and self.parameters.xml_version == "1.1"

    def attribute(self, node: Branch, name: str, local: str, uri: str, value: str) -> None:
        self.out.append(f' {self.chars.plain(name)}="{self.chars.attribute(value)}"')

    def closes_alone(self, node: Branch) -> bool:
        """Whether an empty element has no end tag."""
        return True

    def empty_end(self, node: Branch) -> str:
        return "/>"

    # -- indentation ----------------------------------------------------------------------------

    def preserves(self, node: Branch) -> bool:
        """Whether white space inside must stay as it is."""
        return any(
            uri == XML and local == "space" and value == "preserve"
            for _, local, uri, value in node.attributes
        )

    def indents(self, node: Branch) -> bool:
        suppressed = (node.uri, node.local) in self.parameters.suppress_indentation
        return not suppressed and not self.preserves(node)

    def may_indent(self, node: Branch) -> bool:
        """Whether white space may be added between the children."""
        return not _has_text(node) and any(child.kind == ELEMENT for child in node.children)


def _has_text(node: Branch) -> bool:
    return any(child.kind == TEXT for child in node.children)


class XhtmlWriter(XmlWriter):
    """XML that browsers read as HTML."""

    def tag(self, node: Branch) -> str:
        bare = self.parameters.html5 and node.uri in (XHTML, SVG, MATHML)
        return self.chars.plain(node.local if bare else node.name)

    def declared(self, node: Branch, scope: dict[str, str]) -> dict[str, str]:
        if not (self.parameters.html5 and node.uri in (XHTML, SVG, MATHML)):
            return super().declared(node, scope)
        used = {prefix for prefix, _, uri, _ in node.attributes if uri == node.uri}
        bare = Branch(ELEMENT, "", node.local, node.uri, namespaces={
            prefix: uri
            for prefix, uri in node.namespaces.items()
            if prefix and (uri not in (XHTML, SVG, MATHML) or prefix in used)
        })  # fmt: skip
        return super().declared(bare, scope)

    def closes_alone(self, node: Branch) -> bool:
        if node.uri == XHTML or (node.uri == "" and self.parameters.html5):
            return is_void(node.local, self.parameters)
        return node.uri != ""

    def empty_end(self, node: Branch) -> str:
        return " />" if node.uri in ("", XHTML) else "/>"

    def attribute(self, node: Branch, name: str, local: str, uri: str, value: str) -> None:
        from xstreamcast.functions.serialization.html import escaped_uri, is_uri_attribute

        html = node.uri == XHTML and uri == ""
        if html and self.parameters.escape_uri_attributes and is_uri_attribute(node.local, local):
            value = escaped_uri(value)
        super().attribute(node, name, local, uri, value)

    def indents(self, node: Branch) -> bool:
        kept = node.uri == XHTML and node.local in ("pre", "textarea", "script", "style", "title")
        return not kept and super().indents(node)

    def may_indent(self, node: Branch) -> bool:
        return super().may_indent(node) and not any(
            child.kind == ELEMENT and child.uri == XHTML and child.local in INLINE
            for child in node.children
        )
