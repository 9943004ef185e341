"""The laws say over how many histories they were tried."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what each law's test has counted, passed or not."""
    told = [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        for name, value in report.user_properties
        if name == "laws" and report.when == "call"
    ]
    if told:
        terminalreporter.section("laws")
        for line in told:
            terminalreporter.write_line(str(line))
