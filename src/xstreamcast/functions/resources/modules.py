"""fn:load-xquery-module: the public functions and variables of a library module, as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from xstreamcast.errors import error
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import one_or
from xstreamcast.functions.structured.options import OptionSpec, options_of
from xstreamcast.model.atomic import DECIMAL, FUNCTION, INTEGER, MAP, QNAME, STRING, derives
from xstreamcast.model.column import Column, gather
from xstreamcast.model.items import Items
from xstreamcast.model.map_item import Entry, MapItem, maps_of
from xstreamcast.model.qname import QName

if TYPE_CHECKING:
    from xstreamcast.model.function_item import FunctionItem

_VERSION: Final = {"xquery-version": OptionSpec(DECIMAL)}


@function("fn:load-xquery-module($module-uri as xs:string) as map(*)", deterministic=False)
@function(
    "fn:load-xquery-module($module-uri as xs:string, $options as map(*)) as map(*)",
    deterministic=False,
)
def load_xquery_module(call: CallContext, uri: Column, options: Column | None = None) -> Column:
    """A map of the functions and variables that a library module declares."""
    given = [None] * call.n if options is None else one_or(options)
    rows = zip(one_or(uri), given, strict=True)
    return Column(Items.concat([_loaded(call, name, one) for name, one in rows]))


def _loaded(call: CallContext, uri: str, options: MapItem | None) -> Items:
    if not uri:
        raise error("FOQM0001", "the namespace of a module must not be empty")
    if call.load is None:
        raise error("FOQM0006", "this query may load no module")
    found = {} if options is None else _options(call, options)
    places = tuple(found.get("location-hints", ()))
    made = call.load(uri, places, found.get("variables", {}), found.get("context-item"))
    variables = maps_of(
        [[((QNAME, QName(*name)), value, 0) for name, value in made.variables.items()]]
    )
    parts = {"variables": variables, "functions": _functions(made.functions)}
    entries: list[Entry] = [((STRING, name), Column(items), 0) for name, items in parts.items()]
    return maps_of([entries])


def _functions(found: dict[tuple[str, str, int], FunctionItem]) -> Items:
    """A map from names to maps from numbers of arguments to functions."""
    by_name: dict[tuple[str, str], list[Entry]] = {}
    for (uri, local, arity), item in found.items():
        entry: Entry = ((INTEGER, arity), Column(Items.of(FUNCTION, [item])), 0)
        by_name.setdefault((uri, local), []).append(entry)
    rows = [
        ((QNAME, QName(*name)), Column(maps_of([entries])), 0) for name, entries in by_name.items()
    ]
    return maps_of([rows])


def _options(call: CallContext, options: MapItem) -> dict[str, Any]:
    version = options_of(call, options, _VERSION, "FOQM0006")["xquery-version"]
    if version is not None and str(version) not in ("1", "1.0", "3", "3.0", "3.1"):
        raise error("FOQM0006", f"XQuery {version} is not supported")
    found: dict[str, Any] = {}
    for (_, key), column, row in options.entries():
        value = gather([(column, row)])
        match key:
            case "location-hints":
                found[key] = [str(v) for v in atomize(call, value).items.values.tolist()]
            case "context-item":
                if len(value.items) > 1:
                    raise error("FOQM0005", "the context item must be one item")
                found[key] = value.items if len(value.items) else None
            case "variables":
                found[key] = _variables(value)
            case "vendor-options":
                for (tag, _), _, _ in _map(value, "vendor-options").entries():
                    if not derives(tag, QNAME):
                        raise error("XPTY0004", "the name of a vendor option must be an xs:QName")
            case _:
                pass
    return found


def _variables(value: Column) -> dict[tuple[str, str], Items]:
    given: dict[tuple[str, str], Items] = {}
    for (tag, name), column, row in _map(value, "variables").entries():
        if not derives(tag, QNAME):
            raise error("FOQM0005", "the name of a variable must be an xs:QName")
        given[name.uri, name.local] = gather([(column, row)]).items
    return given


def _map(value: Column, name: str) -> MapItem:
    if len(value.items) != 1 or value.items.tag != MAP:
        raise error("XPTY0004", f"{name} must be a map")
    found: MapItem = value.items.values.tolist()[0]
    return found
