"""All queries of the benchmark, by name."""

from fnmatch import fnmatchcase

from bench.growth.compared import COMPARED
from bench.growth.dashboards import DASHBOARDS
from bench.growth.entry import Entry
from bench.growth.groups import GROUPS
from bench.growth.joins import JOINS
from bench.growth.nine import NINE
from bench.growth.reports import REPORTS
from bench.growth.times import TIMES
from bench.growth.windows import WINDOWS
from bench.growth.xmark import XMARK
from xstreamcast.errors import error

ENTRIES: tuple[Entry, ...] = (
    *XMARK, *NINE, *WINDOWS, *GROUPS, *DASHBOARDS, *REPORTS, *JOINS, *COMPARED, *TIMES,
)  # fmt: skip


def chosen(patterns: list[str]) -> list[Entry]:
    """The queries whose names match one of the patterns, in the order of the catalogue."""
    found = [one for one in ENTRIES if any(fnmatchcase(one.name, p) for p in patterns)]
    if not found:
        said = ", ".join(patterns)
        raise error("XSCU0002", f"no query of the benchmark is named {said}", hint="try 'xmark *'")
    return found


def named(name: str) -> Entry:
    """The query of that name."""
    return next(one for one in ENTRIES if one.name == name)
