"""The names of the inputs that were given, for an error about one that was not."""

from __future__ import annotations

from collections.abc import Iterable


def names_of_inputs(given: Iterable[str], wanted: str = "") -> str:
    """A hint: the name that was probably meant, or the names that there are."""
    from difflib import get_close_matches  # here: for an error alone

    names = sorted(given)
    near = get_close_matches(wanted, names, 1)
    many = "inputs are" if len(names) > 1 else "input is"
    return f"did you mean {near[0]}?" if near else f"the {many} named {', '.join(names)}"
