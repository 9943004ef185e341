"""Pages of the documentation, carried out as a reader would: files are saved, commands are run, and compared.

In a page a block of ``yaml`` whose first line is a comment with a path is a file to be saved. A block of ``shell`` is
typed; a block of ``text`` that follows it is what it prints: each line, in this order, of which ``…`` stands for any
words, and alone in a line for any lines. Numbers of seconds may differ, and lines that say that something goes on. A
block of ``text`` that begins with ``$ `` has both: what is typed, and below it what that prints.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.journeys.forked_weir import folder_of_weir

LONG = 1200
MARK = "==== block"
TYPED = "$ "
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WAITING = re.compile(r"\s*… |starting Spark$")
"""What a command prints on a slow machine, so that nobody thinks that it hangs."""
DROPPED = ("WEIR_", "AWS_", "DAGSTER_", "PYSPARK_", "MAKE")


@dataclass(frozen=True)
class Step:
    """One thing to do, and what it prints where the page says so."""

    script: str
    expected: str | None = None


def steps(page: str) -> Iterator[Step]:
    """What a reader of the page does, in order."""
    blocks = BLOCK.findall(page)
    for number, (kind, body) in enumerate(blocks):
        following = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
        path = re.match(r"# (\S+/\S+)\n", body)
        if kind == "yaml" and path:
            yield Step(f"cat > {shlex.quote(path[1])} <<'END_OF_FILE'\n{body}END_OF_FILE\n")
        elif kind == "shell":
            yield Step(body, following[1] if is_printed(*following) else None)
        elif kind == "text" and body.startswith(TYPED):
            for typed in re.split(rf"^{re.escape(TYPED)}", body, flags=re.MULTILINE)[1:]:
                script, _, printed = typed.partition("\n")
                yield Step(f"{script}\n", printed.strip("\n") or None)


def is_printed(kind: str, body: str) -> bool:
    """Whether a block is what the block before it prints."""
    return kind == "text" and not body.startswith(TYPED)


def carried_out(folder: Path, done: list[Step], environment: Mapping[str, str]) -> list[str]:
    """What each step prints: all of them in one shell, as typed, by the first that fails an error."""
    root = Path(__file__).resolve().parents[2]
    script = "set -e\n" + "".join(
        f"echo {MARK} {number}\n{step.script}\n" for number, step in enumerate(done)
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)}
    ran = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={
            **kept,
            "PATH": f"{folder_of_weir()}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            # The code that is tested, wherever the environment's own copy of it lies.
            "PYTHONPATH": f"{root}",
            **environment,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-5000:]
    return re.split(rf"^{MARK} \d+\n", ran.stdout, flags=re.MULTILINE)[1:]


def missing(expected: str, printed: str) -> str | None:
    """The first line that was not printed where the page has it; None where all were."""
    lines = in_order(comparable(line) for line in printed.splitlines() if not WAITING.match(line))
    place, may_skip = 0, True
    for line in in_order(map(comparable, expected.splitlines())):
        if line == "…":
            may_skip = True
            continue
        pattern = re.compile(".*".join(map(re.escape, line.split("…"))))
        while place < len(lines) and not pattern.fullmatch(lines[place]):
            if not may_skip:
                return line
            place += 1
        if place == len(lines):
            return line
        place, may_skip = place + 1, False
    return None


def in_order(lines: Iterable[str]) -> list[str]:
    """The lines, with gold tables that follow each other by name: they are made side by side, and one is done first."""
    found: list[str] = []
    for is_gold, some in groupby(lines, lambda line: line.startswith("  gold.")):
        some_lines = [*some]
        found += sorted(some_lines) if is_gold else some_lines
    return found


def comparable(line: str) -> str:
    """A line without what differs from run to run: how long something took, and blanks at its end."""
    return re.sub(r"\b\d+(\.\d+)? ?(s|seconds)\b", r"N \2", line.rstrip())
