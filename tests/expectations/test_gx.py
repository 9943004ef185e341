"""Great Expectations' results over counted violations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from expectations import gx, silver

# Great Expectations and what it imports use names that Python is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_a_rule_passes_without_violations_and_fails_with_one() -> None:
    counted = {rule.name: 0 for rule in silver.COMMON} | {"no_event_twice": 1}
    results = {result.rule.name: result for result in gx.judge("suite", silver.COMMON, counted)}
    assert [name for name, result in results.items() if not result.passed] == ["no_event_twice"]
    assert results["no_event_twice"].violations == 1


def test_a_rule_that_was_not_counted_is_no_pass() -> None:
    with pytest.raises(KeyError, match="accounting_is_exact"):
        gx.judge("suite", silver.COMMON, {})


def test_threads_may_import_it_side_by_side_where_the_main_module_has_no_file(root: Path) -> None:
    """A command's first Spark jobs run while a thread imports it; an exit in a thread would go unseen."""
    script = (
        "from threading import Thread\n"
        "from expectations import gx\n"
        "got = []\n"
        "threads = [Thread(target=lambda: got.append(gx.import_gx().__name__)) for _ in range(3)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join() for thread in threads]\n"
        "print(*got)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["great_expectations"] * 3, done.stderr[-1000:]


def test_it_judges_in_a_process_whose_main_module_has_no_file(root: Path) -> None:
    """A run that Dagster's daemon launches is such a process; pyspark would end it as a skipped doctest."""
    script = (
        "from expectations import gx, silver\n"
        "print(len(gx.judge('suite', silver.COMMON, {rule.name: 0 for rule in silver.COMMON})))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == str(len(silver.COMMON)), done.stderr[-1000:]
