"""The pages that are generated when the site is built, by their place below docs/."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from docs.site.python_api import python_page
from docs.site.reference import commands_page, errors_page, functions_page

ROOT = Path(__file__).parents[2]


def changes_page() -> str:
    """The changelog, with links that hold in the site."""
    return (ROOT / "CHANGELOG.md").read_text("utf-8").replace("](docs/", "](")


def examples_page() -> str:
    """The list of examples, with links that hold in the site, which has no page for a folder."""
    text = (ROOT / "examples" / "README.md").read_text("utf-8").replace("](../docs/", "](")
    return re.sub(r"\[(`[\w-]+`)\]\([\w-]+/README\.md\)", r"\1", text)


GENERATED: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands_page,
    "reference/functions.md": functions_page,
    "reference/python.md": python_page,
    "reference/errors.md": errors_page,
    "changes.md": changes_page,
    "examples.md": examples_page,
}
