"""What a person decides: epochs, which give a log that was reset its position in the order, and truncates that wait."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assets.audit.status import status_of
from assets.control import decisions, progress
from assets.control.decisions import Signature
from assets.maintenance import compaction, repair
from assets.picked_ids import PickedIds
from assets.quarantine.records import quarantine_of
from assets.quarantine.words import record_line
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.cli import quarantine as listing
from orchestration.cli import rebuild, release, status, verify
from orchestration.cli.status import as_json
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.laws.drawn import model_format
from tests.laws.drawn.model_histories import to_record
from tests.laws.oracle.event import Event
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.errors import DecisionRefused, RebuildStopped
from transforms.feed.decisions import Epoch, Release
from transforms.feed.feed import CheckSetting, Feed, Retention

NOW = datetime(2025, 11, 21, tzinfo=UTC)
MINUTE_5 = datetime.fromtimestamp(1_763_600_000 + 5 * 60, UTC)


def test_a_log_that_was_reset_has_its_place_once_an_epoch_is_opened(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    born = change("I", 900, after={"id": "1", "name": "Ada"}, log=7, minute=1)
    renamed = change("U", 910, {"id": "1"}, {"name": "Ava"}, log=7, minute=2)
    lay(folder, "2025-11-20/03/a.json", drop(born, renamed))
    full_rebuild = change("U", 4, {"id": "1"}, {"name": "Zoe"}, log=1, minute=9)
    lay(folder, "2025-11-20/04/b.json", drop(full_rebuild, renamed))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed, ["2025-11-20T03"])
    assert bring(lake, feed)[1].violations["position_rises_with_source_time"] == 1
    assert names(lake, feed) == {1: "Ava"}
    # A rebuild does not get past the check either; then every window is due, and gold stays as it was.
    with pytest.raises(RebuildStopped, match=r"log file 7 ends at .*`weir epoch open zoo --window"):
        rebuild.rebuild_in(lake, feed)
    assert names(lake, feed) == {1: "Ava"}
    assert planning.due(lake, feed).windows == ["2025-11-20T03", "2025-11-20T04"]

    epoch = Epoch("2025-11-20T04", time=MINUTE_5)
    decisions.open_epoch(lake, feed, epoch, NOW, "the server was replaced")
    assert bring(lake, feed)[1].violations["position_rises_with_source_time"] == 0
    assert names(lake, feed) == {1: "Zoe"}

    late = change("U", 905, {"id": "1"}, {"name": "Old"}, log=7, minute=1)
    lay(folder, "2025-11-20/05/c.json", drop(late))
    bring(lake, feed)
    assert names(lake, feed) == {1: "Zoe"}
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=3) == 0

    # The decision counts once, whoever asks for it: a rebuild and a compaction see what the runs saw.
    known = decisions.with_recorded(lake, feed)
    assert decisions.with_recorded(lake, known) == known
    assert rebuild.rebuild_in(lake, feed) == 0
    assert names(lake, feed) == {1: "Zoe"}
    assert planning.due(lake, feed).windows == []
    brief = replace(feed, retention=Retention(timedelta(hours=1)))
    (done,) = compaction.compact_feed(lake, brief, {"pets": PETS}, dry_run=False)
    assert done.folded == 5
    assert names(lake, feed) == {1: "Zoe"}


def test_a_rebuild_is_stopped_by_the_checks_that_block_by_the_feed_file(
    lake: Lake, folder: Path
) -> None:
    born = change("I", 900, after={"id": "1", "name": "Ada"}, log=7, minute=1)
    fallen = change("U", 4, {"id": "1"}, {"name": "Zoe"}, log=1, minute=9)
    lay(folder, "2025-11-20/03/a.json", drop(born, born))
    lay(folder, "2025-11-20/04/b.json", drop(fallen))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed)
    falls, twice = "position_rises_with_source_time", "no_event_twice"

    def is_stopped(**settings: CheckSetting) -> bool:
        try:
            return rebuild.rebuild_in(lake, replace(feed, checks=settings)) != 0
        except RebuildStopped:
            return True

    assert is_stopped()
    assert not is_stopped(**{falls: CheckSetting(severity="warn")})
    assert not is_stopped(**{falls: CheckSetting(at_most=1)})
    assert is_stopped(
        **{falls: CheckSetting(severity="off"), twice: CheckSetting(severity="block")}
    )


def test_a_complete_snapshot_ends_what_it_does_not_name(lake: Lake, folder: Path) -> None:
    lay(
        folder,
        "2025-11-20/03/pets/a.json",
        drop('{"id": "1", "name": "Ada"}', '{"id": "2", "name": "Bo"}'),
    )
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed)
    lay(folder, "2025-11-20/04/pets/b.json", drop('{"id": "2", "name": "Bob"}'))
    bring(lake, feed)
    decisions.open_epoch(lake, feed, Epoch("2025-11-20T04", table="pets", complete=True), NOW, None)
    bring(lake, feed)
    assert names(lake, feed) == {2: "Bob"}
    # What an older epoch had does not come back, however late it is delivered.
    lay(folder, "2025-11-20/03/pets/z.json", drop('{"id": "3", "name": "Cleo"}'))
    bring(lake, feed)
    assert names(lake, feed) == {2: "Bob"}


def test_a_held_truncate_waits_until_it_is_released(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_format.register(monkeypatch)
    events = [
        Event(
            "model", "pets", "insert", (0, 1, 1), None, {}, {"id": "1", "name": "Ada"}, "replace"
        ),
        Event("model", "pets", "truncate", (0, 1, 2), None, {}, {}, "remove", scope={}),
        Event("model", "pets", "insert", (0, 1, 3), None, {}, {"id": "2", "name": "Bo"}, "replace"),
    ]
    lines = "".join(json.dumps(to_record(event)) + "\n" for event in events)
    lay(folder, "2025-11-20/03/a.jsonl", lines.encode())
    feed = Feed("zoo", "model", str(folder), tables={"pets": PETS}, range_deletes="hold")
    made = bring(lake, feed)[1]
    assert made.violations["nothing_held"] == 1
    assert made.violations["accounting_is_exact"] == 0
    assert names(lake, feed) == {1: "Ada", 2: "Bo"}

    (waiting,) = release.held(lake, feed)
    assert (waiting.operation, waiting.table, waiting.source_location) == (
        "truncate", "pets", "2025-11-20/03/a.jsonl line 2",
    )  # fmt: skip
    other = replace(waiting, event_id="f00", table="food")
    apart = replace(other, event_id="f01", source_location="2025-11-20/03/a.jsonl line 9")
    # What one record asks for is let through together.
    assert release.of_same_records([waiting, other, apart], [other]) == [waiting, other]
    decisions.release(lake, feed, Release(waiting.event_id, waiting.windows), NOW, None)
    # Released during a run that had started before the decision: the window stays due.
    progress.finish(lake, feed, ["2025-11-20T03"])
    assert planning.due(lake, feed).windows == ["2025-11-20T03"]
    made = bring(lake, feed)[1]
    assert made.violations["nothing_held"] == 0
    assert names(lake, feed) == {2: "Bo"}
    assert release.held(lake, feed) == []


def given_up(lake: Lake, feed: Feed, picked: PickedIds, signature: Signature) -> list[str]:
    return repair.dismiss_records(lake, feed, quarantine_of(lake, feed).picked(picked), signature)


def test_dismissed_records_of_the_quarantine_hold_nothing_up(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    early = change("I", 10, after={"id": "1", "name": "Ada"})
    unfit = change("U", 11, {"id": "1"}, {"id": "one", "name": "Ada"})
    lay(folder, "2025-11-20/03/a.json", drop(early, unfit, '{"cut": '))
    lay(folder, "2025-11-20/05/b.json", drop(change("U", 20, {"id": "1"}, {"name": "Ava"})))
    brief = Retention(timedelta(hours=1))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS}, retention=brief)
    assert bring(lake, feed)[1].violations["nothing_quarantined"] == 2
    (held,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=True)
    assert held.plan.new is None
    held_back = str(held.plan.held_back_by)
    assert (
        "2 events in quarantine; repair the records (`weir quarantine list zoo`), dismiss them"
        " (`weir quarantine dismiss zoo`)" in held_back
    )

    unfit_record, cut = quarantine_of(lake, feed).open
    assert unfit_record.where == "2025-11-20/03/a.json line 2"
    assert unfit_record.detail.startswith("id is one, which is no int")
    assert cut.where == "2025-11-20/03/a.json line 3"
    typo, torn = Signature(NOW, "ann", "typo"), Signature(NOW, "bob", "torn by the disk")
    with pytest.raises(DecisionRefused, match="no record of quarantine has an id that begins"):
        given_up(lake, feed, PickedIds(["zz"]), typo)
    with pytest.raises(DecisionRefused, match="say which records"):
        given_up(lake, feed, PickedIds(), typo)
    said, _ = given_up(lake, feed, PickedIds([unfit_record.id[:12]]), typo)
    assert said == f"zoo: dismissed: {record_line(unfit_record)}"
    # No window is due for it; what is left counts still.
    assert planning.due(lake, feed).windows == []
    quarantine = quarantine_of(lake, feed)
    assert [*quarantine.open] == [cut]
    assert as_json(feed, status_of(lake, feed))["open_records"] == 1
    lines = [*listing.listed(quarantine, quarantine.records, "all")]
    assert "      dismissed; decided 2025-11-21 00:00 UTC by ann: typo" in lines
    assert derive.derive(lake, feed, ["2025-11-20T03"]).violations["nothing_quarantined"] == 1
    given_up(lake, feed, PickedIds((), everything=True), torn)
    made = derive.derive(lake, feed, ["2025-11-20T03"])
    assert (made.violations["nothing_quarantined"], made.violations["accounting_is_exact"]) == (
        0,
        0,
    )
    state = status_of(lake, feed)
    assert state is not None
    assert state.open_records == 0
    lines = [*status.status_lines(feed, state)]
    assert "  quarantine: damaged_record 1, value_does_not_fit 1; of these dismissed 2" in lines
    assert not any("to be decided" in line for line in lines)
    rows = lake.table(Layer.DECISIONS, "zoo").read().select("kind", "reason", "decided_by")
    assert {tuple(row) for row in rows.collect()} == {
        ("dismissal", "typo", "ann"),
        ("dismissal", "torn by the disk", "bob"),
    }

    (done,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=False)
    assert done.folded == 1
    assert names(lake, feed) == {1: "Ava"}
    # Gold is what it would be without the decision: a record that can be taken later counts like any other.
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=3) == 0
