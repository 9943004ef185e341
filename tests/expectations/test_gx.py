"""Great Expectations is imported from threads and in processes that have no main file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_threads_may_import_it_side_by_side_where_the_main_module_has_no_file(root: Path) -> None:
    """A command's first Spark jobs run while a thread imports it; an exit in a thread would go unseen.

    A run that Dagster's daemon launches has no main file, and pyspark would end it as a skipped doctest.
    """
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


def test_what_judges_built_in_rules_and_reads_feed_files_does_not_import_it(root: Path) -> None:
    """The import takes seconds, and most runs have no need of it."""
    script = (
        "import sys\n"
        "import orchestration.definitions, orchestration.cli.run, assets.quality.checks\n"
        "from orchestration.feeds.load import load_feeds\n"
        "from pathlib import Path\n"
        "load_feeds(Path('feeds'))\n"
        "print('great_expectations' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "False", done.stderr[-1000:]
