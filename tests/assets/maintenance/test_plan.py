"""How far a table may be compacted: what holds the watermark back, and what is reported when it was drawn too far."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable

from assets.control import progress
from assets.gold.plan import plan_of
from assets.maintenance import compaction, plan
from assets.maintenance.history_by_spark import HistoryBySpark
from assets.maintenance.history_in_process import HistoryInProcess
from assets.silver import checks
from assets.storage.lake import Lake, Layer
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.errors import GoldBehind
from transforms.feed.feed import Feed, Retention, Table

HOUR = Retention(kept=timedelta(hours=1))


@pytest.mark.parametrize("history", [HistoryBySpark, HistoryInProcess])
def test_no_watermark_passes_what_quarantine_may_yet_give_back(
    lake: Lake, folder: Path, history: type[HistoryBySpark] | type[HistoryInProcess]
) -> None:
    aged = {**PETS.columns, "age": "int"}
    table = Table("pets", PETS.key, aged, tuple(aged))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": table}, retention=HOUR)
    early = [
        change("I", at, after={"id": str(at), "name": "Ada", "age": "3"}) for at in (10, 11, 12)
    ]
    lay(folder, "2025-11-20/03/a.json", drop(*early))
    # It stands before what is old enough, and came after it.
    unfit = change("U", 11, {"id": "10"}, {"age": "old"})
    lay(folder, "2025-11-20/05/b.json", drop(unfit))
    bring(lake, feed)
    past = history.of(lake, plan_of(lake, feed, table, "pets", []))
    held = plan.planned(lake, past)
    assert held.new is not None
    assert held.new.log_position[-2:] == (10, 1)
    assert held.held_back_by[-1].startswith("an event in quarantine at position 0/1/7/11")
    dismissed = replace(feed, retention=replace(HOUR, dismissed=("2025-11-20T05",)))
    past = history.of(lake, plan_of(lake, dismissed, table, "pets", []))
    free = plan.planned(lake, past)
    assert free.new is not None
    assert free.new.log_position[-2:] == (12, 1)


def test_a_table_that_cannot_be_compacted_leaves_the_others_done(lake: Lake, folder: Path) -> None:
    keepers = replace(PETS, name="keepers")
    feed = Feed("zoo", "arcion_s3_json", str(folder), retention=HOUR)
    feed = replace(feed, tables={"keepers": keepers, "pets": PETS})
    for hour, at in ((3, 10), (5, 20)):
        some = [
            change("I", at, after={"id": str(at), "name": "Ada"}, table=one) for one in feed.tables
        ]
        lay(folder, f"2025-11-20/{hour:02}/a.json", drop(*some))
        bring(lake, feed)
    for at in (1, 2):
        progress.note_landed(lake, feed, [("2025-11-20T03", f"{at}.json", "1")])
    # Gold has not followed this declaration yet.
    aged = {**PETS.columns, "age": "int"}
    later = Table("keepers", PETS.key, aged, tuple(aged))
    done = []
    with pytest.raises(GoldBehind, match=r"gold\.zoo\.keepers"):
        for one in compaction.compact_feed(
            lake, feed, {"keepers": later, "pets": PETS}, dry_run=False
        ):
            done.append(one)
    assert [(one.table, one.folded) for one in done] == [("pets", 1)]
    assert len(DeltaTable(lake.path(Layer.LANDED, "zoo")).file_uris()) == 1


def test_a_wild_position_does_not_carry_the_watermark_away(lake: Lake, folder: Path) -> None:
    feed = Feed(
        "zoo",
        "arcion_s3_json",
        str(folder),
        tables={"pets": PETS},
        retention=Retention(timedelta(hours=2)),
    )
    early = [change("I", at, after={"id": str(at), "name": "Ada"}) for at in (10, 11)]
    wild = change("U", 2**62, {"id": "10"}, {"name": "Wild"}, minute=12)
    lay(folder, "2025-11-20/03/a.json", drop(*early, wild))
    for hour, at in ((5, 20), (6, 21)):
        lay(
            folder,
            f"2025-11-20/{hour:02}/b.json",
            drop(change("U", at, {"id": "11"}, {"name": "Eva"})),
        )
    bring(lake, feed)
    (done,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=False)
    assert done.plan.new is not None
    assert done.plan.new.log_position[-2:] == (11, 1)
    assert done.plan.held_back_by[-1] == (
        f"position 0/1/7/{2**62}/1 of an old window, which most windows since then have not reached (0/1/7/20/1):"
        " one of the two is wrong"
    )
    # What follows is in time, and counts.
    lay(folder, "2025-11-20/07/c.json", drop(change("U", 22, {"id": "11"}, {"name": "Eve"})))
    assert bring(lake, feed)[1].violations["nothing_too_late"] == 0
    assert names(lake, feed) == {10: "Wild", 11: "Eve"}


def test_a_table_that_most_events_come_too_late_for_ends_the_run_and_is_named(
    lake: Lake, folder: Path
) -> None:
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS}, retention=HOUR)
    # Nothing newer says that such a position is wrong.
    wild = change("I", 2**62, after={"id": "1", "name": "Wild"}, minute=1)
    lay(folder, "2025-11-20/03/a.json", drop(wild))
    lay(folder, "2025-11-20/05/others.json", drop(change("I", 9, table="others")))
    bring(lake, feed)
    (done,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=False)
    assert done.plan.new is not None

    def late(count: int) -> list[str]:
        return [
            change("I", at, after={"id": str(at), "name": "Eve"}) for at in range(20, 20 + count)
        ]

    def reported_late(window: str, *lines: str) -> tuple[int, str]:
        lay(folder, f"2025-11-20/{window}/c.json", drop(*lines))
        made = bring(lake, feed)[1]
        rule = "most_events_are_in_time"
        return made.violations[rule], checks.samples(lake, made.findings)[rule]

    # A few stragglers among what is in time.
    newer = change("I", 2**62 + 1, after={"id": "2", "name": "Bo"}, minute=2)
    assert reported_late("06", *late(10), newer) == (0, "")
    assert reported_late("07", *late(11), newer) == (11, "- `pets: 11 in window 2025-11-20T07`")
    # An event that is alone in its window may be a straggler, too; the second such window in a row is reported.
    assert reported_late("08", *late(1)) == (0, "")
    assert reported_late("09", *late(1)) == (1, "- `pets: 1 in window 2025-11-20T09`")
    assert reported_late("10", *late(2)) == (2, "- `pets: 2 in window 2025-11-20T10`")
    # More repeats than late events: old events were delivered again, some of them for the first time.
    assert reported_late("11", wild, wild, wild, *late(2)) == (0, "")
    assert reported_late("12", newer) == (0, "")
    assert reported_late("13", *late(1)) == (0, "")
