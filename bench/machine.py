"""What a measurement ran on, in the words that stand under its table."""

import os
import platform
from collections.abc import Iterable
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from xml.parsers import expat

PACKAGES = ("xstreamcast", "numpy", "numba", "saxonche", "lxml")


def machine(packages: Iterable[str] = PACKAGES) -> str:
    """Processor, memory, system, versions and today's date, as a list in Markdown."""
    versions = [f"Python {platform.python_version()}", expat.EXPAT_VERSION.replace("_", " ")]
    versions += [f"{name} {found}" for name in packages if (found := _version(name))]
    rows = {
        "machine": f"{_processor()}, {os.cpu_count()} cores, {_memory()}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "versions": ", ".join(versions),
        "date": date.today().isoformat(),
    }
    return "".join(f"- {name}: {text}\n" for name, text in rows.items())


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:  # a peer that is not installed is not measured either
        return None


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> str:
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{size / 2**30:.0f} GB"
