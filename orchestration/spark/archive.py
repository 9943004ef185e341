"""The archive by which Weir's code, and the packages that its tasks import, reach the executors of a cluster.

Spark unpacks it into the working folder of each executor, and the tasks' Python looks there first. So the hosts of a
cluster need Spark and a Python of the same minor version as the driver's, and nothing of Weir. pyspark itself is not
in it: it is part of the cluster's Spark.
"""

from __future__ import annotations

import os
import re
import sys
import tarfile
from collections.abc import Iterator, Mapping, MutableMapping
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

from orchestration.spark.settings import OF_THE_DAEMON, refuse_credentials

ARCHIVE: Final = "WEIR_SPARK_ARCHIVE"
PYTHON: Final = "WEIR_SPARK_PYTHON"
FOLDER: Final = "weir"
"""The archive's folder in the working folder of an executor."""

OWN: Final = ("assets", "expectations", "transforms")
"""Weir's packages that tasks import. They import nothing of ``orchestration``, which a contract holds."""

DISTRIBUTIONS: Final = (
    *("boto3", "confluent-kafka", "fastavro", "msgspec", "numpy", "protobuf", "pyarrow"),
)
"""What tasks import besides; all that these need comes with them."""

_ROOT: Final = Path(__file__).resolve().parents[2]
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")


def settings_of(environment: Mapping[str, str]) -> dict[str, str]:
    """Spark's settings for a cluster and the archive in ``WEIR_SPARK_ARCHIVE``: a file, or an address Spark reads."""
    place = environment.get(ARCHIVE, "").strip()
    if not place or "WEIR_SPARK_MASTER" not in environment:
        return {}
    refuse_credentials(ARCHIVE, place)
    place = place.replace("s3://", "s3a://", 1) if "://" in place else str(Path(place).resolve())
    return {
        "spark.archives": f"{place}#{FOLDER}",
        "spark.executorEnv.PYTHONPATH": FOLDER,
        **OF_THE_DAEMON,
    }


def choose_python(environment: MutableMapping[str, str]) -> None:
    """Say in ``PYSPARK_PYTHON`` which Python runs the tasks, unless it is said already.

    Without an archive it is this very environment's, not the first ``python3`` on the path. With one it is
    ``WEIR_SPARK_PYTHON``, or ``python3.11`` and the like, as each host's path has it: on this host that is this
    environment's, too, because it comes first on the path.
    """
    if not environment.get(ARCHIVE, "").strip():
        environment.setdefault("PYSPARK_PYTHON", sys.executable)
        return
    major, minor = sys.version_info[:2]
    environment.setdefault("PYSPARK_PYTHON", environment.get(PYTHON) or f"python{major}.{minor}")
    here = str(Path(sys.executable).parent)
    environment["PATH"] = os.pathsep.join([here, environment.get("PATH", os.defpath)])


def make(archive: Path) -> int:
    """Write the archive (``.tar.gz``), whole or not at all; returns its bytes."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_name(archive.name + ".unfinished")
    with tarfile.open(unfinished, "w:gz", compresslevel=3) as target:
        for path, name in sorted(_own_files()) + sorted(_installed_files()):
            target.add(path, name, recursive=False, filter=_without_owner)
    unfinished.replace(archive)
    return archive.stat().st_size


def _own_files() -> Iterator[tuple[Path, str]]:
    for package in OWN:
        for path in (_ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path, str(path.relative_to(_ROOT))


def _installed_files() -> Iterator[tuple[Path, str]]:
    for name in _with_what_they_need(DISTRIBUTIONS):
        for file in distribution(name).files or ():
            # Commands of a package lie outside of the folder that Python imports from, and tasks start none.
            if ".." not in file.parts and "__pycache__" not in file.parts:
                yield Path(str(file.locate())), str(file)


def _with_what_they_need(names: tuple[str, ...]) -> list[str]:
    """The distributions, and all that they require on this machine without extras, each once."""
    found: dict[str, None] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = None
        for requirement in distribution(name).requires or ():
            needed, _, marker = requirement.partition(";")
            written = _NAME.match(needed)
            if written is not None and "extra" not in marker:
                waiting.append(written[0].lower().replace("_", "-"))
    return [*found]


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """The entry without its owner, so that everybody makes the same archive."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].endswith(".tar.gz"):
        sys.exit("usage: python -m orchestration.spark.archive FILE.tar.gz")
    made = Path(sys.argv[1])
    print(
        f"{made}: {make(made):,} bytes. Name it in {ARCHIVE}, or put it where every host can read it."
    )
