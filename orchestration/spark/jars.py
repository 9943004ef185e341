"""The jars that Spark needs beyond its own, fetched once and kept beside the environment.

Delta needs two jars and no more; they are fetched one by one, without what Maven lists behind them. Tables on
``s3a://`` need the jars of ``s3a_jars`` too, fetched only when they are asked for.
Put here which jars there are. Not here: how one is fetched (``ivy``), and how Spark learns of them (``session``).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from orchestration.spark.ivy import Jar, JarsMissing, fetch, instead, is_sound
from orchestration.spark.java import JavaMissing
from orchestration.spark.s3a_jars import S3A_PINS

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
    missing = [jar for jar in jars if not is_sound(folder / jar.file, jar)]
    if missing:
        _fetch(missing, folder)
    return [folder / jar.file for jar in jars]


def _fetch(jars: Sequence[Jar], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Inside the target, because renaming within one file system is atomic: processes that
        # fetch the same jar at the same time never see each other's halves. Ivy's cache is in it
        # too, because a shared one remembers failed look-ups.
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as scratch:
            for number, jar in enumerate(jars, 1):
                print(f"fetching {jar.coordinates} ({number} of {len(jars)})", file=sys.stderr)
                fetch(jar, Path(scratch), folder)
    except OSError as fault:
        raise JarsMissing(instead(jars, folder, str(fault))) from fault


def fetch_missing() -> int:
    """Fetch Delta's jars where they are missing, as a step of set-up; returns the exit code."""
    try:
        ensure_jars()
    except (JarsMissing, JavaMissing) as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(fetch_missing())
