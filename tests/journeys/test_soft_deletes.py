"""A feed file with `deletes: mark`, from its drops to gold and on to compaction, by the commands of a person."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.commands import LONG, Done, inherited
from tests.journeys.forked_weir import folder_of_weir
from tests.support.pet_feed import change, drop, lay

pytestmark = pytest.mark.journey

FEED = """\
format: arcion_s3_json
landing: ../drops
deletes: mark
compaction: {retention: 1h}
tables: {pets: {key: [id], columns: {id: int, name: string}}}
"""
DAY = "2025-11-20"
WHOLE = "SELECT id, name, _weir_is_deleted AS gone, _weir_deleted_at AS at FROM gold.zoo.pets ORDER BY id"


@pytest.fixture(params=["in-process", "spark"])
def asked(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Done]:
    """A command in the folder of the feed, whose work one executor does."""
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "zoo.yaml").write_text(FEED)

    def ask(*words: str) -> Done:
        done = subprocess.run(
            [str(folder_of_weir() / "weir"), *words],
            cwd=tmp_path,
            env={**inherited(), "WEIR_EXECUTOR": request.param},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return ask


def rows(done: Done) -> Sequence[dict[str, Any]]:
    """The rows that a query printed."""
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_deleted_rows_stay_until_nobody_needs_them(
    asked: Callable[..., Done], tmp_path: Path
) -> None:
    lay(
        tmp_path / "drops",
        "2025-11-20/03/a.json",
        drop(
            *(
                change("I", 1, after={"id": f"{id}", "name": name})
                for id, name in ((1, "Ada"), (2, "Bo"))
            ),
            change("D", 9, {"id": "1", "name": "Ada"}),
            # Of this key nothing else has come.
            change("D", 9, {"id": "3", "name": "Cy"}),
        ),
    )
    ran = asked("run")
    assert ran.code == 0, ran.out + ran.err
    assert [
        (row["id"], row["name"], row["gone"], row["at"] and row["at"][:10])
        for row in rows(asked("query", WHOLE, "--format", "jsonl"))
    ] == [(1, "Ada", True, DAY), (2, "Bo", False, None), (3, None, True, DAY)]

    # A change from before the delete comes late, and a deleted key comes again.
    late = change("U", 5, {"id": "1"}, {"name": "Ava"})
    again = change("I", 20, after={"id": "3", "name": "Cy"})
    lay(tmp_path / "drops", "2025-11-20/05/b.json", drop(late, again))
    newest = change("U", 40, {"id": "2"}, {"name": "Bob"})
    lay(tmp_path / "drops", "2025-11-20/07/c.json", drop(newest))
    assert asked("run").code == 0
    live = "SELECT id, name FROM gold.zoo.pets WHERE NOT _weir_is_deleted ORDER BY id"
    marked = "SELECT id, name FROM gold.zoo.pets WHERE _weir_is_deleted"
    assert rows(asked("query", live, "--format", "jsonl")) == [
        {"id": 2, "name": "Bob"},
        {"id": 3, "name": "Cy"},
    ]
    assert rows(asked("query", marked, "--format", "jsonl")) == [{"id": 1, "name": "Ava"}]
    every = rows(asked("query", "SELECT * FROM gold.zoo.pets", "--format", "jsonl"))
    assert {
        row["id"]: (row["_weir_is_deleted"], row["_weir_deleted_at"] is None) for row in every
    } == {
        **{1: (True, False), 2: (False, True)},
        3: (False, True),
    }
    assert "pets: 2 rows, 1 marked as deleted, 0 tombstones" in asked("status", "--details").out
    explained = asked("explain", "zoo", "pets", "1").out
    assert "the row is marked as deleted" in explained
    assert "So gold has this row, marked as deleted: name = 'Ava'" in explained
    assert asked("verify", "zoo").code == 0

    # Of the first windows only base rows are left, and these have the mark, too.
    compacted = asked("compact")
    assert compacted.code == 0, compacted.out + compacted.err
    assert "folded into 3 base rows" in compacted.out
    assert [(row["id"], row["name"], row["gone"]) for row in rows(asked("query", WHOLE, "--format", "jsonl"))] == [
        (1, "Ava", True), (2, "Bob", False), (3, "Cy", False),
    ]  # fmt: skip
