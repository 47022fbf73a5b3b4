"""Commands of a shell that need no interpreter started for each: a server forks one for each call.

`warm_folder()` holds `xstreamcast` and `xsc`: small clients that hand their arguments, environment,
folder and open files to the server. Its child has imported what commands import, and calls `entry`,
as the installed commands do. How those start is tested in test_start and test_cli.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

# Only what the interpreter has built in: the client must start at once.
CLIENT = """\
#!{python} -IS
import sys
import _socket, posix
def is_open(n):
    try:
        return bool(posix.fstat(n))
    except OSError:
        return False
given = [n for n in map(int, posix.listdir("/proc/self/fd")) if is_open(n)]
one = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
one.connect({address!r})
environ = [b"=".join(pair) for pair in posix.environ.items()]
words = [word.encode("utf-8", "surrogateescape") for word in sys.argv[1:]]
numbers = b" ".join(b"%d" % n for n in given)
text = b"\\0".join([numbers, posix.getcwdb(), b"%d" % len(words), *words, *environ])
files = b"".join(n.to_bytes(4, sys.byteorder) for n in given)
one.sendmsg([len(text).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
one.sendall(text)
posix._exit((one.recv(1) or b"\\1")[0])
"""
EMPTY = "<feed><item/></feed>"


@cache
def warm_folder() -> Path:
    """A folder for PATH; its server ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="xsc-"))
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.warm_command", str(folder)],
        cwd=Path(__file__).parents[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    atexit.register(server.communicate)  # its input ends
    return folder


def serve(folder: Path) -> None:
    """Fork for each call, until standard input ends."""
    address = str(folder / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        for name in ("xstreamcast", "xsc"):
            client = folder / name
            client.write_text(CLIENT.format(python=sys.executable, address=address))
            client.chmod(0o755)
        _warm()
        print("ready", flush=True)  # noqa: T201
        _loop(listener)
    for one in folder.iterdir():
        one.unlink()
    folder.rmdir()


def _loop(listener: socket.socket) -> None:
    calls: dict[int, socket.socket] = {}  # by the process that answers
    wake, woken = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        waiting: list[int | socket.socket] = [0, listener, woken, *calls.values()]
        ready, _, _ = select.select(waiting, [], [])
        if 0 in ready:
            return
        if woken in ready:
            woken.recv(4096)
            _collect(calls)
        for child, call in calls.items():
            if call in ready:  # the client was ended
                os.kill(child, signal.SIGTERM)
        if listener in ready:
            call, _ = listener.accept()
            request, files = _received(call)
            child = os.fork()
            if child == 0:
                listener.close()
                _answer(request, files)
            for file in files:
                os.close(file)
            calls[child] = call


def _collect(calls: dict[int, socket.socket]) -> None:
    for child in list(calls):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            with calls.pop(child) as call, contextlib.suppress(OSError):
                call.sendall(bytes([code if code >= 0 else 128 - code]))


def _received(call: socket.socket) -> tuple[bytes, list[int]]:
    """What a client hands over."""
    head, files, _, _ = socket.recv_fds(call, 8, 64)
    left, parts = int.from_bytes(head, "big"), list[bytes]()
    while left:
        parts.append(call.recv(left))
        left -= len(parts[-1])
    return b"".join(parts), files


def _answer(request: bytes, files: list[int]) -> None:
    """Be the command; does not return."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    numbers, where, count, *rest = request.split(b"\0")
    # first out of the way: a number that is wanted may be that of another file that was received
    kept = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 512) for file in files]
    for number, file in zip(map(int, numbers.split()), kept, strict=True):
        os.dup2(file, number)
    os.chdir(where)
    os.environ.clear()
    words, pairs = rest[: int(count)], rest[int(count) :]
    for pair in pairs:
        name, _, value = pair.partition(b"=")
        os.environb[name] = value
    sys.argv = ["xstreamcast", *map(os.fsdecode, words)]
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace")
    os._exit(_ended())


def _ended() -> int:
    """The exit code of the command that `sys.argv` is."""
    from xstreamcast.cli.entry import entry

    code = 1
    try:
        entry()
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else 0
    atexit._run_exitfuncs()
    for file in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            file.flush()
    return code


def _warm() -> None:
    """Import what commands import: by running some."""
    from xstreamcast.cli.main import main
    from xstreamcast.cli.table import COMMANDS

    for row in COMMANDS:
        row.load()
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file, open(os.devnull, "w") as null:
        file.write(EMPTY)
        file.flush()
        said = contextlib.redirect_stdout(null), contextlib.redirect_stderr(null)
        with said[0], said[1]:
            for command in ("run", "watch"):
                main([command, "-q", 'stream("s")//item', "-i", f"s={file.name}"])


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
