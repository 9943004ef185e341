"""Compaction: what history becomes, what comes too late for it, and that gold is the same before and after."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from assets import bases, compaction, explanation
from assets.lake import Lake
from orchestration import planning, rebuilding, verifying
from orchestration.explaining import told
from orchestration.resources import lake_of
from tests.assets.zoo import PETS, bring, change, drop, lay, names
from transforms.decisions import Decisions, Epoch
from transforms.errors import DecisionRefused
from transforms.feed import Feed, Retention, Table

HOUR = Retention(kept=timedelta(hours=1))
BORN = change("I", 10, after={"id": "1", "name": "Ada", "age": "3"})


def test_old_history_becomes_base_rows_and_gold_stays_as_it_is(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    early = drop(
        BORN,
        change("I", 11, after={"id": "2", "name": "Bo"}),
        change("D", 12, {"id": "2", "name": "Bo"}),
        change("I", 13, after={"id": "3", "name": "Cy", "age": "5"}),
    )
    lay(folder, "2025-11-20/03/a.json", early)
    lay(folder, "2025-11-20/05/b.json", drop(change("U", 20, {"id": "1"}, {"name": "Ava"})))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS}, retention=HOUR)
    bring(lake, feed)
    silver = lake.table("silver", "zoo")

    (would,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=True)
    assert (would.folded, would.kept, would.base) == (4, 1, 2)
    assert (would.idle, would.expired, would.tombstones) == (0, 1, 0)
    assert silver.read().count() == 5
    assert bases.drawn(lake, feed) == {}

    (done,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=False)
    assert replace(done, files_after=0) == replace(would, files_after=0)
    assert done.plan.held_back_by == ("retention: all windows since 2025-11-20T05 are kept",)
    assert [row["operation"] for row in silver.read().collect()] == ["update"]
    assert lake.table("gold", "zoo", "pets__tombstones").read().count() == 0
    assert names(lake, feed) == {1: "Ava", 3: "Cy"}

    # Again: nothing is left to do.
    (again,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=False)
    assert (again.plan.new, again.folded, again.base) == (None, 0, 2)

    # A repeat of what is compacted is a duplicate, an event that nobody knew comes too late, a new one counts.
    late = change("U", 12, {"id": "1"}, {"name": "Old"})
    renamed = change("U", 30, {"id": "3"}, {"name": "Cyd"})
    lay(folder, "2025-11-20/06/c.json", drop(BORN, late, renamed))
    made = bring(lake, feed)[1]
    assert made.violations["accounting_is_exact"] == 0
    assert made.violations["nothing_too_late"] == 1
    assert sum(book["duplicates"] for book in made.books) == 1
    assert names(lake, feed) == {1: "Ava", 3: "Cyd"}
    (refused,) = lake.table("quarantine", "zoo").read().collect()
    assert (refused["reason"], refused["line"]) == ("too_late", 2)
    assert bytes(refused["payload"]).decode() == late
    assert "compacted beyond its position 0/1/" in refused["detail"]

    story = told("gold.zoo.pets", PETS, ["3"], explanation.explain(lake, feed, PETS, "pets", ["3"]))
    assert "are compacted; they left this row: name = 'Cy'" in "\n".join(story)
    assert "name: 'Cy' -> 'Cyd'" in "\n".join(story)

    # A proof needs no base: it begins at the first event.
    assert verifying.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=5) == 0

    # The base keeps what nobody had declared, too.
    columns = {**PETS.columns, "age": "int"}
    older = Table("pets", PETS.key, columns, tuple(columns))
    bring(lake, replace(feed, tables={"pets": older}))
    rows = lake.table("gold", "zoo", "pets").read().select("id", "name", "age").collect()
    assert sorted(map(tuple, rows)) == [(1, "Ava", 3), (3, "Cyd", 5)]

    # An epoch among what is compacted needs a rebuild, which takes in what came too late, too.
    moved = replace(feed, decisions=Decisions(epochs=(Epoch("2025-11-20T03"),)))
    with pytest.raises(DecisionRefused, match=r"an epoch that begins there.*`weir rebuild zoo`"):
        bases.refuse_altered_past(lake, moved)
    assert rebuilding.rebuild_in(lake, feed) == 0
    assert bases.drawn(lake, feed) == {}
    assert lake.table("quarantine", "zoo").read().count() == 0
    assert sorted(row["window"][-2:] for row in silver.read().collect()) == [
        *("03", "03", "03", "03"),
        *("05", "06", "06", "06"),
    ]
    assert names(lake, feed) == {1: "Ava", 3: "Cyd"}
    assert planning.due(lake, feed).windows == []
