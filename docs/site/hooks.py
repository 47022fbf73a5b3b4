"""What mkdocs calls while it builds: generated pages, and folders in the navigation."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from docs.site.pages import GENERATED  # noqa: E402


def on_config(config: Any) -> Any:
    """`Title: folder/` in the navigation stands for all pages of the folder."""
    for section in config.nav:
        for title, entries in section.items():
            if isinstance(entries, list):
                section[title] = [expanded(entry) for entry in entries]
    return config


def expanded(entry: dict[str, str]) -> dict[str, Any]:
    ((title, target),) = entry.items()
    if not target.endswith("/"):
        return entry
    pages = sorted((ROOT / "docs" / target).glob("*.md"))
    return {title: [{heading(page): f"{target}{page.name}"} for page in pages]}


def heading(page: Path) -> str:
    found = re.search(r"^# (.*)", page.read_text("utf-8"), re.M)
    return found[1] if found else page.stem


def on_files(files: Files, config: Any) -> Files:
    for path, write in GENERATED.items():
        files.append(File.generated(config, path, content=write()))
    return files
