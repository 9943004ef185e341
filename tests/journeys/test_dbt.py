"""dbt over the demo's gold, by the sources that ``weir dbt-sources`` prints: with DuckDB's extension for Delta."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.others import environments
from tests.journeys.commands import LONG
from tests.journeys.pages import Step, carried_out

pytestmark = pytest.mark.journey

PROJECT = """\
name: over_gold
version: "1.0.0"
profile: over_gold
flags: {send_anonymous_usage_stats: false}
"""
PROFILE = """\
over_gold:
  target: here
  outputs: {here: {type: duckdb, path: ":memory:", extensions: [delta]}}
"""
MODEL = """\
{{ config(materialized='external', location='cities.parquet') }}
select city, count(*) as customers from {{ source('shop', 'customers') }} where city is not null group by city
"""
FIND = """
import duckdb, duckdb_extension_delta
print(next(iter(duckdb_extension_delta.__path__)), duckdb.__version__)
print(duckdb.sql("PRAGMA platform").fetchone()[0])
"""


@pytest.fixture(scope="module")
def dbt(root: Path) -> Path:
    try:
        return environments.python("dbt", locks=root / "tests" / "others").with_name("dbt")
    except environments.NoEnvironment as fault:
        pytest.skip(f"dbt cannot be installed here: {fault}")


def test_dbt_builds_on_gold_and_knows_how_fresh_it_is(
    dbt: Path, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "landing").mkdir()
    (tmp_path / "feeds").mkdir()
    (tmp_path / "landing" / "shop").symlink_to(root / "demo" / "shop")
    shutil.copy(root / "feeds" / "shop.yaml", tmp_path / "feeds")
    project = tmp_path / "dbt"
    (project / "models").mkdir(parents=True)
    carried_out(tmp_path, [Step("weir run\nweir dbt-sources > dbt/models/sources.yml\n")], {})
    (project / "dbt_project.yml").write_text(PROJECT)
    (project / "profiles.yml").write_text(PROFILE)
    (project / "models" / "cities.sql").write_text(MODEL)
    environment = {"PATH": os.environ["PATH"], "HOME": f"{tmp_path}", "TZ": "UTC"}
    put_extension(dbt.with_name("python"), tmp_path)

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [dbt, "--no-use-colors", *words],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )

    # A key that a later release of dbt will not know would be a warning here.
    parsed = ran("--warn-error", "parse", "--no-version-check")
    assert parsed.returncode == 0, parsed.stdout
    built = ran("build")
    assert built.returncode == 0, built.stdout
    assert "Done. PASS=5 WARN=0 ERROR=0" in built.stdout
    ran("source", "freshness")
    results = json.loads((project / "target" / "sources.json").read_text())["results"]
    # The demo's drops are of a day long ago.
    newest = {one["unique_id"].split(".")[-1]: one["max_loaded_at"] for one in results}
    assert {one["status"] for one in results} == {"error"}
    assert newest["orders"].startswith("2025-11-20T01:05:00")


def put_extension(python: Path, home: Path) -> None:
    """Lay DuckDB's extension where DuckDB looks for those that are installed."""
    found = subprocess.run([python, "-c", FIND], capture_output=True, text=True, check=True)
    folder, version, platform = found.stdout.split()
    (extension,) = Path(folder).rglob("delta.duckdb_extension")
    place = home / ".duckdb" / "extensions" / f"v{version}" / platform
    place.mkdir(parents=True)
    shutil.copy(extension, place)
