"""What users install: an sdist and a wheel, in a clean environment of every Python that is here."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "src" / "xstreamcast" / "kernels" / "ahead" / "built"
OWN = f"{platform.machine()}-*.so"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")

pytestmark = pytest.mark.slow


def interpreter(version: str) -> str | None:
    """A Python of this version: on the path, or where pyenv keeps them."""
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    kept = sorted(home.glob(f"versions/{version}.*/bin/python{version}"))
    for found in (shutil.which(f"python{version}"), *map(str, kept)):
        if found and subprocess.run([found, "-V"], capture_output=True).returncode == 0:
            return found
    return None


def environment(python: str, folder: Path, *packages: str) -> Path:
    """A new environment with these packages; the folder of its commands."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    commands = folder / "bin"
    done = subprocess.run(
        [str(commands / "python"), "-m", "pip", "--disable-pip-version-check", "install", "-q",
         "-c", str(ROOT / "constraints.txt"), *packages],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip(f"packages cannot be installed: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return commands


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python that builds: with hatchling, and nothing of ours."""
    return environment(sys.executable, tmp_path_factory.mktemp("builder"), "hatchling") / "python"


def build(builder: Path, kind: str, source: Path, target: Path) -> Path:
    subprocess.run(
        [str(builder), "-m", "hatchling", "build", "-t", kind, "-d", str(target)],
        cwd=source, check=True, capture_output=True,
    )  # fmt: skip
    (made,) = target.iterdir()
    return made


@pytest.fixture(scope="module")
def sdist(builder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(builder, "sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(builder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(builder, "wheel", ROOT, tmp_path_factory.mktemp("wheel"))


def test_an_sdist_holds_what_it_takes_to_build_and_test(
    builder: Path, sdist: Path, tmp_path: Path
) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    for name in ("README.md", "LICENSE", "Makefile", "constraints.txt", "mkdocs.yml", "tests"):
        assert (source / name).exists(), name
    made = build(builder, "wheel", source, tmp_path / "made")
    assert made.name.endswith("py3-none-any.whl")  # no kernels of one machine


def test_a_wheel_holds_the_package_and_its_data_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"xstreamcast"}
    assert "xstreamcast/py.typed" in names
    assert any(name.endswith("cap.toml") for name in names)
    assert any(name.endswith(".so") for name in names) == any(
        BUILT.glob(f"{platform.machine()}-*.so")
    )


def test_a_wheel_for_another_machine_holds_its_kernels_alone(
    builder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `make wheel MACHINE=vax` does once the kernels for it are compiled."""
    source = tmp_path / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("built"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, source / name)
    made = source / BUILT.relative_to(ROOT)
    made.mkdir(parents=True)
    for name in ("vax-generic.json", "vax-generic-1.so", f"{platform.machine()}-any.json"):
        (made / name).write_text("{}")
    monkeypatch.setenv("XSC_WHEEL_MACHINE", "vax")
    wheel = build(builder, "wheel", source, tmp_path / "wheel")
    assert wheel.name.endswith("-py3-none-manylinux_2_17_vax.whl")
    with zipfile.ZipFile(wheel) as archive:
        built = [Path(name).name for name in archive.namelist() if "/ahead/built/" in name]
    assert sorted(built) == ["vax-generic-1.so", "vax-generic.json"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_wheel_alone_answers_queries(wheel: Path, tmp_path: Path, version: str) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    commands = environment(python, tmp_path / "clean", str(wheel))
    (tmp_path / "a.xml").write_text("<a><b>1</b><b>2</b></a>")
    kernels = "ahead" if any(BUILT.glob(OWN)) else "numba"
    env = {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "XSC_KERNELS": kernels,
        "HOME": str(tmp_path),
    }
    for words, answer in (
        (("run", "-q", "sum(//b)", "-i", "a.xml"), "3\n"),
        (("watch", "-q", "count(//b)", "-i", "a.xml", "--format", "xml"),
         "<results>\n2\n</results>\n"),
        (("run", "-q", "//b", "-i", "a.xml", "--format", "csv"), "b\n1\n2\n"),
    ):  # fmt: skip
        done = subprocess.run(
            ["xstreamcast", *words], cwd=tmp_path, env=env, capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (0, answer), done.stderr
