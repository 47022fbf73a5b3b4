"""What a user sees who made a mistake: each case is a golden file in `messages/`.

$ xstreamcast run -q //alert -i feed.xml        the command, run in an empty folder
| text for its standard input                   if it has any
--- feed.xml                                    the files that are there
<alerts xmlns="urn:a"><alert/></alerts>
----
exit code, standard output and standard error
"""

from __future__ import annotations

import gzip
import io
import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import RULE, Golden
from xstreamcast.cli.main import main
from xstreamcast.tape.limits import default_limits, set_default_limits

FOLDER = Path(__file__).parent / "messages"
FILES = sorted(FOLDER.glob("*.msg"))


def test_there_are_cases() -> None:
    assert len(FILES) > 25


@pytest.fixture(autouse=True)
def _limits():
    before = default_limits()
    yield
    set_default_limits(before)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_message_is_as_its_golden_file_says(
    path: Path, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    command, given = prepared(path.read_text("utf-8").partition(RULE)[0], tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8"))
    status = main(shlex.split(command)[1:])
    out, err = capfd.readouterr()
    assert "internal error" not in err
    err = re.sub(r"^\d+ bytes of state", "... bytes of state", err, flags=re.MULTILINE)
    golden(path, f"exit {status}\n{out}{err}")


def prepared(text: str, folder: Path) -> tuple[str, str]:
    """The command and its standard input; its files are written to the folder."""
    head, *files = text.split("\n--- ")
    lines = head.split("\n")
    command = next(line[2:] for line in lines if line.startswith("$ "))
    given = "\n".join(line[2:] for line in lines if line.startswith("| "))
    for file in files:
        name, _, content = file.partition("\n")
        content = content.removesuffix("\n")
        raw = gzip.compress(content.encode()) if name.startswith("gzip ") else content.encode()
        (folder / name.removeprefix("gzip ")).write_bytes(raw)
    return command, given


def test_an_input_that_has_sent_nothing_yet_lacks_no_name(tmp_path: Path, capfd) -> None:
    assert main(["watch", "-q", "//item", "-i", str(tmp_path), "--follow", "--for", "0s"]) == 0
    assert "the answer is empty" not in capfd.readouterr().err
