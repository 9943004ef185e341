"""Installs what requirements.lock pins, and Weir itself, by uv, from where pip is set up to find packages.

A step of set-up, run by the new environment's own Python before there is anything in it: standard library only, and no
import of Weir's own. uv is fetched by pip, under a hash, like everything else.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TextIO

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
BY_PIP = (*PIP, "install", "--quiet", "--require-hashes", "-r")
UV = (str(Path(sys.executable).with_name("uv")), "pip", "install", "--python", sys.executable)
BY_UV = (*UV, "--require-hashes", "-r")
ITSELF = (*PIP, "install", "--quiet", "--no-deps", "--no-build-isolation", "-e", ".")

NEEDED = 3 * 2**30
"""How many bytes the environment, what is kept of its packages, and the jars have together, with some room."""

SETTINGS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
"""What uv's variables are called for what pip is set up with (https://docs.astral.sh/uv/reference/environment/)."""


def settings(told: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Pip's settings as uv takes them; what the environment tells uv itself stays as it is.

    ``told``: what ``pip config list`` prints, a setting a line: ``global.index-url='…'``, ``:env:.cert='…'``.
    """
    found: dict[str, tuple[int, str]] = {}
    for line in told.splitlines():
        place, _, value = line.partition("=")
        section, _, key = place.rpartition(".")
        name = SETTINGS.get(key)
        # A variable counts more than a file, and what a file says of installing more than what it says of everything.
        rank = {"global": 0, "install": 1, ":env:": 2}.get(section)
        if name and rank is not None and rank >= found.get(name, (0, ""))[0]:
            found[name] = (rank, " ".join(str(ast.literal_eval(value)).split()))
    return {name: value for name, (_, value) in found.items() if name not in environment}


def lines_worth_showing(said: IO[str]) -> Iterator[str]:
    """What uv says, but for the lines that name each of some two hundred packages, once it is there."""
    for line in said:
        if not line.startswith((" + ", " - ", " ~ ", " Downloaded ", "   Building ")):
            yield line


def carried_out(command: Sequence[str], environment: Mapping[str, str], out: TextIO) -> int:
    """Run uv, show what it says, and give its exit code."""
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None  # it was asked for
        for line in lines_worth_showing(process.stdout):
            print(line, end="", file=out, flush=True)
    return process.returncode


def too_little_room(folder: Path) -> str | None:
    """What to say where the disk has too little room for the environment."""
    free = shutil.disk_usage(folder).free
    if free >= NEEDED:
        return None
    gigabytes = f"{free / 2**30:.1f} GB free in {folder}, and {NEEDED / 2**30:.0f} GB are needed"
    return f"error: there are {gigabytes}: make room, or clone Weir onto another disk"


UNREACHED = """\
error: the packages could not be installed; what stopped it stands above. They come from where pip finds packages: \
where this machine has no way there, name one that it has in pip's own settings (index-url, find-links, proxy, cert)."""


def main(locks: Sequence[str]) -> int:
    """Install uv by the first lock, and by uv the packages of the second, and Weir."""
    of_uv, of_all = locks
    if fault := too_little_room(Path.cwd()):
        print(fault, file=sys.stderr)
        return 1
    try:
        asked = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=True)
        environment = {**os.environ, **settings(asked.stdout, os.environ)}
        if subprocess.call([*BY_PIP, of_uv]) or carried_out(
            [*BY_UV, of_all], environment, sys.stdout
        ):
            # pip has ways that uv lacks: a keyring, a client's certificate, a platform without uv.
            print("uv could not install the packages; pip tries, which takes minutes", flush=True)
            if code := subprocess.call([*BY_PIP, of_all]):
                print(UNREACHED, file=sys.stderr)
                return code
        return subprocess.call(ITSELF, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
