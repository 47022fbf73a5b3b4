"""Shell completion and the man page know every command and every option."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from xstreamcast.cli.main import main
from xstreamcast.cli.manual import described


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def completed(script: str, *line: str) -> list[str]:
    """What bash offers when Tab is pressed behind the last word."""
    words = " ".join(f"'{word}'" for word in line)
    typed = f"{script}\nCOMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; _xstreamcast; "
    typed += 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", typed], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (("xsc", "wa"), ["watch"]),
        (("xsc", "watch", "--pol"), ["--policy"]),
        (("xsc", "watch", "--policy", ""), ["optimistic", "strict"]),
        (("xsc", "completion", "f"), ["fish"]),
        (("xsc", "run", "-o", "x"), []),
    ],
)
def test_bash_offers_what_fits(
    capsys: pytest.CaptureFixture[str], line: tuple[str, ...], offered: list[str]
) -> None:
    assert completed(printed(capsys, "completion", "bash"), *line) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_reads_its_script(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    script = printed(capsys, "completion", shell)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_fish_knows_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    script = printed(capsys, "completion", "fish")
    for command in described():
        for option in command.options:
            long = [flag[2:] for flag in option.flags if flag.startswith("--")]
            assert all(
                f"from {command.name}' " in script and f"-l {flag} " in script for flag in long
            )


def test_the_man_page_names_every_command_and_option(capsys: pytest.CaptureFixture[str]) -> None:
    page = printed(capsys, "manual")
    for command in described():
        assert f".SS {command.name}\n" in page
        for option in command.options:
            assert option.flags[-1].replace("-", "\\-") in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_man_formats_the_page_without_complaint(capsys: pytest.CaptureFixture[str]) -> None:
    page = printed(capsys, "manual")
    done = subprocess.run(
        ["groff", "-K", "utf8", "-man", "-Tutf8", "-ww"],
        input=page, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
