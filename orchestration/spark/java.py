"""Whether this machine has the Java and the Python that Weir needs, checked before anything is installed.

It imports the standard library only and nothing of Weir's own, so that ``python3 -I orchestration/spark/java.py``
works before there is a virtual environment.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

OLDEST_JAVA = 17
NEWEST_TRIED_JAVA = 21
OLDEST_PYTHON = (3, 11)
NEWEST_PYTHON = (3, 14)

INSTALL_JAVA = """\
Install Java 17 or 21:
  Debian, Ubuntu:  sudo apt-get install openjdk-17-jre-headless   (or openjdk-21-jre-headless)
  Fedora:          sudo dnf install java-21-openjdk-headless
  macOS:           brew install openjdk@21, and set JAVA_HOME as it says
or set JAVA_HOME to where one is."""

INSTALL_PYTHON = """\
Install Python 3.11 to 3.14 with venv:
  Debian, Ubuntu:  sudo apt-get install python3 python3-venv
  Fedora:          sudo dnf install python3
  macOS:           brew install python@3.13
or name one: make PYTHON=/path/to/python3.13 ..."""


class JavaMissing(Exception):
    """No Java that Spark can use: the text says what was found and what to install."""


class PythonUnfit(Exception):
    """This Python cannot hold Weir: the text says what was found and what to install."""


class Java(NamedTuple):
    """A java that answered: its program and its feature release, 17 for ``17.0.15``."""

    program: Path
    release: int


def find_java() -> Java:
    """Find the java that Spark will start: JAVA_HOME's where that is set, else the first on PATH.

    Raises:
        JavaMissing: There is none, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        program, origin = Path(home) / "bin" / "java", f"JAVA_HOME is {home}"
        # Spark never looks at PATH once JAVA_HOME is set, so neither does this check.
        if not program.is_file():
            raise JavaMissing(f"{origin}, but there is no {program}.\n{INSTALL_JAVA}")
    else:
        on_path = shutil.which("java")
        if on_path is None:
            fault = "Java was not found: JAVA_HOME is not set and PATH has no java."
            raise JavaMissing(f"{fault}\n{INSTALL_JAVA}")
        program, origin = Path(on_path), f"{on_path} is the java on PATH"
    release = _release_of(program, origin)
    if release < OLDEST_JAVA:
        raise JavaMissing(f"{origin}: it is Java {release}, too old for Spark 4.\n{INSTALL_JAVA}")
    return Java(program, release)


def _release_of(program: Path, origin: str) -> int:
    try:
        answer = subprocess.run(
            [str(program), "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.SubprocessError) as fault:
        raise JavaMissing(f"{origin}, but it does not start: {fault}.\n{INSTALL_JAVA}") from fault
    output = (answer.stderr + answer.stdout).strip()
    version = re.search(r'version "(?:1\.)?(\d+)', output)
    # macOS has a stand-in for java that only says that there is no Java.
    if answer.returncode != 0 or version is None:
        first = output.splitlines()[0] if output else f"exit code {answer.returncode}"
        raise JavaMissing(f"{origin}, but it does not tell its version: {first}\n{INSTALL_JAVA}")
    return int(version.group(1))


def check_java() -> None:
    """Return quietly where Spark will find a fit Java; warn on stderr about one that is untried.

    Raises:
        JavaMissing: There is none, or it is too old.
    """
    java = find_java()
    if java.release > NEWEST_TRIED_JAVA:
        print(
            f"warning: {java.program} is Java {java.release}; Weir is tried with 17 and 21 only",
            file=sys.stderr,
        )


def check_python() -> None:
    """Return quietly where this Python can make Weir's virtual environment.

    Raises:
        PythonUnfit: It is too old or too new, or lacks venv or ensurepip.
    """
    here, found = sys.executable or "python3", sys.version_info[:2]
    if not OLDEST_PYTHON <= found <= NEWEST_PYTHON:
        raise PythonUnfit(f"{here} is Python {found[0]}.{found[1]}.\n{INSTALL_PYTHON}")
    # Debian packs ensurepip apart from venv, and venv fails halfway without it.
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            raise PythonUnfit(f"{here} lacks the module {module}.\n{INSTALL_PYTHON}")


def main(arguments: list[str]) -> int:
    """Check both, or Python alone, and say what is missing; the exit code is 0 where nothing is."""
    python_only = arguments == ["--python-only"]
    for check in (check_python,) if python_only else (check_java, check_python):
        try:
            check()
        except (JavaMissing, PythonUnfit) as fault:
            print(f"error: {fault}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
