"""A DAG for Airflow 3 that runs Weir once an hour, and compacts once a night: copy it into your DAGs folder.

It calls the command line, so that Weir keeps an environment of its own and Airflow needs none of its packages. Weir
itself knows what is due: a run takes up all that is new and all that an earlier run did not finish, so that a run that
Airflow missed, or repeats, does no harm, and no backfill by Airflow is needed.
"""

from __future__ import annotations

import os
from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

WEIR = os.environ.get("WEIR_PROGRAM", "/srv/weir/.venv/bin/weir")
"""The command line, in its own environment."""

PLACE = {
    "WEIR_FEEDS": os.environ.get("WEIR_FEEDS", "/srv/lakehouse/feeds"),
    "WEIR_WAREHOUSE": os.environ.get("WEIR_WAREHOUSE", "/srv/lakehouse/warehouse"),
}

# One run at a time: there is one writer per table. 1 (a step or a check failed) and 2 (a feed file is wrong, a landing
# cannot be read) fail the task; what the command says stands in the task's log.
with DAG(
    "weir",
    description="Brings what has landed to gold.",
    schedule="7 * * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=5)},
):
    run = BashOperator(
        task_id="run",
        bash_command=f"{WEIR} run",
        env=PLACE,
        append_env=True,
    )
    fresh = BashOperator(
        task_id="fresh",
        # Fails where a feed's newest window in gold ended longer ago than that.
        bash_command=f"{WEIR} status --max-age 26",
        env=PLACE,
        append_env=True,
    )
    run >> fresh

with DAG(
    "weir_compaction",
    description="Folds history that is older than its feed's retention.",
    schedule="37 3 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
):
    BashOperator(task_id="compact", bash_command=f"{WEIR} compact", env=PLACE, append_env=True)
