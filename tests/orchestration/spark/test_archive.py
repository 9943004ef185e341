"""The archive for a cluster's executors: what is in it, and what Spark is told of it."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from orchestration.resources import lake_of
from orchestration.spark import archive

WORK = """
import sys
from importlib import import_module
before = {*sys.modules}
for name in sys.argv[1:]:
    import_module(name)
files = {name: getattr(sys.modules[name], "__file__", None) or "" for name in {*sys.modules} - before}
print(*sorted({name.partition(".")[0] for name, file in files.items() if "site-packages" in file}))
"""
"""Imports modules with what is on the path alone, and says which packages of the environment came with them."""

OF_TASKS = (
    "assets.landing.spark_source",
    "assets.landing.read_objects",
    "assets.landing.read_topics",
    "assets.executors.spark",
    "assets.silver.files",
    "transforms.silver.stages",
    "transforms.gold.stages",
    "transforms.formats",
)
"""Modules of which Spark's tasks import something."""
OF_SPARK = {"pyspark", "py4j"}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    archive.make(folder / "made" / "weir.tar.gz")
    with tarfile.open(folder / "made" / "weir.tar.gz") as packed:
        packed.extractall(folder / "weir", filter="data")
    assert not list((folder / "made").glob("*.unfinished"))
    return folder / "weir"


def test_what_tasks_import_is_in_it(unpacked: Path, root: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", WORK, *OF_TASKS],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "pyarrow" in found
    there = {one.name.removesuffix(".py") for one in unpacked.iterdir()}
    # urllib3 uses certifi's list of authorities where it finds it, and else the machine's.
    assert {*found} - there - OF_SPARK - {"certifi"} == set()


def test_it_has_no_tests_and_nothing_that_a_machine_made(unpacked: Path) -> None:
    names = {one.name for one in unpacked.iterdir()}
    assert {*archive.OWN} < names
    assert not names & {"tests", "bench", "orchestration", "dagster", "pyspark"}
    assert not list(unpacked.rglob("*.pyc"))


def test_spark_hears_of_it_on_a_cluster_alone(tmp_path: Path) -> None:
    named = {"WEIR_SPARK_ARCHIVE": "/srv/weir.tar.gz"}
    cluster = {"WEIR_SPARK_MASTER": "spark://m:7077"}
    here, there, bare = (
        lake_of(str(tmp_path), one).pyspark.spark_config
        for one in (named, named | cluster, cluster)
    )
    assert "spark.archives" not in here
    assert there["spark.archives"] == "/srv/weir.tar.gz#weir"
    assert there["spark.executorEnv.PYTHONPATH"] == "weir"
    assert "spark.archives" not in bare


def test_with_an_archive_each_host_has_its_own_python() -> None:
    environment = {"PATH": "/usr/bin", "WEIR_SPARK_ARCHIVE": "/srv/weir.tar.gz"}
    archive.choose_python(environment)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    assert environment["PYSPARK_PYTHON"] == version
    # The driver runs Python, too, and finds this environment's first.
    assert environment["PATH"] == f"{Path(sys.executable).parent}:/usr/bin"
    named = {"WEIR_SPARK_ARCHIVE": "/srv/weir.tar.gz", "WEIR_SPARK_PYTHON": "/opt/python"}
    archive.choose_python(named)
    assert named["PYSPARK_PYTHON"] == "/opt/python"
