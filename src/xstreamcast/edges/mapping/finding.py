"""`[MAPPING:]PLACE`: which mapping a source names, shipped or in a file, and where it reads."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from xstreamcast.edges.mapping.form import Mapping, parse_mapping
from xstreamcast.errors import error


def split_source(source: Any) -> tuple[str | None, Any]:
    """(the word for the mapping, the place), the word None where a source names none."""
    if not isinstance(source, str | os.PathLike):
        return getattr(source, "mapping", None), source
    word = os.fspath(source)
    if not isinstance(word, str):
        return None, source
    begin = word.find(".toml:")
    name, _, place = (
        (word[: begin + 5], ":", word[begin + 6 :]) if begin > 0 else word.partition(":")
    )
    if not place or os.path.exists(word):
        return None, source
    if name.endswith(".toml") or name in shipped():
        return name, place
    return None, source


def mapping_of(source: Any) -> tuple[Mapping | None, Any]:
    """The mapping that a source names, and its place."""
    word, place = split_source(source)
    return (None, source) if word is None else (named_mapping(word), place)


@cache
def shipped() -> tuple[str, ...]:
    """The names of the mappings that come with the package."""
    folder = files(__package__).joinpath("shipped")
    return tuple(sorted(one.name[:-5] for one in folder.iterdir() if one.name.endswith(".toml")))


def named_mapping(word: str) -> Mapping:
    """A shipped mapping by its name, or the mapping in a file."""
    if word in shipped():
        return parse_mapping(shipped_text(word), word)
    try:
        text = Path(word).read_text("utf-8")
    except UnicodeDecodeError:
        raise error("XSCU0003", f"{word} is not UTF-8") from None
    except OSError as failed:
        raise error(
            "XSCU0003", f"cannot open the mapping {word}: {failed.strerror}",
            hint=f"shipped mappings: {', '.join(shipped())}",
        ) from None  # fmt: skip
    return parse_mapping(text, word)


def shipped_text(name: str) -> str:
    """The text of a shipped mapping."""
    return files(__package__).joinpath("shipped", f"{name}.toml").read_text("utf-8")
