"""Java programs for tests: their jars with all dependencies, fetched once by the Ivy that pyspark carries."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyspark

from orchestration.spark.jars import IVY_SETTINGS, jar_folder
from orchestration.spark.java import find_java


class Module(NamedTuple):
    """One module by its coordinates; Ivy finds what it depends on."""

    organisation: str
    name: str
    version: str


def fetched(program: str, modules: Sequence[Module], sha256: str) -> list[Path]:
    """The jars of these modules and of all that they depend on; ``sha256`` is that of all of them together.

    Of several test processes the first one fetches.
    """
    folder = jar_folder().parent / program
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _fetch(folder, modules, sha256)
    return sorted(folder.glob("*.jar"))


def digest_of(folder: Path) -> str:
    """One digest of every jar in the folder, by name and content."""
    digest = hashlib.sha256()
    for jar in sorted(folder.glob("*.jar")):
        digest.update(f"{jar.name} {hashlib.sha256(jar.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def classpath(jars: Sequence[Path]) -> str:
    """What java takes after ``-cp``."""
    return os.pathsep.join(map(str, jars))


def _fetch(folder: Path, modules: Sequence[Module], sha256: str) -> None:
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder.parent) as scratch:
        wanted = "".join(
            f'<dependency org="{one.organisation}" name="{one.name}" rev="{one.version}" conf="default"/>'
            for one in modules
        )
        (Path(scratch) / "ivy.xml").write_text(
            '<ivy-module version="2.0"><info organisation="weir" module="tests"/>'
            f"<dependencies>{wanted}</dependencies></ivy-module>"
        )
        jars = Path(scratch) / "jars"
        ivy = next((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))
        settings = os.environ.get(IVY_SETTINGS)
        answer = subprocess.run(
            [
                *(str(find_java().program), "-cp", str(ivy), "org.apache.ivy.Main"),
                *(("-settings", str(Path(settings).resolve())) if settings else ()),
                *("-cache", f"{scratch}/cache", "-ivy", "ivy.xml", "-confs", "default"),
                *("-types", "jar", "bundle"),
                *("-retrieve", f"{jars}/[artifact]-[revision].[ext]"),
            ],
            cwd=scratch,
            capture_output=True,
            text=True,
            check=False,
        )
        found = digest_of(jars)
        if found != sha256:
            said = (answer.stdout + answer.stderr)[-2000:]
            raise RuntimeError(f"the jars of {folder.name} have the digest {found}\n{said}")
        shutil.move(jars, folder)
