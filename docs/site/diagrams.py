"""The drawings of how it works: the way of a message, a tape, a circuit, stages on Spark."""

from __future__ import annotations

from docs.site.svg import AMBER, BLUE, FAINT, GREEN, GREY, INK, PALE, RED, Drawing


def station(
    made: Drawing, x: float, y: float, w: float, name: str, *lines: str, fill: str = PALE
) -> None:
    """A box with a name and small print."""
    height = 34 + 16 * len(lines)
    made.box(x, y, w, height, fill, BLUE if fill == PALE else FAINT)
    made.text(x + w / 2, y + 22, name, 13.5, INK, "middle", bold=True)
    for n, words in enumerate(lines):
        made.text(x + w / 2, y + 40 + 16 * n, words, 11.5, FAINT, "middle")


def pipeline() -> str:
    """From a feed to an answer."""
    made = Drawing(900, 150, "A message becomes fragments, rows and changes of the answer")
    steps = (
        ("feed", "XML messages", GREY),
        ("mapping", "unit, key, times", PALE),
        ("fragments", "id, version, holes", PALE),
        ("tape", "columns, no objects", PALE),
        ("circuit", "operators with state", PALE),
        ("changes", "+ and −, key, rank", GREY),
    )
    for n, (name, small, fill) in enumerate(steps):
        x = 16 + n * 148
        station(made, x, 34, 124, name, small, fill=fill)
        if n:
            made.line(x - 24, 59, x - 3, 59, arrow=True)
    made.line(16 + 2 * 148 + 62, 84, 16 + 2 * 148 + 62, 110, arrow=True)
    made.text(16 + 2 * 148 + 62, 128, "history: every version, for --as-of", 12, INK, "middle")
    return made.svg()


def tape() -> str:
    """A small document and its columns."""
    made = Drawing(760, 230, "A document as columns: kind, name, size, level, text")
    made.text(24, 36, "<incident><road>A8</road><severity>5</severity></incident>", 13, mono=True)
    heads = ("node", "kind", "name", "size", "level", "text")
    rows = (
        ("0", "element", "incident", "4", "0", ""),
        ("1", "element", "road", "1", "1", ""),
        ("2", "text", "", "0", "2", "bytes 16 to 18"),
        ("3", "element", "severity", "1", "1", ""),
        ("4", "text", "", "0", "2", "bytes 35 to 36"),
    )
    columns = (24, 90, 190, 310, 380, 460)
    for x, head in zip(columns, heads, strict=True):
        made.text(x, 72, head, 12.5, FAINT, bold=True)
    made.line(20, 80, 740, 80)
    for n, row in enumerate(rows):
        for x, cell in zip(columns, row, strict=True):
            made.text(x, 102 + 24 * n, cell, 13, mono=True)
    made.box(18, 111, 570, 46, "none", GREEN, dashed=True)
    made.text(600, 130, "subtree of node 1:", 12, GREEN)
    made.text(600, 146, "1 to 1 + size", 12, GREEN)
    return made.svg()


def circuit() -> str:
    """One correction on its way through four operators."""
    made = Drawing(900, 210, "A correction passes through a circuit of operators")
    steps = (
        ("units", "incident?[now]", "keeps versions"),
        ("filter", "severity >= 4", "keeps nothing"),
        ("group", "by road: count", "keeps counts"),
        ("order", "by count", "keeps ranks"),
        ("emit", "the answer", "keeps items"),
    )
    deltas = ("17: 5 → 2", "− 17", "A8: 2 → 1", "A8 moves")
    for n, (name, *small) in enumerate(steps):
        x = 22 + n * 178
        station(made, x, 66, 124, name, *small)
        if n:
            made.line(x - 54, 98, x - 4, 98, arrow=True)
            made.text(x - 28, 56, deltas[n - 1], 12, RED, "middle", mono=True)
            made.line(x - 28, 61, x - 28, 92, RED, 1, dashed=True)
    made.text(22, 26, "rows that changed, and no others, travel from operator to operator", 13)
    made.text(22, 172, "cost of one changed row:", 12, FAINT)
    costs = ("1", "1", "log of the group", "log of all rows", "1")
    for n, cost in enumerate(costs):
        made.text(22 + n * 178 + 62, 192, cost, 12, INK, "middle")
    return made.svg()


def spark() -> str:
    """Ranges of units in tasks, over one table."""
    made = Drawing(860, 270, "A run on Spark: ranges of units, the same evaluation in every task")
    station(made, 20, 96, 150, "fragment table", "Parquet files", "by stream and tag", fill=GREY)
    for n in range(3):
        y = 24 + n * 78
        made.line(172, 130, 246, y + 30, arrow=True)
        station(
            made, 250, y, 230, f"task {n + 1}: a range of units", "tape, evaluation, local folds"
        )
        made.line(482, y + 30, 556, 130, arrow=True)
    station(made, 560, 96, 130, "exchange", "groups and order", "by their keys", fill=AMBER)
    made.line(692, 130, 726, 130, arrow=True)
    station(made, 730, 96, 112, "answer", "a DataFrame", "in order", fill=GREY)
    made.text(250, 262, "payloads are read by the tasks and never pass through the JVM", 12, FAINT)
    return made.svg()


DIAGRAMS = {
    "how-pipeline": pipeline,
    "how-tape": tape,
    "how-circuit": circuit,
    "how-spark": spark,
}
