"""What all tests share: one Spark session, the mark of those that use it, and one Kafka broker."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

from orchestration.spark.jars import ensure_jars
from orchestration.spark.settings import session_config
from tests.services.kafka import broker

# Of a fixture that modules import by themselves each would have its own.
__all__ = ["broker"]

# How long an example takes is the machine's matter: no test fails by the clock.
settings.register_profile("weir", deadline=None)
settings.load_profile("weir")

FAULTS = ("fault", "times", "lost events", "wrong rows")
"""The columns of the faults' table."""


UNCOMPILED = {
    "spark.sql.codegen.wholeStage": "false",
    # As for small work everywhere (``orchestration/spark/small_work.py``).
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Compiling the plans of thousands of small queries takes longer than running them. The journeys, which start their
own processes, run compiled plans, and so do all tests with ``WEIR_TEST_COMPILED=1``."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session that all tests of this process share: two cores, few partitions, UTC."""
    settings = session_config(os.environ) | {
        "spark.master": "local[2]",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        # Two test processes and their servers share two cores: what takes seconds alone may wait for minutes.
        "spark.sql.broadcastTimeout": "1200",
        **({} if os.environ.get("WEIR_TEST_COMPILED") else UNCOMPILED),
        "spark.jars": ",".join(str(jar) for jar in ensure_jars()),
        # Nothing that a test saves by name may land in the folder where pytest was started.
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark-warehouse")),
    }
    # Spark's workers are this Python; PATH's has none of the packages.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the session, directly or through a fixture, so that ``-m "not spark"`` is quick."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have counted, passed or not: the laws' histories, and the faults with their seeds.

    Here and not beside those tests: of several processes it is the one that starts the others that prints.
    """
    told: dict[str, list[object]] = {"laws": [], "faults": [], "fault seeds": []}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in report.user_properties:
                if report.when == "call" and name in told:
                    told[name].append(value)
    if told["laws"]:
        terminalreporter.section("laws")
        for line in told["laws"]:
            terminalreporter.write_line(str(line))
    if told["faults"]:
        terminalreporter.section("faults")
        for row in (FAULTS, ("---",) * len(FAULTS), *told["faults"]):
            assert isinstance(row, Iterable)
            terminalreporter.write_line(f"| {' | '.join(map(str, row))} |")
        for line in told["fault seeds"]:
            terminalreporter.write_line(str(line))


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the project."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def samples_of(root: Path) -> Callable[[str], Path]:
    """The folder of one vendor's samples: they are not part of the project, and tests that read them skip without."""

    def folder_of(vendor: str) -> Path:
        shared = Path(os.environ.get("WEIR_SAMPLES", root.parent / "shared" / "samples"))
        folder = shared / vendor
        if not folder.is_dir():
            pytest.skip(f"no samples at {folder}; WEIR_SAMPLES names the folder that has them")
        return folder

    return folder_of
