"""Installs what requirements.lock pins, and says how far it is in a dozen lines where pip has hundreds.

A step of set-up, run by the new environment's own Python before there is anything in it: standard library only, and
no import of Weir's own. What pip says is kept, and shown in full where it fails. Not here: where packages come from,
which is what pip is set up for, and what comes before and after (Makefile).
"""

from __future__ import annotations

import os
import queue
import re
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import TextIO

PIP = (
    *(sys.executable, "-m", "pip", "install", "--disable-pip-version-check"),
    *("--progress-bar", "off", "--no-color", "--require-hashes", "-r"),
)

PARTS = 4
"""Where lines stay, as in a log, there is one for each of so many parts of the way."""
PATIENCE = 30.0
"""Seconds without a line after which one is printed all the same; doubled each time."""

_FETCHED = re.compile(
    r"\s*(?:Downloading|Using cached|Processing) (\S+\.(?:whl|tar\.gz|zip))(?: .*)?"
)
_SKIPPED = re.compile(r"Ignoring \S+: markers .*")
_INSTALLING = re.compile(r"Installing collected packages: (.*)")
_WARNING = re.compile(r"(?:WARNING|DEPRECATION): .*")
_FAULT = re.compile(r"\s*(?:ERROR|error|Traceback)\b.*")
"""Where pip's message begins: what comes behind it belongs to it, and nothing of it is left out."""


class Progress:
    """How far pip is, by what it says and by what is there, and the line that tells so."""

    def __init__(self, pins: int, out: TextIO, *, rewrites: bool) -> None:
        """``rewrites``: a terminal, where a line takes the place of the one before."""
        self._said: list[str] = []
        self._out = out
        self._rewrites = rewrites
        self._began = self._last = monotonic()
        self._patience = PATIENCE
        self._wanted = pins
        self._fetched: set[str] = set()
        self._installing = 0
        self._there_before = 0
        self._part = 0
        self._is_open = False

    def take(self, line: str) -> None:
        """Note a line of pip; a warning is shown at once, for it may tell why nothing goes on."""
        self._said.append(line)
        if found := _FETCHED.fullmatch(line):
            self._fetched.add(found[1])
        elif _SKIPPED.fullmatch(line):
            self._wanted -= 1
        elif found := _INSTALLING.fullmatch(line):
            self.show(is_last=True)
            self._installing = len(found[1].split(", "))
            self._there_before, self._part = _installed(), 0
        elif _WARNING.fullmatch(line):
            self._close()
            print(line, file=self._out, flush=True)

    def show(self, *, is_last: bool = False) -> None:
        """Say how far it is, where that is news; and at the end of a stretch in any case."""
        if self._installing:
            verb, wanted, done = "installing", self._installing, _installed() - self._there_before
        else:
            verb, wanted, done = "fetching", self._wanted, len(self._fetched)
        # The one that pip puts in the place of an older one is not there for a moment.
        done = wanted if is_last else max(0, min(done, wanted))
        now = monotonic()
        text = f"{verb} packages: {done} of {wanted}, {now - self._began:.0f} s"
        part = PARTS * done // max(1, wanted)
        if self._rewrites:
            print(f"\r{text}\033[K", end="", file=self._out, flush=True)
            self._is_open = True
            if is_last:
                self._close()
        elif part > self._part or now - self._last > self._patience:
            if part == self._part:
                self._patience *= 2
            self._part, self._last = part, now
            print(text, file=self._out, flush=True)

    def failed(self) -> None:
        """Show pip's message: all that it has said where the message has no known beginning."""
        self._close()
        faults = (at for at, line in enumerate(self._said) if _FAULT.fullmatch(line))
        for line in self._said[next(faults, 0) :]:
            print(line, file=self._out, flush=True)

    def _close(self) -> None:
        if self._is_open:
            print(file=self._out, flush=True)
        self._is_open = False


def pins(lock: str) -> int:
    """How many packages a lock names, for all systems and Pythons together."""
    return len(re.findall(r"^[A-Za-z0-9][^\s=]*==", lock, flags=re.MULTILINE))


def install(command: Sequence[str], progress: Progress) -> int:
    """Run pip, show how far it is, and give its exit code."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        reader = threading.Thread(target=_read, args=(process.stdout, lines))
        reader.start()
        while (line := _next(lines)) is not None:
            if line:
                progress.take(line.rstrip())
            progress.show()
        reader.join()
    if process.returncode:
        progress.failed()
    else:
        progress.show(is_last=True)
    return process.returncode


def _next(lines: queue.SimpleQueue[str | None]) -> str | None:
    """Give the next line with its end, nothing where none comes for a while, and ``None`` behind the last one."""
    try:
        return lines.get(timeout=0.5)
    except queue.Empty:
        return ""


def _read(output: TextIO, lines: queue.SimpleQueue[str | None]) -> None:
    for line in output:
        lines.put(line)
    lines.put(None)


def _installed() -> int:
    folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return sum(1 for folder in folders for _ in Path(folder).glob("*.dist-info"))


def main(lock: str) -> int:
    """Install the packages of this lock into the environment of this Python."""
    is_terminal = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    progress = Progress(pins(Path(lock).read_text()), sys.stdout, rewrites=is_terminal)
    try:
        return install([*PIP, lock], progress)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
