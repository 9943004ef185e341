"""The suite's table: each fault, how often it struck, and what it cost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from tests.services.seaweed import store

__all__ = ["store"]

HEAD = ("fault", "times", "lost events", "wrong rows")


@pytest.fixture
def tell(
    record_property: Callable[[str, object], None], spark: SparkSession
) -> Callable[..., None]:
    """Write down one line of the table."""

    def line(fault: str, times: int, lost: int, wrong: int) -> None:
        record_property("faults", (fault, times, lost, wrong))

    return line


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what each test has counted, passed or not, and from which seeds."""
    told = [
        (name, value)
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        for name, value in report.user_properties
        if report.when == "call" and name in ("faults", "fault seeds")
    ]
    if told:
        terminalreporter.section("faults")
        for row in (HEAD, ("---",) * len(HEAD), *(row for name, row in told if name == "faults")):
            terminalreporter.write_line(f"| {' | '.join(map(str, row))} |")
        for name, value in told:
            if name == "fault seeds":
                terminalreporter.write_line(str(value))
