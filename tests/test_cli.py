"""The door: help, version, mistyped commands, exit codes, colours, closed pipes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from xstreamcast import __version__
from xstreamcast.cli import table
from xstreamcast.cli.arguments import everywhere
from xstreamcast.cli.bench import present as benches
from xstreamcast.cli.main import main
from xstreamcast.cli.screens import EXAMPLES, help_screen
from xstreamcast.cli.table import COMMANDS, CommandRow
from xstreamcast.errors import UsageError

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "xstreamcast"]


@pytest.fixture
def sample(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (
        CommandRow("sample", "tests.sample_command", "fails"),
        CommandRow("absent", "tests.nowhere", "no"),
    )
    monkeypatch.setattr(table, "COMMANDS", rows)


def test_help_starts_with_three_examples_and_names_every_command(capsys) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    parts = said.out.split("\n\n")
    assert len(parts[1].splitlines()) == 3
    assert all(line.startswith("  ") and "xstreamcast" in line for line in parts[1].splitlines())
    for row in table.present():
        assert f"  {row.name:<10} {row.help}\n" in said.out


def test_no_command_at_all_shows_the_help(capsys) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out == help_screen()


def test_the_examples_of_the_help_run_as_pasted() -> None:
    names = {row.name for row in table.present()} | {""}
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    for line in [line for name, line in EXAMPLES if name in names][:3]:
        done = subprocess.run(
            line, shell=True, capture_output=True, text=True, env=os.environ | {"PATH": path}
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout


@pytest.mark.usefixtures("sample")
def test_a_row_without_its_module_is_not_there(capsys) -> None:
    assert "absent" not in help_screen()
    assert main(["absent"]) == 2
    assert "error[XSCU0002]: there is no command absent" in capsys.readouterr().err


def test_names_of_commands_are_distinct() -> None:
    assert len({row.name for row in COMMANDS}) == len(COMMANDS)


def test_version_names_engine_python_and_numba(capsys) -> None:
    assert main(["--version"]) == 0
    line = capsys.readouterr().out
    assert line.startswith(f"xstreamcast {__version__} (Python {sys.version_info.major}.")
    assert "numba " in line
    assert "Spark " in line


def test_a_mistyped_command_gets_a_near_name(capsys) -> None:
    assert main(["bnech"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "error[XSCU0002]: there is no command bnech",
        "hint: did you mean bench?",
    ]


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("ok", 0),
        ("interrupted", 130),
        ("bug", 1),
        ("missing", 2),
        ("static", 3),
        ("deep", 1),
        ("FOAR0001", 1),
        ("XSCX0001", 4),
        ("XSCU0005", 2),
    ],
)
@pytest.mark.usefixtures("sample")
def test_every_way_out_has_its_exit_code(how: str, status: int, capsys) -> None:
    assert main(["sample", how, "--times", "0"]) == status
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    assert bool(said.err) == bool(status)


@pytest.mark.usefixtures("sample")
def test_debug_gives_the_trace_wherever_it_stands(capsys) -> None:
    for words in (["--debug", "sample", "bug"], ["sample", "bug", "--debug"]):
        assert main(words) == 1
        said = capsys.readouterr().err
        assert "Traceback" in said
        assert "error[XSCB0001]: internal error: ZeroDivisionError" in said


@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize(
    "words", [["sample"], ["sample", "ok", "--no"], ["sample", "ok", "--times"]]
)
def test_a_wrong_option_is_a_usage_error_with_a_hint(words: list[str], capsys) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("error[XSCU0001]: ")
    assert said.endswith("hint: xstreamcast sample --help\n")


@pytest.mark.usefixtures("sample")
def test_help_of_a_command_goes_to_stdout(capsys) -> None:
    assert main(["sample", "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: xstreamcast sample")


def test_options_that_stand_anywhere_are_taken_out_of_the_words() -> None:
    found = everywhere(["run", "--color", "never", "-q", "1", "--debug", "--", "--debug"])
    assert (found.words, found.debug, found.color) == (
        ["run", "-q", "1", "--", "--debug"],
        True,
        "never",
    )
    with pytest.raises(UsageError, match="got pink"):
        everywhere(["--color=pink"])


@pytest.mark.usefixtures("sample")
def test_colour_can_be_asked_for(capsys) -> None:
    assert main(["sample", "static", "--color=always"]) == 3
    assert "\x1b[1;31m" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "painted"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_gets_colours_unless_its_user_minds(
    setting: dict[str, str], painted: bool
) -> None:
    ours, theirs = os.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | setting
    done = subprocess.run([*COMMAND, "nonsense"], stderr=theirs, stdout=subprocess.DEVNULL, env=env)
    os.close(theirs)
    said = os.read(ours, 4096).decode()
    os.close(ours)
    assert done.returncode == 2
    assert "XSCU0002" in said
    assert ("\x1b[" in said) == painted


def test_a_reader_that_went_away_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*COMMAND, "--help"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["run", "--help"],
        ["run", "-q", "1"],
        ["watch", "-q", "1"],
        ["functions"],
        ["eval"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("output", [">&-", ">/dev/full"])
def test_an_output_that_cannot_be_written_is_reported(words: list[str], output: str) -> None:
    line = f'"$@" {output}'
    request = '{"query": "1"}\n'
    done = subprocess.run(
        ["bash", "-c", line, "bash", *COMMAND, *words],
        input=request, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    reason = "the output cannot be written: it is closed"
    if output != ">&-":
        reason = "the output does not fit: no space left on device"
    assert done.stderr.splitlines()[0] == f"error[XSCU0004]: {reason}"
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr


def test_streams_that_are_closed_and_not_used_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<a/>")
    words = ["run", "-q", "count(//a), count(//b)", "-i", "a.xml", "-o", "out"]
    line = '"$@" <&- >&- 2>&-'
    done = subprocess.run(["bash", "-c", line, "bash", *COMMAND, *words], cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "out").read_text() == "1\n0\n"


def test_a_reader_that_went_away_hides_no_trace_of_a_later_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code = (
        "import sys; from xstreamcast.cli import table, main; "
        "table.COMMANDS = (table.CommandRow('sample', 'tests.sample_command', ''),); "
        "sys.exit(main.main(['sample', 'noisy bug']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, cwd=ROOT, text=True
    )
    os.close(writer)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr


def test_benchmarks_are_absent_where_there_is_no_checkout(tmp_path) -> None:
    assert benches(tmp_path) == []
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "tape.py").touch()
    assert [one.name for one in benches(tmp_path)] == ["tape"]


def test_a_mistyped_benchmark_gets_a_near_name(capsys) -> None:
    near = benches()[0].name
    assert main(["bench", near[:-1]]) == 2
    assert f"hint: did you mean {near}?" in capsys.readouterr().err
