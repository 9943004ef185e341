"""The environments of the other tools: a virtual one for each, made from its lock and kept until the lock changes.

The locks hold no address, so packages come from whatever index pip is set up for.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from bench.measuring import say
from orchestration.resources import ROOT

FOLDER = ROOT / ".bench-environments"
"""The folder that environments go to by default."""

SCRIPTS = Path(__file__).resolve().parent
"""Where the scripts and the locks are: each tool has one name for both."""

KEY = "key"
"""The file in an environment that says what it was made from. It is written last: without it, nothing is whole."""


class NoEnvironment(Exception):
    """An environment could not be made: the text says of which tool, and what the installer said."""


def python(tool: str, folder: Path = FOLDER, locks: Path | None = None) -> Path:
    """The Python of the tool's environment, which is made where it is missing or was made from something else.

    ``locks``: the folder that has the tool's lock, where that is not this one.

    Raises:
        NoEnvironment: it cannot be made, as where no index has the packages.
    """
    lock = (locks or SCRIPTS) / f"{tool}.lock"
    place = folder.absolute() / tool
    program = place / "bin" / "python"
    if not is_current(place, key(lock)):
        say(f"making an environment for {tool}")
        shutil.rmtree(place, ignore_errors=True)
        _do(tool, sys.executable, "-m", "venv", str(place))
        words = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        # The lock has all of it; old releases of pip take a package with an extra for another one.
        _do(tool, str(program), *words, "--no-deps", "--require-hashes", "--requirement", str(lock))
        (place / KEY).write_text(key(lock))
    return program


def key(lock: Path) -> str:
    """A digest of what an environment is made from: the lock, and the Python."""
    made_with = f"{platform.python_version()} {Path(sys.executable).resolve()}\n"
    return hashlib.sha256(made_with.encode() + lock.read_bytes()).hexdigest()


def is_current(place: Path, wanted: str) -> bool:
    """Whether a whole environment of this key is there, and the Python that it links to as well."""
    made_from = place / KEY
    return (place / "bin" / "python").exists() and (
        made_from.is_file() and made_from.read_text() == wanted
    )


def _do(tool: str, *words: str) -> None:
    answer = subprocess.run(words, capture_output=True, text=True, check=False)
    if answer.returncode:
        reason = (answer.stderr or answer.stdout).strip()
        raise NoEnvironment(f"no environment for {tool}: {reason}")
