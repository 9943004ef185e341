"""The views of a cut that ``weir cut --views duckdb`` prints, made by DuckDB itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from assets.cuts.views import view_lines
from assets.executors.choice import IN_PROCESS
from bench.others import environments
from orchestration.resources import lake_of
from tests.orchestration.cli.test_cut import MOVED, OPENED, bring, in_part, send
from tests.support.bank_log import Topics, feed_of

OTHERS = Path(__file__).resolve().parents[2] / "others"


def test_duckdb_reads_its_views(tmp_path: Path) -> None:
    try:
        python = environments.python("dbt", locks=OTHERS)
    except environments.NoEnvironment as fault:
        pytest.skip(f"DuckDB's extension for Delta cannot be installed here: {fault}")
    lake, feed = lake_of(str(tmp_path / "it's a warehouse")).by(IN_PROCESS), feed_of()
    topics = Topics()
    send(topics, OPENED, MOVED)
    statements = [*view_lines(lake, feed, bring(lake, feed, topics), "duckdb")]
    # Gold is further by now.
    in_part(lake, feed, topics)
    done = subprocess.run(
        [python, OTHERS / "read_views_by_duckdb.py"],
        input="\n".join(statements),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == [[1, 50], [1, 50]]
