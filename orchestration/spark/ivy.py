"""One jar fetched by the Ivy that pyspark carries, and made sure of by its digest.

Put here how a jar comes to this machine. Not here: which jars are needed, and where they are kept (``jars``).
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from orchestration.spark.java import find_java
from transforms.addresses import without_credentials

IVY_SETTINGS = "WEIR_IVY_SETTINGS"
"""The environment variable that names an ivysettings.xml, for machines that reach only a mirror."""


class Jar(NamedTuple):
    """One jar by its coordinates, and the digest that says that it is the right one."""

    organisation: str
    name: str
    version: str
    sha256: str

    @property
    def coordinates(self) -> str:
        """The name that Maven, Ivy and Spark know it by."""
        return f"{self.organisation}:{self.name}:{self.version}"

    @property
    def file(self) -> str:
        """Its file name."""
        return f"{self.name}-{self.version}.jar"


class JarsMissing(Exception):
    """A jar is not on this machine and could not be fetched: the text says which, why and what to do."""


def is_sound(path: Path, jar: Jar) -> bool:
    """True where the file is there and is that very jar."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == jar.sha256


def fetch(jar: Jar, scratch: Path, folder: Path) -> None:
    """Fetch one jar into the folder, by way of ``scratch``, which is on the same file system.

    Raises:
        JarsMissing: it cannot be fetched, or what came is another file.
        JavaMissing: there is no Java to run Ivy with.
    """
    answer = subprocess.run(
        _ivy_command(jar, scratch), capture_output=True, text=True, check=False, cwd=scratch
    )
    fetched = scratch / jar.file
    if not fetched.is_file():
        raise JarsMissing(instead([jar], folder, _reason(answer.stdout + answer.stderr)))
    if not is_sound(fetched, jar):
        found = hashlib.sha256(fetched.read_bytes()).hexdigest()
        raise JarsMissing(instead([jar], folder, f"what came has the sha256 {found}"))
    fetched.replace(folder / jar.file)


def _ivy_command(jar: Jar, scratch: Path) -> list[str]:
    pyspark = importlib.util.find_spec("pyspark")
    places = pyspark.submodule_search_locations if pyspark else None
    ivy = next(
        (found for place in places or [] for found in Path(place).glob("jars/ivy-*.jar")), None
    )
    if ivy is None:
        raise JarsMissing("pyspark is not installed here, or came without its jars/ivy-*.jar.")
    settings = os.environ.get(IVY_SETTINGS)
    if settings and not Path(settings).is_file():
        raise JarsMissing(f"{IVY_SETTINGS} names {settings}, which is not a file.")
    return [
        *(str(find_java().program), "-cp", str(ivy), "org.apache.ivy.Main"),
        *(("-settings", str(Path(settings).resolve())) if settings else ()),
        *("-cache", str(scratch / "cache"), "-notransitive", "-confs", "default"),
        *("-dependency", jar.organisation, jar.name, jar.version),
        *("-types", "jar", "bundle"),
        *("-retrieve", str(scratch / "[artifact]-[revision].[ext]")),
    ]


def _reason(output: str) -> str:
    """Pick the lines about the cause from the many that Ivy prints."""
    signs = ("ERROR", "not found", "UnknownHost", "refused", "timed out", "Exception")
    lines = [
        line.strip(" \t:") for line in output.splitlines() if any(sign in line for sign in signs)
    ]
    # A mirror's address may have its password in it.
    return without_credentials("; ".join(dict.fromkeys(lines[:3]))) or "Ivy gave no reason"


def instead(jars: Iterable[Jar], folder: Path, reason: str) -> str:
    """Which jars could not be fetched and why, and what a person can do instead."""
    wanted = "\n".join(f"  {jar.coordinates}  sha256 {jar.sha256}" for jar in jars)
    return (
        f"these jars are needed and could not be fetched ({reason}):\n{wanted}\n"
        "With a network that reaches Maven's central repository, run the command again. "
        f"With a mirror, set {IVY_SETTINGS} to an ivysettings.xml that names it. "
        f"Without either, put each jar into {folder} as NAME-VERSION.jar."
    )
