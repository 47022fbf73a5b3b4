"""Who is measured: each answers a query from the file on, in this process, as its users would."""

import io
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias
from xml.parsers import expat

from bench.queries import Query
from xstreamcast.cli.main import main as command
from xstreamcast.errors import error

Answer: TypeAlias = Callable[[Query, Path], str]

CHUNK = 1 << 16
# What XPath 1.0 can say: these queries as they stand, or as here.
AS_THEY_STAND = ("p1", "p2", "p3", "p4", "p5", "p6", "p8")
XPATHS = {
    "q01": "/site/people/person[@id = 'person0']/name/text()",
    "q05": "count(/site/closed_auctions/closed_auction[price >= 40]/price)",
    "q06": "count(/site/regions//item)",
    "q07": "count(/site//description) + count(/site//annotation) + count(/site//emailaddress)",
    "q14": "/site//item[contains(description, 'gold')]/name/text()",
}


def ours(query: Query, path: Path) -> str:
    """`xstreamcast run`, without starting a process."""
    status, answer = _captured(["run", "-q", query.text, "-i", str(path), "--format", "lines"])
    if status:
        raise error("XSCB0001", f"xstreamcast run ended with {status} on {query.name}")
    return answer


def saxon() -> Answer:
    """SaxonC-HE; its processor is started once, as a server would."""
    processor = installed("saxonche").PySaxonProcessor(license=False)

    def answer(query: Query, path: Path) -> str:
        compiler = processor.new_xquery_processor()
        compiler.set_query_content(query.text)
        compiler.set_context(xdm_item=processor.parse_xml(xml_file_name=str(path)))
        return str(compiler.run_query_to_string() or "")

    return answer


def saxon_program(text: str) -> Callable[[], str]:
    """A query without input by SaxonC-HE, started and compiled before it is measured."""
    processor = installed("saxonche").PySaxonProcessor(license=False)
    compiler = processor.new_xquery_processor()
    compiler.set_query_content(text)

    def answer() -> str:
        found = compiler.run_query_to_value()
        return " ".join(str(found.item_at(i)) for i in range(found.size))

    return answer


def lxml() -> Answer:
    """libxml2's tree and XPath 1.0."""
    etree = installed("lxml.etree")

    def answer(query: Query, path: Path) -> str:
        found = etree.parse(str(path)).xpath(xpath(query))
        if isinstance(found, float):
            return f"{found:.0f}"
        return "".join([_shown(etree, item) for item in found])

    return answer


def scan(_: Query, path: Path) -> str:
    """expat without handlers: the document is checked and nothing is asked of it."""
    parser = expat.ParserCreate()
    with path.open("rb") as source:
        while chunk := source.read(CHUNK):
            parser.Parse(chunk, False)
    parser.Parse(b"", True)
    return ""


def xpath(query: Query) -> str | None:
    """The query as XPath 1.0, if it can be said there."""
    return query.text if query.name in AS_THEY_STAND else XPATHS.get(query.name)


def normalised(answer: str) -> str:
    """An answer as canonical XML without white space: processors part items differently."""
    etree = installed("lxml.etree")
    bare = re.sub(r"^<\?xml[^>]*\?>", "", answer)
    canonical: bytes = etree.tostring(etree.fromstring(f"<answer>{bare}</answer>"), method="c14n")
    return re.sub(r"\s+", "", canonical.decode())


def _shown(etree: Any, item: Any) -> str:
    if isinstance(item, str):
        return item.replace("&", "&amp;").replace("<", "&lt;")
    return str(etree.tostring(item, encoding="unicode", with_tail=False))


def _captured(words: list[str]) -> tuple[int, str]:
    """A command's exit code, and what it wrote as text or as bytes."""
    raw = io.BytesIO()
    stdout = io.TextIOWrapper(raw, "utf-8", write_through=True)
    with redirect_stdout(stdout):
        status = command(words)
    stdout.flush()
    return status, raw.getvalue().decode()


def installed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as absent:
        hint = "install the bench extra: pip install 'xstreamcast[bench]'"
        raise error("XSCU0006", f"{name} is not installed", hint=hint) from absent
