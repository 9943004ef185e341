"""What all tests share: one Spark session, one Kafka broker, and which tests run where: marks, suites and lanes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from pyspark import SparkContext
from pyspark.sql import SparkSession

from assets import retries
from orchestration.spark.jars import ensure_jars
from orchestration.spark.settings import FIRST_COMPILER, OPTIONS, session_config
from tests import lanes
from tests.journeys import forked_weir
from tests.lanes import pytest_configure_node, pytest_xdist_make_scheduler
from tests.services.kafka import broker
from tests.suites import LONG, Shard, is_slow, part_of
from transforms.feed import digest
from transforms.feed.feed import Feed

# Of a fixture that modules import by themselves each would have its own.
__all__ = ["broker", "pytest_configure_node", "pytest_xdist_make_scheduler"]

# How long an example takes is the machine's matter: no test fails by the clock.
settings.register_profile("weir", deadline=None)
settings.register_profile("quick", settings.get_profile("weir"), max_examples=25)
settings.load_profile("weir")

# Runs of tests are in no history: that of a checkout is for people.
os.environ.setdefault("DAGSTER_HOME", "")

FAULTS = ("fault", "times", "lost events", "wrong rows")
"""The columns of the faults' table."""


SERVERS = {"store", "broker", "postgres"}
"""Fixtures that start a server."""


FORGETFUL = {
    # Of every query Spark keeps its plan as text and what its pages would show, of a thousand of them by default.
    "spark.sql.ui.retainedExecutions": "20",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
    # Delta keeps what it has read of each table for an hour, of 10,000 tables: those of a test are no other one's.
    "spark.databricks.delta.delta.log.cacheSize": "200",
}
"""Nobody looks at the pages of the tests' session, which has thousands of queries of thousands of tables."""


UNCOMPILED = {
    "spark.sql.codegen.wholeStage": "false",
    # As for small work everywhere (``orchestration/spark/settings.py``).
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
        # One session has all tests that need Spark.
        "spark.driver.memory": "3g",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        # Two test processes and their servers share two cores: what takes seconds alone may wait for minutes.
        "spark.sql.broadcastTimeout": "1200",
        **FORGETFUL,
        **({} if os.environ.get("WEIR_TEST_COMPILED") else UNCOMPILED),
        "spark.jars": ",".join(str(jar) for jar in ensure_jars()),
        # Nothing that a test saves by name may land in the folder where pytest was started.
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark-warehouse")),
    }
    if not os.environ.get("WEIR_TEST_COMPILED"):
        # Of the 144 s of processor that Java took for the tests of one file, its compilers had 68.
        settings[OPTIONS] = f"{settings[OPTIONS]} {FIRST_COMPILER}"
    # Spark's workers are this Python; PATH's has none of the packages.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


LANE = "spark"
"""The group of all tests that use the session: one process runs them, and the others everything else. Two sessions of
two cores each take longer on two cores than one after the other."""


def pytest_configure(config: pytest.Config) -> None:
    """In the long suite each command of a journey is a fresh process of the installed program."""
    if config.getoption("shard") is not None:
        os.environ.setdefault(forked_weir.VARIABLE, "0")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--shard`` chooses the long suite, or a shard of it (``make test-long``)."""
    parser.addoption("--shard", type=Shard.read, help="run this part of the long suite only: 3/12")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave what is slow unread where ``make check`` leaves it out: reading it takes seconds."""
    if "not slow" not in config.option.markexpr or not collection_path.is_relative_to(
        config.rootpath
    ):
        return None
    return is_slow(collection_path.relative_to(config.rootpath).as_posix()) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what uses the session or a server, directly or through a fixture, and what is slow or long.

    ``make check`` leaves out all of it, ``make test`` what is long.
    """
    shard: Shard | None = config.getoption("shard")
    if shard is not None:
        chosen = shard.parts
        config.hook.pytest_deselected(
            items=[item for item in items if part_of(item.nodeid) not in chosen]
        )
        items[:] = [item for item in items if part_of(item.nodeid) in chosen]
    for item in items:
        if part_of(item.nodeid) in LONG:
            item.add_marker(pytest.mark.long)
        fixtures = set(getattr(item, "fixturenames", ()))
        if "spark" in fixtures:
            item.add_marker(pytest.mark.spark)
        if fixtures & SERVERS:
            item.add_marker(pytest.mark.services)
        if is_slow(item.nodeid):
            item.add_marker(pytest.mark.slow)
        marks = {mark.name for mark in item.iter_markers()}
        if "spark" in marks:
            item.add_marker(pytest.mark.xdist_group(LANE))
        elif marks & {"services", "journey"} or is_of_module(item):
            # Whose tests share a server, or what else is made once for all of them: two processes would make it twice.
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    items.sort(key=turn_of)
    lanes.tell(config, items)


def is_of_module(item: pytest.Item) -> bool:
    """Whether something is made for the test that all tests of its file share."""
    found = getattr(item, "_fixtureinfo", None)
    fixtures = found.name2fixturedefs.values() if found else ()
    return any(one[-1].scope == "module" for one in fixtures if one)


def turn_of(item: pytest.Item) -> int:
    """When the test is run: Spark's lane first, then what takes long; quick ones go last to whoever is free."""
    marks = {mark.name for mark in item.iter_markers()}
    if is_of_module(item):
        # A whole file for one process: the other one has to find something to do beside it.
        marks.add("slow")
    turns = ({"spark"}, {"services", "journey"}, {"slow", "long"})
    return next((turn for turn, names in enumerate(turns) if marks & names), len(turns))


def pytest_collection_finish() -> None:
    """Set aside what is loaded now: it stays to the end, and the search for garbage need not walk through it again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have counted, passed or not: the laws' histories, and the faults with their seeds.

    Here and not beside those tests: of several processes it is the one that starts the others that prints.
    """
    properties: dict[str, list[object]] = {"laws": [], "faults": [], "fault seeds": []}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in report.user_properties:
                if report.when == "call" and name in properties:
                    properties[name].append(value)
    if properties["laws"]:
        terminalreporter.section("laws")
        for line in properties["laws"]:
            terminalreporter.write_line(str(line))
    if properties["faults"]:
        terminalreporter.section("faults")
        for row in (FAULTS, ("---",) * len(FAULTS), *properties["faults"]):
            assert isinstance(row, Iterable)
            terminalreporter.write_line(f"| {' | '.join(map(str, row))} |")
        for line in properties["fault seeds"]:
            terminalreporter.write_line(str(line))


@pytest.fixture(scope="session", autouse=True)
def no_waits_between_tries() -> Iterator[None]:
    """A step that is tried again is tried at once: a test that makes one fail need not wait for most of a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retries, "WAITS", tuple(0.0 for _ in retries.WAITS))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test that starts Spark has to say so: ``make check`` does without, and another process would have a session."""
    before = SparkContext._active_spark_context
    yield
    if before is None and SparkContext._active_spark_context is not None:
        assert item.get_closest_marker("spark"), (
            "this test starts Spark: let it use the fixture spark, so that one process has all such tests"
        )


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


@pytest.fixture
def digested(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The windows for which the whole feed's digest was worked out, in order; grows during the test."""
    windows: list[str] = []
    original = digest.feed_digest

    def counted(feed: Feed, window: str) -> str:
        windows.append(window)
        return original(feed, window)

    monkeypatch.setattr(digest, "feed_digest", counted)
    return windows
