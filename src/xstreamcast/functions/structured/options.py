"""Options given as a map: which are known, of what type, and what they are when not given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xstreamcast.errors import Error, error
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import cast_value
from xstreamcast.model.atomic import BY_TAG, FUNCTION, FUNCTIONS, STRING, UNTYPED, derives
from xstreamcast.model.column import Column, gather

if TYPE_CHECKING:
    from xstreamcast.model.map_item import MapItem


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option: its atomic type (or FUNCTION), its default, and the values it may have."""

    tag: int
    default: Any = None
    allowed: tuple[Any, ...] | None = None


def options_of(
    call: CallContext, given: MapItem, known: Mapping[str, OptionSpec], code: str
) -> dict[str, Any]:
    """The value of every known option; others are ignored, wrong types are XPTY0004.

    `code` is the error for a value that the option does not allow.
    """
    found = {name: option.default for name, option in known.items()}
    for (tag, key), column, row in given.entries():
        if derives(tag, STRING) and key in known:
            found[key] = _value(call, key, known[key], gather([(column, row)]), code)
    return found


def _value(call: CallContext, name: str, option: OptionSpec, value: Column, code: str) -> Any:
    if option.tag == FUNCTION:
        return _function(name, value)
    atoms = list(atomize(call, value).items.pairs())
    if len(atoms) != 1:
        raise _unfit(name, option)
    ((tag, found),) = atoms
    if tag == UNTYPED:
        found = cast_value(tag, found, option.tag)
    elif not derives(tag, option.tag):
        raise _unfit(name, option)
    if option.allowed is not None and found not in option.allowed:
        words = ", ".join(map(str, option.allowed))
        raise error(code, f"the option {name} must be one of {words}; got {found}")
    return found


def _function(name: str, value: Column) -> Any:
    items = value.items
    if len(items) != 1 or int(items.all_tags()[0]) not in FUNCTIONS:
        raise error("XPTY0004", f"the option {name} must be a function")
    return items.values.tolist()[0]


def _unfit(name: str, option: OptionSpec) -> Error:
    kind = BY_TAG[option.tag].name
    return error("XPTY0004", f"the option {name} must be one xs:{kind}")
