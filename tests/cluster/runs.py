"""A feed of many events, brought to gold by ``weir run`` here or on a cluster, and what gold then holds."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from assets.storage import delta_rs
from bench.made import drops, row
from bench.made.changes import drawn
from tests.services.seaweed import Store

FEED: Final = "big"
TABLE: Final = "item"
LONGEST: Final = 7200
"""Seconds after which a run is given up."""


def lay_feed(folder: Path, store: Store, events: int) -> None:
    """Make the feed file in ``folder``, and put drops of so many events into a bucket, in one window."""
    columns = ", ".join(f'{name}: "{kind}"' for name, kind in row.COLUMNS.items())
    (folder / "feeds").mkdir()
    (folder / "feeds" / f"{FEED}.yaml").write_text(
        "format: arcion_s3_json\nlanding: s3://big-drops/\nstart: 2025-11-20T00\n"
        f"tables:\n  {TABLE}: {{key: [id], columns: {{{columns}}}}}\n"
    )
    landing = folder / "landing"
    drops.lay(landing, TABLE, drawn(rows=max(1, events // 4), count=events, seed=1))
    store.put("big-drops", {})
    client = store.client()
    for path in sorted(landing.rglob("*.json")):
        client.upload_file(str(path), "big-drops", str(path.relative_to(landing)))
        path.unlink()


@dataclass(frozen=True, slots=True)
class Run:
    """``weir run`` as a process: its log, and when it began."""

    process: subprocess.Popen[bytes]
    log: Path
    began: float

    @property
    def said(self) -> str:
        """All that it has printed so far."""
        return self.log.read_text(errors="replace")

    def end(self) -> float:
        """Wait until it is over; it has to end well. Returns its seconds."""
        code = self.process.wait(timeout=LONGEST)
        assert code == 0, self.said
        return time.monotonic() - self.began


def start(
    folder: Path, name: str, warehouse: str, environment: Mapping[str, str], *words: str
) -> Run:
    """Start a run of the feed into this warehouse, or the command ``words``; it prints into ``<name>.log``."""
    log = folder / f"{name}.log"
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYSPARK_")}
    given = {"WEIR_FEEDS": str(folder / "feeds"), "WEIR_WAREHOUSE": warehouse, "DAGSTER_HOME": ""}
    began = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "orchestration.cli.main", *(words or ("run", "--feed", FEED))],
            env={**own, **given, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    return Run(process, log, began)


def opened(warehouse: str, table: str, environment: Mapping[str, str]) -> DeltaTable:
    """A gold table, ``<feed>/<table>``, of a warehouse in a folder or in a store."""
    place = warehouse.replace("s3://", "s3a://", 1)
    options = {
        **delta_rs.options(place, environment),
        "aws_access_key_id": environment["AWS_ACCESS_KEY_ID"],
        "aws_secret_access_key": environment["AWS_SECRET_ACCESS_KEY"],
    }
    return DeltaTable(f"{warehouse}/gold/{table}", storage_options=options)


def rows_of(table: DeltaTable) -> list[str]:
    """All rows of a small table as text, in an order of their own."""
    rows = pa.table(QueryBuilder().register("rows", table).execute("SELECT * FROM rows").read_all())
    return sorted(repr(sorted(row.items())) for row in rows.to_pylist())


def gold(warehouse: str, environment: Mapping[str, str]) -> tuple[int, str]:
    """How many rows the gold table has, and a digest of all of them in the order of their keys."""
    table = opened(warehouse, f"{FEED}/{TABLE}", environment)
    rows = QueryBuilder().register("item", table).execute("SELECT * FROM item ORDER BY id")
    found = pa.table(rows.read_all())
    found = found.select(sorted(found.column_names)).combine_chunks()
    sink = hashlib.sha256()
    # A file's rows are compared by what is in them: how they are cut into batches is the writer's affair.
    for batch in found.to_batches(max_chunksize=50_000):
        sink.update(repr(pa.RecordBatch.to_pylist(batch)).encode())
    return found.num_rows, sink.hexdigest()
