"""The DAG of docs/howto: Airflow loads it, and its task brings drops to gold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable

from bench.others import environments
from tests.journeys.commands import LONG, Done

pytestmark = pytest.mark.journey

FEED = """\
format: arcion_s3_json
landing: drops
tables: {region: {key: [r_regionkey], columns: {r_regionkey: int, r_name: string, r_comment: string}}}
"""
DROP = "document_realtime_3_delete/drop/2026-11-20/03/realtime_1.json"


@pytest.fixture(scope="module")
def airflow(root: Path) -> Path:
    try:
        python = environments.python("airflow", locks=root / "tests" / "others")
    except environments.NoEnvironment as fault:
        pytest.skip(f"Airflow cannot be installed here: {fault}")
    return python.with_name("airflow")


class Scheduler:
    """Airflow's own command, with a home of its own in which the DAG is."""

    def __init__(self, program: Path, root: Path, folder: Path) -> None:
        self.program, self.folder = program, folder
        (folder / "home" / "dags").mkdir(parents=True)
        shutil.copy(root / "docs/airflow_dag.py", folder / "home" / "dags")
        weir = folder / "weir"
        weir.write_text(
            f'#!/bin/sh\nPYTHONPATH={root} exec {sys.executable} -m orchestration.cli.main "$@"\n'
        )
        weir.chmod(0o755)
        self.environment = {
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "HOME": os.environ["HOME"],
            "AIRFLOW_HOME": f"{folder / 'home'}",
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "WEIR_PROGRAM": f"{weir}",
            "WEIR_FEEDS": f"{folder / 'feeds'}",
            "WEIR_WAREHOUSE": f"{folder / 'warehouse'}",
        }

    def __call__(self, *words: str) -> Done:
        done = subprocess.run(
            [self.program, *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)


def test_airflow_loads_the_dag_and_its_task_brings_drops_to_gold(
    airflow: Path, root: Path, tmp_path: Path
) -> None:
    scheduler = Scheduler(airflow, root, tmp_path)
    made = scheduler("db", "migrate")
    assert made.code == 0, made.err
    faults = scheduler("dags", "list-import-errors")
    assert "No data found" in faults.out, faults.out
    loaded = scheduler("dags", "reserialize")
    assert loaded.code == 0, loaded.err
    tasks = scheduler("tasks", "list", "weir")
    assert tasks.out.split()[-2:] == ["fresh", "run"], tasks.out + tasks.err

    (tmp_path / "feeds" / "drops" / "2026-11-20" / "03").mkdir(parents=True)
    (tmp_path / "feeds" / "hand.yaml").write_text(FEED)
    shutil.copy(
        root / "tests" / "cases" / "arcion_s3_json" / DROP,
        tmp_path / "feeds" / "drops" / "2026-11-20" / "03",
    )
    ran = scheduler("tasks", "test", "weir", "run", "2026-11-25")
    assert "new_state=success" in ran.out + ran.err, ran.out + ran.err
    gold = DeltaTable(tmp_path / "warehouse" / "gold" / "hand" / "region").to_pyarrow_table()
    assert gold.num_rows == 1


def test_a_feed_file_that_is_wrong_fails_the_task(
    airflow: Path, root: Path, tmp_path: Path
) -> None:
    scheduler = Scheduler(airflow, root, tmp_path)
    assert scheduler("db", "migrate").code == 0
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "hand.yaml").write_text("format: nothing\nlanding: drops\n")
    ran = scheduler("tasks", "test", "weir", "run", "2026-11-25")
    assert "is not a format" in ran.out + ran.err
    # Airflow's command ends with 0 all the same.
    assert "Command exited with return code 2" in ran.out + ran.err
