"""The known nesting of elements: their children, attributes and times."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

Children: TypeAlias = dict[Hashable, bool]  # key → whether it may repeat there


@dataclass(slots=True)
class Element:
    """An element as it is declared, or as it was met: below one place, or everywhere."""

    uri: str
    local: str
    children: Children = field(default_factory=dict)
    times: list[str] = field(default_factory=list)  # `@date`, `sold`: what holds an instant
    attributed: bool = False  # whether it was met or declared with attributes
    wraps: bool | None = None  # whether each that was met holds one element, and nothing else
    versioned: str = ""  # `@version`: what holds the number of a version

    @property
    def name(self) -> tuple[str, str]:
        return self.uri, self.local

    @property
    def has_parts(self) -> bool:
        """Whether it is more than a text."""
        return bool(self.children) or self.attributed


@dataclass(slots=True)
class Graph:
    """Elements by key; a key distinguishes two elements."""

    root: Hashable
    elements: dict[Hashable, Element] = field(default_factory=dict)

    def walk(self) -> Iterator[Hashable]:
        """All keys that the root leads to, in document order."""
        seen: set[Hashable] = set()
        todo = [self.root]
        while todo:
            key = todo.pop()
            if key not in seen:
                seen.add(key)
                yield key
                todo.extend(reversed(self.elements[key].children))

    def unite(self, kept: Hashable, gone: Hashable) -> None:
        """Make two elements one."""
        target, source = self.elements[kept], self.elements.pop(gone)
        target.attributed |= source.attributed
        target.wraps = target.wraps and source.wraps
        target.versioned = target.versioned or source.versioned
        target.times += [time for time in source.times if time not in target.times]
        for key, repeats in source.children.items():
            target.children[key] = target.children.get(key, False) or repeats
        for element in self.elements.values():
            if gone in element.children:
                element.children = _renamed(element.children, gone, kept)
        self.root = kept if self.root == gone else self.root


def _renamed(children: Children, gone: Hashable, kept: Hashable) -> Children:
    """Children with one key replaced by another, which may exist already."""
    out: Children = {}
    for key, repeats in children.items():
        new = kept if key == gone else key
        out[new] = out.get(new, False) or repeats
    return out


def merge_equals(graph: Graph, recursive: bool) -> None:
    """Below one element a name becomes one element; on request, so does one that contains itself.

    The children of what became one may be equal in turn, so this is repeated until none are.
    """
    while pair := _siblings(graph) or (recursive and _contained(graph)):
        graph.unite(*pair)


def _siblings(graph: Graph) -> tuple[Hashable, Hashable] | None:
    """Two children of one element with the same name."""
    for element in graph.elements.values():
        seen: dict[tuple[str, str], Hashable] = {}
        for key in element.children:
            first = seen.setdefault(graph.elements[key].name, key)
            if first != key:
                return first, key
    return None


def _alike(graph: Graph, top: Hashable, below: Hashable) -> bool:
    """Whether two elements of one name hold the same kind of things: one contains itself then.

    A text in an element of its own name (`<status><status>open</status></status>`) is another.
    """
    if below in graph.elements[top].children and graph.elements[below].children:
        return True
    names = [
        {graph.elements[child].name for child in graph.elements[key].children}
        for key in (top, below)
    ]
    return not names[0].isdisjoint(names[1])


def _contained(graph: Graph) -> tuple[Hashable, Hashable] | None:
    """An element and another of the same name and kind below it."""
    for top in graph.walk():
        name, seen = graph.elements[top].name, {top}
        todo = list(graph.elements[top].children)
        while todo:
            key = todo.pop()
            if key in seen:
                continue
            if graph.elements[key].name == name and _alike(graph, top, key):
                return top, key
            seen.add(key)
            todo.extend(graph.elements[key].children)
    return None
