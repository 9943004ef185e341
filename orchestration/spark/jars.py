"""The jars that Spark needs beyond its own, fetched once and kept beside the environment.

Delta needs two jars and no more; they are fetched one by one, without what Maven lists behind
them, by the Ivy that pyspark carries. Tables on ``s3a://`` need the jars of ``s3a_jars.py`` too,
fetched only when they are asked for.
Not here: how Spark is told of them (``spark.py``).
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from orchestration.spark.java import JavaMissing, find_java
from orchestration.spark.s3a_jars import S3A_PINS

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


DELTA = (
    Jar(
        "io.delta",
        "delta-spark_4.2_2.13",
        "4.4.0",
        "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
    ),
    Jar(
        "io.delta",
        "delta-storage",
        "4.4.0",
        "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
    ),
)

S3A = tuple(Jar._make(pin.replace(":", " ").split()) for pin in S3A_PINS.splitlines())


class JarsMissing(Exception):
    """Some jar is not here and could not be fetched: the text says which, why and what to do."""


def jar_folder() -> Path:
    """Where the jars of this environment are kept."""
    return Path(sys.prefix) / "share" / "weir" / "jars"


def ensure_jars() -> list[Path]:
    """Give the two jars that Delta tables need, fetching what is missing.

    Raises:
        JarsMissing: One is missing and cannot be fetched.
        JavaMissing: One is missing, and there is no Java to fetch it with.
    """
    return _ensure(DELTA, jar_folder())


def s3a_jars() -> list[Path]:
    """Give the jars that a warehouse on ``s3a://`` needs beside Delta's, fetching what is missing.

    Raises:
        JarsMissing: One is missing and cannot be fetched.
        JavaMissing: One is missing, and there is no Java to fetch it with.
    """
    return _ensure(S3A, jar_folder())


def _ensure(jars: Sequence[Jar], folder: Path) -> list[Path]:
    missing = [jar for jar in jars if not _is_sound(folder / jar.file, jar)]
    if missing:
        _fetch(missing, folder)
    return [folder / jar.file for jar in jars]


def _is_sound(path: Path, jar: Jar) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == jar.sha256


def _fetch(jars: Sequence[Jar], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Inside the target, because renaming within one file system is atomic: processes that
        # fetch the same jar at the same time never see each other's halves. Ivy's cache is in it
        # too, because a shared one remembers failed look-ups.
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as scratch:
            for number, jar in enumerate(jars, 1):
                print(f"fetching {jar.coordinates} ({number} of {len(jars)})", file=sys.stderr)
                _fetch_one(jar, Path(scratch), folder)
    except OSError as fault:
        raise JarsMissing(_message(jars, folder, str(fault))) from fault


def _fetch_one(jar: Jar, scratch: Path, folder: Path) -> None:
    answer = subprocess.run(
        _ivy_command(jar, scratch), capture_output=True, text=True, check=False, cwd=scratch
    )
    fetched = scratch / jar.file
    if not fetched.is_file():
        raise JarsMissing(_message([jar], folder, _reason(answer.stdout + answer.stderr)))
    if not _is_sound(fetched, jar):
        found = hashlib.sha256(fetched.read_bytes()).hexdigest()
        raise JarsMissing(_message([jar], folder, f"what came has the sha256 {found}"))
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


def _reason(said: str) -> str:
    """Pick what Ivy says about the cause from the much else that it says."""
    telling = ("ERROR", "not found", "UnknownHost", "refused", "timed out", "Exception")
    lines = [line.strip(" \t:") for line in said.splitlines() if any(t in line for t in telling)]
    return "; ".join(dict.fromkeys(lines[:3])) or "Ivy gave no reason"


def _message(jars: Iterable[Jar], folder: Path, reason: str) -> str:
    wanted = "\n".join(f"  {jar.coordinates}  sha256 {jar.sha256}" for jar in jars)
    return (
        f"these jars are needed and could not be fetched ({reason}):\n{wanted}\n"
        "With a network that reaches Maven's central repository, run the command again. "
        f"With a mirror, set {IVY_SETTINGS} to an ivysettings.xml that names it. "
        f"Without either, put each jar into {folder} as NAME-VERSION.jar."
    )


def main() -> int:
    """Fetch Delta's jars where they are missing: a step of set-up."""
    try:
        ensure_jars()
    except (JarsMissing, JavaMissing) as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
