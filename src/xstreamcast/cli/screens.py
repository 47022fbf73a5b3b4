"""What `--help` and `--version` show."""

from __future__ import annotations

from typing import Final

from xstreamcast import __version__
from xstreamcast.cli.arguments import EVERYWHERE
from xstreamcast.cli.table import present

# The first three whose command is there are shown; every one runs as pasted.
EXAMPLES: Final = (
    ("run", "echo '<a><b>1</b><b>2</b></a>' | xstreamcast run -q 'sum(//b)' -i -"),
    ("demo", "xstreamcast demo"),
    ("explain", "xstreamcast explain --stage tree -q 'for $b in //b where $b > 1 return $b'"),
    ("functions", "xstreamcast functions"),
    ("bench", "xstreamcast bench --help"),
    ("", "xstreamcast --version"),
    ("", "xstreamcast --help"),
)

EXIT_CODES: Final = (
    "exit codes: 0 ok, 1 failed at run time, 2 usage, 3 query does not compile,\n"
    "            4 input not well-formed, 130 interrupted"
)


def help_screen() -> str:
    rows = present()
    names = {row.name for row in rows} | {""}
    examples = [line for name, line in EXAMPLES if name in names][:3]
    parts = [
        "XStreamCast: continuous XQuery over XML feeds that correct themselves",
        "\n".join(f"  {line}" for line in examples),
        "usage: xstreamcast COMMAND [options]        (xsc for short)",
        "\n".join(f"  {row.name:<10} {row.help}" for row in rows),
        "xstreamcast COMMAND --help lists options; xstreamcast --version prints versions\n"
        + EVERYWHERE,
        EXIT_CODES,
    ]
    return "\n\n".join(parts) + "\n"


def version_line() -> str:
    """Versions from package metadata: no heavy module is imported for them."""
    import platform

    parts = [f"Python {platform.python_version()}", _installed("numba", "numba")]
    return f"xstreamcast {__version__} ({', '.join([*parts, _installed('Spark', 'pyspark')])})"


def _installed(title: str, package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{title} {version(package)}"
    except PackageNotFoundError:
        return f"{title} not installed"
