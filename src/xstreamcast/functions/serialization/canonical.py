"""Canonical XML 1.1, with comments: one text for every tree, whatever it was written like."""

from __future__ import annotations

from xstreamcast.functions.serialization.markup import XmlWriter
from xstreamcast.functions.serialization.tree import Branch
from xstreamcast.tape.layout import COMMENT, DOCUMENT, ELEMENT, PI

_TEXT = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"}
_ATTRIBUTE = {"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;"}
_TEXT_TABLE, _ATTRIBUTE_TABLE = str.maketrans(_TEXT), str.maketrans(_ATTRIBUTE)


class CanonicalWriter(XmlWriter):
    """Writes trees as canonical XML; parameters change nothing."""

    def written(self, node: Branch) -> str:
        self.out = []
        if node.kind != DOCUMENT:
            self.node(node, {}, 0, False, "")
            return "".join(self.out)
        seen = False
        for child in node.children:
            if child.kind in (COMMENT, PI) and seen:
                self.out.append("\n")
            self.node(child, {}, 0, False, "")
            if child.kind in (COMMENT, PI) and not seen and _element_follows(node):
                self.out.append("\n")
            seen = seen or child.kind == ELEMENT
        return "".join(self.out)

    def text(self, value: str, within: str) -> None:
        self.out.append(value.translate(_TEXT_TABLE))

    def start(self, node: Branch, scope: dict[str, str]) -> dict[str, str]:
        self.out.append(f"<{node.name}")
        declared = self.declared(node, scope)
        for prefix in sorted(declared):
            name = f"xmlns:{prefix}" if prefix else "xmlns"
            self.out.append(f' {name}="{declared[prefix].translate(_ATTRIBUTE_TABLE)}"')
        for prefix, local, _, value in sorted(node.attributes, key=lambda a: (a[2], a[1])):
            name = f"{prefix}:{local}" if prefix else local
            self.out.append(f' {name}="{value.translate(_ATTRIBUTE_TABLE)}"')
        return scope | declared

    def closes_alone(self, node: Branch) -> bool:
        return False

    def has_cdata(self, node: Branch) -> bool:
        return False


def _element_follows(node: Branch) -> bool:
    return any(child.kind == ELEMENT for child in node.children)
