"""Of the declarations of a prolog those that a query needs, and those that they need."""

from __future__ import annotations

import re
from typing import Final

QUERY: Final = "\n(: ---- the query ---- :)\n\n"

_DECLARATION: Final = re.compile(r"declare (?:function|variable) \$?(xsc:[\w.\-]+)")
_NAME: Final = re.compile(r"xsc:[\w.\-]+")
_COMMENT: Final = re.compile(r"\(:.*?:\)", re.S)
_TITLE: Final = re.compile(r"\(: ---- .* ---- :\)\n", re.S)


def needed_of(prolog: str, query: str) -> str:
    """The declarations that the query leads to, in their order; titles where something is below."""
    blocks = _blocks(prolog)
    names = [_DECLARATION.search(block) for block in blocks]
    needs = {
        found[1]: set(_NAME.findall(_COMMENT.sub("", block)))
        for found, block in zip(names, blocks, strict=True)
        if found
    }
    wanted, todo = set[str](), [one for one in _NAME.findall(query) if one in needs]
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += [one for one in needs[name] if one in needs]
    return _joined(
        [
            block
            for found, block in zip(names, blocks, strict=True)
            if not found or found[1] in wanted
        ]
    )


def _blocks(prolog: str) -> list[str]:
    """Each declaration with the comment before it, each title by itself."""
    blocks: list[str] = []
    begin = 0
    for line in re.finditer(r".*\n", prolog):
        if line[0].startswith("(: ----") or _ends(prolog[begin : line.start()], line[0]):
            blocks.append(prolog[begin : line.end()])
            begin = line.end()
    return blocks


def _ends(before: str, line: str) -> bool:
    """Whether the line ends a declaration: inside a function's body none does."""
    return line.endswith(";\n") and (not line.startswith(" ") or "{" not in before)


def _joined(blocks: list[str]) -> str:
    """The blocks without titles that nothing is below."""
    kept: list[str] = []
    for block in blocks:
        if kept and _is_title(kept[-1]) and _is_title(block):
            kept.pop()
        kept.append(block)
    if kept and _is_title(kept[-1]):
        kept.pop()
    return "".join(kept)


def _is_title(block: str) -> bool:
    return _TITLE.fullmatch(block.lstrip("\n")) is not None
