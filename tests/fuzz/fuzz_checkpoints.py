"""Checkpoints with bytes flipped: a restart gives the same answer, or says what is damaged."""

from __future__ import annotations

import io
import random
import shutil
from contextlib import redirect_stderr
from pathlib import Path

from tests.faults.test_watch_crashes import BAD, QUERY
from tests.fuzz.target import Check, Finding
from tests.operators.test_checkpoints import INCIDENTS, ROADS
from xstreamcast.cli.main import main


def flipped(data: bytes, chance: random.Random) -> bytes:
    """A few bytes that are others, or an end that is cut off."""
    if not data:
        return data
    changed = bytearray(data)
    if chance.random() < 0.2:
        return bytes(changed[: chance.randrange(len(changed))])
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def damaged(folder: Path, chance: random.Random) -> str:
    """Damage one file below a folder → which."""
    path = chance.choice(sorted(one for one in folder.rglob("*") if one.is_file()))
    path.write_bytes(flipped(path.read_bytes(), chance))
    return path.name


def said(*words: str) -> tuple[int, str]:
    with redirect_stderr(io.StringIO()) as text:
        status = main(list(words))
    return status, text.getvalue()


def begin(folder: Path) -> Check:
    """A query that stopped half way is started again over damaged state."""
    feed, half, whole = folder / "feed", folder / "half", folder / "whole"
    feed.mkdir()
    first, second = "".join(INCIDENTS[:12]) + BAD.format(1, 1), "".join(INCIDENTS[12:24])
    (feed / "0.xml").write_text(ROADS + first)

    def watch(root: Path) -> tuple[int, str]:
        return said(
            "watch", "-q", QUERY, "-i", f"roads={feed}", "--batch", "3", "-o", str(root / "out"),
            "--checkpoint", str(root / "state"), "--snapshot-every", "400",
        )  # fmt: skip

    half.mkdir()
    assert watch(half)[0] == 0
    (feed / "1.xml").write_text(second)
    shutil.copytree(half, whole)
    assert watch(whole)[0] == 0
    expected = (whole / "out").read_bytes()

    def check(chance: random.Random) -> None:
        root = folder / "damaged"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(half, root)
        case = damaged(root / "state", chance)
        status, text = watch(root)
        if "XSCB0001" in text:
            raise Finding(f"an internal error: {text}", case)
        if status == 0 and (root / "out").read_bytes() != expected:
            raise Finding(f"another answer, and nothing is said: {text}", case)

    return check
