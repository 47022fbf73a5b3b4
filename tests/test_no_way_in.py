"""A query reads what it was given, and nothing else: no file, no address, no environment.

Every function that takes an address, and everything else that could lead outside, is tried with the
address of a secret in many forms. An audit hook of Python hears of every file and socket that is
opened meanwhile; a server counts who calls.
"""

from __future__ import annotations

import http.server
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import xstreamcast
from xstreamcast import query
from xstreamcast.cli.main import main
from xstreamcast.errors import Error
from xstreamcast.functions.registry import rows

SECRET, FOLDER = "s3cret-4711", "hidden-place"
ADDRESSING = {"uri", "href", "module-uri"}  # names of parameters that are addresses
TAKES_ADDRESS = [
    "doc({0})", "doc-available({0})", "collection({0})", "uri-collection({0})",
    "unparsed-text({0})", "unparsed-text({0}, 'utf-8')", "unparsed-text-lines({0})",
    "unparsed-text-lines({0}, 'utf-8')", "unparsed-text-available({0})",
    "unparsed-text-available({0}, 'utf-8')", "json-doc({0})", "json-doc({0}, map{{}})",
    "load-xquery-module({0})", "load-xquery-module('urn:m', map{{'location-hints': {0}}})",
    "doc(resolve-uri('secret.xml', {0}))", "doc(xs:anyURI({0}))", "apply(doc#1, [{0}])",
    "for-each(({0}), unparsed-text#1)", "function-lookup(xs:QName('fn:doc'), 1)({0})",
    "stream({0})//text()", "({0}) ! doc(.)",
]  # fmt: skip
OTHER = [
    "environment-variable('XSC_SECRET')", "available-environment-variables()", "collection()",
    "uri-collection()", "transform(map{{'stylesheet-location': {0}}})",
    "parse-xml('<!DOCTYPE a SYSTEM \"' || {0} || '\"><a/>')",
    "parse-xml('<!DOCTYPE a [<!ENTITY e SYSTEM \"' || {0} || '\">]><a>&amp;e;</a>')",
    "parse-xml('<!DOCTYPE a [<!ENTITY % p SYSTEM \"' || {0} || '\"> %p;]><a/>')",
    "parse-xml-fragment('<?xml-stylesheet href=\"' || {0} || '\"?><a/>')",
    "parse-xml('<a xmlns:xi=\"http://www.w3.org/2001/XInclude\"><xi:include parse=\"text\" href=\"'"
    " || {0} || '\"/></a>')",
    "json-to-xml('{{\"a\":1}}', map{{'schema': {0}}})",
]  # fmt: skip
ALONE = [
    "import module namespace m = 'urn:m' at {0}; m:secret()",
    "import module namespace m = {0}; m:secret()",
    "import schema 'urn:s' at {0}; 1",
    "declare base-uri {0}; doc('')",
    "declare base-uri {0}; unparsed-text('secret.xml')",
    "declare variable $x external := doc({0}); $x",
    "declare default collation {0}; 'a' = 'b'",
]


class _Heard:
    """Files that are opened and sockets that are connected, while it listens."""

    def __init__(self) -> None:
        self.on = False
        self.said: list[str] = []
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event in ("open", "os.listdir", "os.scandir") and FOLDER in str(arguments[0]):
            self.said.append(f"{event} {arguments[0]}")
        elif event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen"):
            self.said.append(f"{event} {arguments}")

    @contextmanager
    def listening(self) -> Iterator[list[str]]:
        self.on, self.said = True, []
        try:
            yield self.said
        finally:
            self.on = False


HEARD = _Heard()


@pytest.fixture(scope="module")
def called() -> Iterator[tuple[str, list[str]]]:
    """A server with the secret, and the paths that somebody asked it for."""
    paths: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(f"<a>{SECRET}</a>".encode())

        def log_message(self, *_: object) -> None:
            """Nobody wants to read it."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", paths
    server.shutdown()
    server.server_close()


@pytest.fixture
def addresses(tmp_path: Path, called: tuple[str, list[str]], monkeypatch) -> list[str]:
    folder = tmp_path / FOLDER
    folder.mkdir()
    path = folder / "secret.xml"
    path.write_text(f"<a>{SECRET}</a>")
    (folder / "m.xq").write_text(
        f"module namespace m = 'urn:m'; declare function m:secret() {{ '{SECRET}' }};"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XSC_SECRET", SECRET)
    plain = str(path)
    return [
        plain, path.as_uri(), f"{FOLDER}/secret.xml", f"./{FOLDER}/secret.xml",
        f"given/../{FOLDER}/secret.xml", f"file://localhost{plain}", f"file:{plain}",
        path.as_uri().replace("secret.xml", "%73ecret.xml"), str(folder), f"{folder}/m.xq",
        f"{called[0]}/secret.xml", f"table:{folder}", "-", "/dev/stdin", f"sx:{plain}",
    ]  # fmt: skip


def outcome(text: str, run: bool) -> str:
    """What a query gives, as text; or what its error says."""
    try:
        asked = query(text)
        if run:
            return "\n".join(asked.run(given=b"<r><x/></r>").lines())
        return "\n".join(change.item for change in asked.watch(given=b"<r><x/></r>"))
    except Error as refused:
        return str(refused)


@pytest.mark.parametrize("form", TAKES_ADDRESS + OTHER + ALONE)
def test_no_address_leads_outside(form: str, addresses: list[str], called):
    called[1].clear()
    for address in addresses:
        text = form.format("'" + address + "'")
        for run in (True, False):
            with HEARD.listening() as heard:
                found = outcome(text, run)
            assert heard == [], (text, heard)
            assert SECRET not in found, text
    assert called[1] == []


def test_every_function_that_takes_an_address_is_tried():
    """A function with a parameter that is named as an address is in the list, or reads nothing."""
    reads_nothing = {"escape-html-uri", "encode-for-uri", "iri-to-uri", "resolve-uri"}
    found = set()
    for row in rows():
        _, _, local = row.name.rpartition(":")
        parameters = set(re.findall(r"\$([\w-]+) as", row.signature))
        if parameters & ADDRESSING and local not in reads_nothing:
            found.add(local)
            assert any(f"{local}(" in form for form in TAKES_ADDRESS), local
    assert {"doc", "json-doc", "unparsed-text", "load-xquery-module"} <= found


def test_what_was_given_is_read(tmp_path: Path):
    (tmp_path / "m.xq").write_text("module namespace m = 'urn:m'; declare function m:f() { 1 };")
    (tmp_path / "d.xml").write_text("<a>given</a>")
    text = "import module namespace m = 'urn:m' at 'm.xq'; (m:f(), string(doc('d')))"
    asked = query(text, module_path=[tmp_path])
    assert list(asked.run(d=tmp_path / "d.xml").lines()) == ["1", "given"]


@pytest.mark.parametrize("at", ["../out.xq", "sub/../../out.xq", "%2e%2e/out.xq", "link.xq"])
def test_a_module_path_is_not_left(at: str, tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "sub").mkdir()
    outside = tmp_path / "out.xq"
    outside.write_text("module namespace m = 'urn:m'; declare function m:f() { 1 };")
    (tmp_path / "in" / "link.xq").symlink_to(outside)
    with pytest.raises(Error):
        query(f"import module namespace n = 'urn:n' at '{at}'; 1", module_path=[tmp_path / "in"])


PLACES = [
    "http://{0}@127.0.0.1:1/x",
    "ws://{0}@127.0.0.1:1/x",
    "https://{0}@127.0.0.1:1/x?every=1s",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", ["run", "watch", "ingest", "explain"])
def test_a_password_in_an_address_is_shown_nowhere(place, command, tmp_path: Path, capfd):
    address = place.format("reader:" + SECRET)
    if command == "ingest":
        words = [address, "--table", str(tmp_path / "table"), "--runner", "local", "--stream", "s"]
    else:
        words = ["-q", 'stream("s")//a', "-i", f"s={address}"]
    if command == "watch":
        words += ["--checkpoint", str(tmp_path / "state"), "-o", str(tmp_path / "out")]
        words += ["--for", "1s"]  # it waits for the server
    main([command, *words])
    said = capfd.readouterr()
    assert SECRET not in said.out + said.err
    for path in tmp_path.rglob("*"):
        assert SECRET not in str(path)
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_the_name_of_an_input_stays_in_its_folder(tmp_path: Path):
    from xstreamcast.edges.sources.notes import file_name
    from xstreamcast.edges.table.log import place

    for name in ("../../x", "/etc/x", "a/b", "..", "a\0b", "ü"):
        assert (tmp_path / f"{file_name(name)}.notes").resolve().parent == tmp_path.resolve()
        assert (tmp_path / place(name, 1)).resolve().parent.parent == tmp_path.resolve()


def test_a_checkpoint_on_spark_names_an_address_without_its_password():
    from xstreamcast.spark.watching.checkpoint import address

    assert address(f"ws://reader:{SECRET}@host/x") == "ws://host/x"


def test_nothing_is_unpickled_but_messages_of_spark_and_what_a_kernel_raised():
    """A pickle is code. Spark's messages go between processes of one query; see spark/."""
    package = Path(xstreamcast.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"^\s*(?:import|from) (?:pickle|cloudpickle|marshal|shelve|dill)\b",
                     path.read_text("utf-8"), re.MULTILINE)
    }  # fmt: skip
    assert {one for one in found if not one.startswith("spark/")} == {"kernels/ahead/loading.py"}
