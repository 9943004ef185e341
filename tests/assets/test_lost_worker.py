"""A Python worker that dies in the middle of its task: nothing is half-written, and the next run reads all."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from assets.bronze import from_objects
from assets.executors.choice import SPARK
from assets.storage.lake import Lake, Layer
from transforms.errors import WorkerLost
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.record import DEFAULT_LIMITS, Limits, Record
from transforms.records import json_documents
from transforms.source_format import SourceFormat

WINDOW = "2026-11-20T03"
RECORDS = 100_000
"""More than one batch: some were on their way when the worker died."""


def test_a_worker_killed_in_mid_batch_loses_and_doubles_nothing(
    lake: Lake, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    was_killed = tmp_path / "killed"

    def deadly(
        data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[Record]:
        for record in json_documents.split(data, limits):
            if record.line == RECORDS * 9 // 10 and not was_killed.exists():
                was_killed.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield record

    given = Feed("shop", "arcion_s3_json", str(folder))
    once = replace(FORMATS[given.format], split=deadly)
    monkeypatch.setitem(cast("dict[str, SourceFormat]", FORMATS), given.format, once)
    place = folder / "2026-11-20" / "03"
    place.mkdir(parents=True)
    (place / "a.json").write_bytes(b"".join(b'{"a":%d}\n' % n for n in range(RECORDS)))
    (place / "b.json").write_bytes(b'{"b":1}\n')

    # On one machine Spark tries a task once.
    with pytest.raises(WorkerLost, match="Nothing is half-written: run again"):
        from_objects.land(lake.by(SPARK), given, [WINDOW])
    table = lake.table(Layer.BRONZE, "shop")
    assert was_killed.exists()
    assert not table.exists()

    from_objects.land(lake.by(SPARK), given, [WINDOW])
    (counts,) = (
        table.read()
        .selectExpr(
            "count(*) AS rows", "count(DISTINCT object, line) AS places", "count(defect) AS d"
        )
        .collect()
    )
    assert tuple(counts) == (RECORDS + 1, RECORDS + 1, 0)
