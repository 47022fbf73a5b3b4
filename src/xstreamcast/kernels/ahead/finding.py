"""Which kernels Python calls, and which files each is made from: read from the sources alone."""

from __future__ import annotations

import ast
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from xstreamcast.kernels.ahead.stamps import PACKAGE
from xstreamcast.kernels.compiled import Kernel, known

ROOMS = ("kernels", "tape")  # where kernels are
_IMPORT = re.compile(r"^([ \t]*)from (xstreamcast(?:\.\w+)+) import", re.MULTILINE)
_NUMBA = re.compile(r"^(?:from|import) (?:numba|llvmlite)", re.MULTILINE)
# What decides nothing about the code of a kernel.
_APART = (
    "xstreamcast.errors",
    "xstreamcast.model.frozen",
    "xstreamcast.kernels.ahead",
    "xstreamcast.kernels.kernel_cache",
)


@dataclass(frozen=True, slots=True)
class Called:
    """A kernel that Python calls."""

    module: str
    name: str

    @property
    def kernel(self) -> Kernel:
        """The kernel itself."""
        import_module(self.module)
        return known[self.module, self.name]

    @property
    def path(self) -> Path:
        """The file it is written in."""
        return Path(self.kernel.function.__code__.co_filename)


def called_kernels() -> list[Called]:
    """All kernels of the package that code outside of kernels names."""
    whole = {one for one in _kernels() if one.kernel.is_whole}
    used = set(_uses())
    return sorted((k for k in whole if k in used), key=lambda k: (k.module, k.name))


@cache
def _kernels() -> frozenset[Called]:
    """Every compiled function, of whatever kind."""
    modules = set(_modules())
    for name in modules:
        import_module(name)
    return frozenset(Called(module, name) for module, name in known if module in modules)


def _modules() -> Iterator[str]:
    for room in ROOMS:
        prefix = f"xstreamcast.{room}."
        for module in pkgutil.walk_packages([str(PACKAGE / room)], prefix):
            if not module.name.startswith("xstreamcast.kernels.ahead") and not _is_numbas(module):
                yield module.name


def _is_numbas(module: pkgutil.ModuleInfo) -> bool:
    """Whether a module is itself written with numba, and imported only while compiling."""
    path = _file(module.name)
    return path is not None and _NUMBA.search(path.read_text("utf-8")) is not None


def _uses() -> Iterator[Called]:
    """The names that plain code uses, each as what it may be: a kernel here or one imported."""
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(("xstreamcast", *path.relative_to(PACKAGE).with_suffix("").parts))
        tree = ast.parse(path.read_text("utf-8"))
        names = set(_plain_names(tree, module.removesuffix(".__init__")))
        yield from (Called(module, name) for name in names)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if (alias.asname or alias.name) in names or path.name == "__init__.py":
                        yield Called(node.module, alias.name)
                        # a module of kernels, imported as such
                        yield from (Called(f"{node.module}.{alias.name}", name) for name in names)


def _plain_names(tree: ast.Module, module: str) -> Iterator[str]:
    """Names that are read, or looked up in something, anywhere but in a compiled function."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and Called(module, statement.name) in _kernels():
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                yield node.id
            elif isinstance(node, ast.Attribute):
                yield node.attr


@cache
def sources(path: Path) -> frozenset[Path]:
    """A file of kernels and those it imports from, near and far."""
    found, new = set[Path](), {path}
    while new:
        found |= new
        new = {other for one in new for other in _imported(one)} - found
    return frozenset(found)


def _imported(path: Path) -> Iterator[Path]:
    """What a file imports that its kernels may be made of: at its top, or to write them out."""
    for indent, module in _IMPORT.findall(path.read_text("utf-8")):
        found = None if module.startswith(_APART) else _file(module)
        if found is not None and (not indent or _NUMBA.search(found.read_text("utf-8"))):
            yield found


def _file(module: str) -> Path | None:
    """The file of a module of the package; none for a room."""
    path = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    return path if path.is_file() else None
