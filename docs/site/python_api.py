"""The page of the Python API, written from signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import xstreamcast
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.spark.query import SparkQuery
from xstreamcast.tape.node import Node

EXTRA = {"Change": Change, "Accumulated": Accumulated}
# What the names above give, and nobody imports.
GIVEN = {
    "xstreamcast.query(…).spark(session)": SparkQuery,
    "A node of an answer": Node,
}
# Public in Python, for commands and Spark alone: their arguments are internal.
INTERNAL = {"answer", "telling", "watching"}
SPECIAL = ("__iter__", "__aiter__", "__getitem__")


def python_page() -> str:
    """Everything that `import xstreamcast` offers."""
    parts = [
        "# Python API\n\nThis page is generated from docstrings. The names below are public: "
        "[versions and releases](../releasing.md) says what that means.\n",
        "```python\nimport xstreamcast as xsc\n```\n",
    ]
    names = [name for name in xstreamcast.__all__ if name[0].islower()]
    names += [name for name in xstreamcast.__all__ if not name[0].islower()]
    for name in names:
        parts.append(entry(f"xstreamcast.{name}", getattr(xstreamcast, name)))
    parts += [entry(name, value, constructed=False) for name, value in GIVEN.items()]
    parts.append("## xstreamcast.model.change\n")
    parts += [entry(name, value, 3) for name, value in EXTRA.items()]
    return "\n".join(parts)


def entry(name: str, value: object, level: int = 2, constructed: bool = True) -> str:
    """A function, or a class with its methods; its signature, if users construct it."""
    sentence = described(name.rpartition(".")[2], value) if constructed else documented(value)
    parts = [f"{'#' * level} {name}\n", sentence]
    if inspect.isclass(value):
        parts += [
            f"{'#' * (level + 1)} {value.__name__}.{member}\n\n{described(member, one)}"
            for member, one in members(value)
        ]
    return "\n".join(parts)


def members(value: type) -> Iterator[tuple[str, object]]:
    """Public methods and properties, its own first, in the order of the source."""
    seen = set(INTERNAL)
    for owner in value.__mro__:
        if not owner.__module__.startswith("xstreamcast"):
            continue
        for member, one in vars(owner).items():
            if isinstance(one, (classmethod, staticmethod)):
                one = one.__func__
            shown = inspect.isfunction(one) or isinstance(one, property)
            public = not member.startswith("_") or member in SPECIAL
            if shown and public and inspect.getdoc(one) and member not in seen:
                seen.add(member)
                yield member, one


def described(name: str, value: object) -> str:
    return f"```text\n{signature(name, value)}\n```\n\n{documented(value)}"


def documented(value: object) -> str:
    doc = inspect.getdoc(value) or ""
    first, _, rest = doc.partition("\n\n")
    return (f"{first}\n\n{fenced(rest)}" if rest else f"{first}\n") + "\n"


def fenced(rest: str) -> str:
    """Paragraphs, with lines of code as code."""
    made = []
    for part in rest.split("\n\n"):
        is_code = part.startswith(("answer", "with ", "for ", "async ", "query", "q ="))
        made.append(f"```text\n{part}\n```" if is_code else part)
    return "\n\n".join(made) + "\n"


def signature(name: str, value: object) -> str:
    if isinstance(value, property):
        return f"{name}  (property)"
    try:
        shown = str(inspect.signature(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name
    shown = re.sub(r"""(: |-> )(['"])(.*?)\2""", r"\1\3", shown)
    for noise in ("self, ", "self", "cls, ", "cls"):
        if shown.startswith(f"({noise}"):
            shown = "(" + shown[len(noise) + 1 :]
            break
    return wrapped(name + shown)


def wrapped(shown: str) -> str:
    """One parameter to a line where one line is too long."""
    if len(shown) <= 90:
        return shown
    head, _, tail = shown.partition("(")
    inner, _, result = tail.rpartition(")")
    depth, parts, start = 0, [], 0
    for n, char in enumerate(inner):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append(inner[start:n].strip())
            start = n + 1
    parts.append(inner[start:].strip())
    return f"{head}(\n    " + ",\n    ".join(parts) + f",\n){result}"
