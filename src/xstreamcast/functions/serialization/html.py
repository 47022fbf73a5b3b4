"""The method html: trees as HTML 4 or HTML5, and what html and xhtml share."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from xstreamcast.errors import error
from xstreamcast.functions.serialization.markup import (
    INLINE,
    MATHML,
    SVG,
    XHTML,
    XmlWriter,
    is_void,
)
from xstreamcast.functions.serialization.parameters import Parameters
from xstreamcast.functions.serialization.tree import Branch
from xstreamcast.tape.layout import DOCUMENT, ELEMENT

_RAW: Final = frozenset({"script", "style"})
_BOOLEAN: Final = frozenset(
    (
        *("checked", "compact", "declare", "defer", "disabled", "ismap", "multiple"),
        *("nohref", "noresize", "noshade", "nowrap", "readonly", "selected", "async"),
        *("autofocus", "autoplay", "controls", "default", "formnovalidate", "hidden"),
        *("itemscope", "loop", "novalidate", "open", "required", "reversed", "scoped"),
        *("seamless", "typemustmatch"),
    )
)
_URIS: Final = frozenset(
    {("form", "action"), ("body", "background"), ("blockquote", "cite"), ("q", "cite")}
    | {("del", "cite"), ("ins", "cite"), ("object", "classid"), ("applet", "codebase")}
    | {("object", "codebase"), ("object", "data"), ("button", "datasrc"), ("div", "datasrc")}
    | {("input", "datasrc"), ("object", "datasrc"), ("select", "datasrc"), ("span", "datasrc")}
    | {("table", "datasrc"), ("textarea", "datasrc"), ("script", "for"), ("a", "href")}
    | {("area", "href"), ("base", "href"), ("link", "href"), ("frame", "longdesc")}
    | {("iframe", "longdesc"), ("img", "longdesc"), ("a", "name"), ("head", "profile")}
    | {("frame", "src"), ("iframe", "src"), ("img", "src"), ("input", "src")}
    | {("script", "src"), ("img", "usemap"), ("input", "usemap"), ("object", "usemap")}
    | {("audio", "src"), ("video", "src"), ("video", "poster"), ("embed", "src")}
    | {("source", "src"), ("track", "src"), ("button", "formaction"), ("input", "formaction")}
    | {("html", "manifest")}
)


def is_uri_attribute(element: str, attribute: str) -> bool:
    """Whether HTML takes the attribute for an address."""
    return (element.lower(), attribute.lower()) in _URIS


def escaped_uri(value: str) -> str:
    """What is beyond ASCII, as percent escapes of UTF-8."""
    made = unicodedata.normalize("NFC", value)
    return "".join(c if " " <= c <= "~" else quote(c) for c in made)


class HtmlWriter(XmlWriter):
    """Writes trees as HTML; elements of other namespaces as XML."""

    def _is_html(self, node: Branch) -> bool:
        return node.uri == "" or (node.uri == XHTML and self.parameters.html5)

    def tag(self, node: Branch) -> str:
        bare = self.parameters.html5 and node.uri in (XHTML, SVG, MATHML)
        return self.chars.plain(node.local if bare else node.name)

    def declared(self, node: Branch, scope: dict[str, str]) -> dict[str, str]:
        if self.parameters.html5 and node.uri in (XHTML, SVG, MATHML):
            bare = Branch(
                ELEMENT, "", node.local, node.uri,
                namespaces={k: u for k, u in node.namespaces.items()
                            if k and u not in (XHTML, SVG, MATHML)},
            )  # fmt: skip
            return super().declared(bare, scope)
        return super().declared(node, scope)

    def text(self, value: str, within: str) -> None:
        local = within.rpartition("}")[2].lower()
        html = within.startswith(("{}", f"{{{XHTML}}}"))
        if html and local in _RAW:
            self.out.append(self.chars.raw(value))
            return
        _refuse_controls(value)
        self.out.append(self.chars.text(value).replace("\xa0", "&nbsp;"))

    def pi(self, node: Branch) -> None:
        if ">" in node.value:
            raise error("SERE0015")
        value = self.chars.plain(node.value)
        self.out.append(f"<?{node.local} {value}>" if value else f"<?{node.local}>")

    def attribute(self, node: Branch, name: str, local: str, uri: str, value: str) -> None:
        if not self._is_html(node) or uri:
            super().attribute(node, name, local, uri, value)
            return
        low = local.lower()
        if low in _BOOLEAN and value.lower() == low:
            self.out.append(f" {self.chars.plain(name)}")
            return
        if self.parameters.escape_uri_attributes and is_uri_attribute(node.local, local):
            value = escaped_uri(value)
        _refuse_controls(value)
        made = self.chars.attribute(value).replace("&lt;", "<").replace("&gt;", ">")
        made = made.replace("&amp;{", "&{").replace("\xa0", "&nbsp;")
        made = made.replace("&#xA;", "\n").replace("&#x9;", "\t")
        self.out.append(f' {self.chars.plain(name)}="{made}"')

    def element(self, node: Branch, scope: dict[str, str], depth: int, indent: bool) -> None:
        if self._is_html(node) and is_void(node.local, self.parameters):
            self.start(node, scope)
            self.out.append(">")
            return
        super().element(node, scope, depth, indent)

    def has_cdata(self, node: Branch) -> bool:
        return not self._is_html(node) and super().has_cdata(node)

    def closes_alone(self, node: Branch) -> bool:
        return not self._is_html(node)

    def indents(self, node: Branch) -> bool:
        if not self._is_html(node):
            return super().indents(node)
        low = node.local.lower()
        suppressed = {local.lower() for _, local in self.parameters.suppress_indentation}
        kept = low in ("pre", "textarea", "script", "style", "title") or low in suppressed
        return not kept and super().indents(node)

    def may_indent(self, node: Branch) -> bool:
        return super().may_indent(node) and not any(
            child.kind == ELEMENT and child.local.lower() in INLINE for child in node.children
        )


def _refuse_controls(value: str) -> None:
    for char in value:
        if "\x7f" <= char <= "\x9f":
            raise error("SERE0014", f"U+{ord(char):04X} is not allowed in HTML")


# -- the content type ------------------------------------------------------------------------


def with_content_type(node: Branch, parameters: Parameters) -> Branch:
    """The tree with a meta element for the encoding as the first child of its head."""
    if not parameters.include_content_type:
        return node
    if node.kind == DOCUMENT:
        children = [with_content_type(child, parameters) for child in node.children]
        return replace(node, children=children)
    if node.kind != ELEMENT or node.local.lower() != "html":
        return _in_head(node, parameters) if _is(node, "head", parameters) else node
    children = [_in_head(c, parameters) if _is(c, "head", parameters) else c for c in node.children]
    return replace(node, children=children)


def _is(node: Branch, local: str, parameters: Parameters) -> bool:
    wanted = (XHTML,) if parameters.method == "xhtml" and not parameters.html5 else ("", XHTML)
    return node.kind == ELEMENT and node.local.lower() == local and node.uri in wanted


def _in_head(head: Branch, parameters: Parameters) -> Branch:
    media = parameters.media_type or "text/html"
    meta = Branch(ELEMENT, head.prefix, "meta", head.uri, attributes=[
        ("", "http-equiv", "", "Content-Type"),
        ("", "content", "", f"{media}; charset={parameters.encoding}"),
    ])  # fmt: skip
    return replace(head, children=[meta, *(c for c in head.children if not _names_type(c))])


def _names_type(node: Branch) -> bool:
    """Whether it is a meta element that names a content type already."""
    return (
        node.kind == ELEMENT
        and node.local.lower() == "meta"
        and any(
            local.lower() == "http-equiv" and value.strip().lower() == "content-type"
            for _, local, _, value in node.attributes
        )
    )
