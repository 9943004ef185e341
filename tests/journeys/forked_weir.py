"""``weir`` as journeys type it: a process of its own for each command, forked from one that has imported Weir once.

A command has its own folder, environment, input and output, ends as Python ends, and shares nothing but what is
imported, which takes most of the time of a command that has little to do. With ``WEIR_TEST_FORKED=0``, as in the long
suite, journeys run the installed ``weir`` instead, a fresh Python for each command.
"""

from __future__ import annotations

import array
import atexit
import json
import os
import select
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

INSTALLED: Final = Path(sys.executable).parent
VARIABLE: Final = "WEIR_TEST_FORKED"
HEAD: Final = 8
"""How many bytes tell the length of what is asked."""

# Imports little: it takes the place of a program that should start at once.
CLIENT: Final = """\
#!{python} -IS
import array, json, os, socket, sys
asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    given = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    server.sendmsg([len(asked).to_bytes({head}, "big")], given)
    server.sendall(asked)
    ended = server.recv(8)
sys.exit(int(ended) if ended else 255)
"""


@cache
def folder_of_weir() -> Path:
    """A folder whose ``weir`` is forked, for ``PATH``; that of the installed one where none is to be forked."""
    if os.environ.get(VARIABLE) == "0":
        return INSTALLED
    folder = Path(tempfile.mkdtemp(prefix="forked-"))
    address = str(folder / "socket")
    client = folder / "weir"
    client.write_text(CLIENT.format(python=sys.executable, address=address, head=HEAD))
    client.chmod(client.stat().st_mode | stat.S_IXUSR)
    root = str(Path(__file__).resolve().parents[2])
    own = ("WEIR_", "AWS_", "DAGSTER_", "PYSPARK_", "MAKE")
    # It ends with this process, however that ends: nothing else holds the other end of its input.
    server = subprocess.Popen(
        [sys.executable, "-m", __name__, address],
        stdin=subprocess.PIPE,
        cwd=folder,
        env={k: v for k, v in os.environ.items() if not k.startswith(own)} | {"PYTHONPATH": root},
    )
    atexit.register(_end, server, folder)
    while not Path(address).exists():
        assert server.poll() is None, "the process to fork from has ended"
        time.sleep(0.05)
    return folder


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    assert server.stdin is not None
    server.stdin.close()
    server.wait()
    for name in ("weir", "socket"):
        (folder / name).unlink(missing_ok=True)
    folder.rmdir()


def serve(address: str) -> None:
    """Import what commands need, and fork a process for each that is asked for, until the input ends."""
    cli: Any = import_module("orchestration.cli.main")
    import_module("orchestration.runs.imported_for_runs")
    for name in cli.COMMANDS:
        cli.command_of(name)
    assert threading.active_count() == 1, "a thread would be missing in what is forked"
    # Who waits for each process is a process, too, and nobody waits for that.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{address}.new")
        listening.listen()
        Path(f"{address}.new").rename(address)
        while True:
            ready, _, _ = select.select([listening, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            asking, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _keep(asking, cli.main)
            asking.close()


def _keep(asking: socket.socket, main: Any) -> None:
    """Fork the command, and tell how it ended; end it where nobody waits for it any more."""
    arguments, folder, environment, streams = _asked(asking)
    command = os.fork()
    if command == 0:
        asking.close()
        _become(folder, environment, streams)
        sys.argv = ["weir", *arguments]
        # As ``console_scripts`` do: what is raised goes on to the end of this process.
        sys.exit(main())
    for stream in (*streams, 0, 1, 2):
        os.close(stream)
    over = os.pidfd_open(command)
    ready, _, _ = select.select([over, asking.fileno()], [], [])
    if over not in ready:
        with suppress(ProcessLookupError):
            os.kill(command, signal.SIGTERM)
    _, status = os.waitpid(command, 0)
    with suppress(OSError):
        code = os.waitstatus_to_exitcode(status)
        asking.sendall(f"{code if code >= 0 else 128 - code}".encode())
    os._exit(0)


def _asked(asking: socket.socket) -> tuple[list[str], str, dict[str, str], list[int]]:
    size = array.array("i").itemsize
    head, given, _, _ = asking.recvmsg(HEAD, socket.CMSG_SPACE(3 * size))
    streams = array.array("i")
    for _, _, data in given:
        streams.frombytes(data[: len(data) - len(data) % size])
    missing, text = int.from_bytes(head, "big"), b""
    while len(text) < missing:
        part = asking.recv(missing - len(text))
        assert part, "whoever asked has ended"
        text += part
    arguments, folder, environment = json.loads(text)
    return arguments, folder, environment, [*streams]


def _become(folder: str, environment: dict[str, str], streams: list[int]) -> None:
    """Take the folder, the environment and the streams of whoever has typed the command."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115


if __name__ == "__main__":
    serve(sys.argv[1])
