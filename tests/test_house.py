"""The house rules that a machine can check."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "xstreamcast"
LIMIT = 400

# Files over the limit, each with its reason.
LONG = {
    "src/xstreamcast/errors.py": "half of it is the table of codes, one row each",
    "src/xstreamcast/tape/tokenize/loop.py": "one compiled loop, whose positions stay in registers",
}

ROOMS = (
    *("model", "kernels", "tape", "syntax", "functions", "algebra", "rewrite", "evaluate"),
    *("history", "circuit", "operators", "edges", "spark", "serve", "live", "cli"),
)

# Roots that tools and people use; /root/… alone may be a path in a query.
MACHINE = re.compile(
    r"[/](work|home|Users)[/]\w+[/]|[/]root[/][.]|[/](tmp|opt)[/]\w|file:[/]{3}opt"
)


def texts(*patterns: str) -> list[Path]:
    """Files of the project, without what tools leave behind."""
    found = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    return [path for path in found if path.is_file() and "__pycache__" not in path.parts]


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def sources() -> list[Path]:
    return texts(
        "src/**/*.py", "tests/**/*.py", "bench/**/*.py", "examples/**/*.py", "docs/**/*.py"
    )


@pytest.mark.parametrize("path", sources(), ids=named)
def test_a_file_is_one_sitting(path: Path) -> None:
    lines = path.read_text("utf-8").count("\n")
    assert lines <= LIMIT or named(path) in LONG, (
        f"{lines} lines: split it, or list it with a reason"
    )


@pytest.mark.parametrize("name", LONG)
def test_a_listed_file_still_needs_its_reason(name: str) -> None:
    assert (ROOT / name).read_text("utf-8").count("\n") > LIMIT, "take it off the list"


def test_nothing_names_a_place_on_somebodys_machine() -> None:
    prose = texts("*.md", "*.txt", "Makefile", "pyproject.toml", ".ci/*", "docs/**/*.md")
    code = texts(
        "src/**/*.py",
        "docs/**/*.py",
        ".github/**/*",
        "bench/**/*.py",
        "examples/**/*",
        "tests/**/*.py",
    )
    found = [
        f"{named(path)}: {hit.group()}"
        for path in prose + code
        if (hit := MACHINE.search(path.read_text("utf-8")))
    ]
    assert found == []


def test_constraints_are_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert len(lines) > 20
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9._-]+==[0-9][\w.]*", line)] == []


def test_every_room_is_there_and_no_other() -> None:
    found = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert found == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_in_one_sentence_what_lives_in_it(room: str) -> None:
    said = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text("utf-8")))
    assert said is not None
    assert said.split("\n")[0].endswith(".")


@pytest.mark.parametrize("path", texts("src/**/*.py", "bench/**/*.py"), ids=named)
def test_a_file_has_a_name_that_says_something_and_a_sentence(path: Path) -> None:
    assert path.stem not in {
        "utils",
        "util",
        "common",
        "core",
        "base",
        "manager",
        "helpers",
        "misc",
    }
    assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), "say what it is, in a line"


@pytest.mark.parametrize(
    "statement",
    [
        "import xstreamcast",
        "import xstreamcast.errors",
        "import xstreamcast.cli.main as m; m.main(['--help'])",
        "import xstreamcast.cli.main as m; m.main(['--version'])",
    ],
)
def test_importing_the_package_imports_nothing_heavy(statement: str) -> None:
    heavy = "{'numba', 'numpy', 'pyspark', 'saxonche', 'lxml'}"
    code = f"import sys; {statement}; print('heavy', sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "heavy []"


def test_two_classes_never_share_a_name() -> None:
    places = defaultdict[str, list[str]](list)
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    shared = {name: where for name, where in places.items() if len(where) > 1}
    assert shared == {}


def test_what_is_listed_as_slow_is_there() -> None:
    lines = (ROOT / "tests" / "slow.txt").read_text("utf-8").splitlines()
    listed = [line.split()[1].split("::") for line in lines if not line.startswith("#")]
    gone = [
        f"{path}::{name}"
        for path, name in listed
        if not (ROOT / path).exists() or f"def {name}(" not in (ROOT / path).read_text("utf-8")
    ]
    assert gone == [], "take it off tests/slow.txt"


# What makes no sense without Spark, though it does not import it: each with its reason.
BESIDE_SPARK = {
    "home": "the folder of Spark's programs",
    "java": "which Java runs Spark, and how it is started",
    "master": "where Spark runs, by its master's address",
    "failing": "what Java and Spark say when they fail, as errors of ours",
    "muffled": "what Java writes to the terminal",
    "watching/checkpoint": "the folder that holds Spark's checkpoint",
    "watching/emitted": "the columns that Spark's processors give",
    "watching/ending": "copies of Spark's checkpoint",
    "watching/seeds": "what places begin with when Spark begins anew",
    "watching/steps": "how many steps Spark's plan has",
}


def test_what_is_in_spark_needs_spark() -> None:
    room = PACKAGE / "spark"
    found = {
        path.relative_to(room).with_suffix("").as_posix()
        for path in room.rglob("*.py")
        if path.name != "__init__.py" and not _names_pyspark(path)
    }
    assert found == set(BESIDE_SPARK)


def _names_pyspark(path: Path) -> bool:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        named = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        named += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(one.partition(".")[0] == "pyspark" for one in named):
            return True
    return False
