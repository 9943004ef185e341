"""An erased person is nowhere in the warehouse, comes back with nothing old, and may come back with something new."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assets.bronze.checks import operation_gaps
from assets.control import decisions, discovered_tables
from assets.erasure import record
from assets.erasure.erase import erase, erase_again, finish_interrupted
from assets.erasure.search import KeyToErase
from assets.maintenance import compaction
from assets.maintenance import repair as repairing
from assets.maintenance.repair import Repaired
from assets.quarantine.records import quarantine_of
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from orchestration.cli import rebuild, verify
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.assets.erasure.warehouse_bytes import layers_with
from tests.support.bringing import run
from tests.support.pet_feed import bring, change, drop, lay
from transforms.errors import DecisionRefused, ErasureNotFinished, ErasureRefused, SharedRecordsStay
from transforms.feed.feed import CheckSetting, Feed, Retention, Table
from transforms.feed.masks import MaskKey

PEOPLE = Table(
    "people",
    ("id",),
    {"id": "string", "name": "string", "age": "int"},
    ("id", "name", "age"),
    history=True,
)
KEY, NAME, OLDER, UNFIT = "pk-7731-zeta", "Quillfeather", "Quillmarsh", "ninety-and-eleven"
PLANTED = (KEY, NAME, OLDER, UNFIT)
WINDOWS = ["2025-11-20T03", "2025-11-20T04", "2025-11-20T05"]
SECRET = MaskKey("a secret of the tests' own")


def person(op: str, at: int, key: str, *names: str, age: str = "30") -> str:
    """A change of a person: an insert with one name, an update from one to another, a delete with one."""
    images = [{"id": key, "name": name, "age": age} for name in names]
    before = images[0] if op in ("U", "D") else None
    after = images[-1] if op in ("I", "U") else None
    return change(op, at, before, after, table="people")


def a_feed(folder: Path) -> Feed:
    return Feed("zoo", "arcion_s3_json", str(folder), tables={"people": PEOPLE}, erasure_key=SECRET)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setenv("WEIR_EXECUTOR", "in-process")
    monkeypatch.setattr(Lake, "spark", property(lambda _: pytest.fail("Spark was asked")))
    return lake_of(str(tmp_path / "warehouse"))


def lay_all(folder: Path, *, with_her: bool = True) -> None:
    """Three windows of people; one is to be erased: she changes, is deleted, comes again, and once does not fit."""

    def kept(*records: tuple[str, str]) -> bytes:
        return drop(*(text for whose, text in records if with_her or whose != "hers"))

    lay(
        folder,
        "2025-11-20/03/a.json",
        kept(
            ("", person("I", 10, "pk-1", "Ada")),
            ("hers", person("I", 11, KEY, OLDER)),
            ("", person("I", 12, "pk-9", "Bea")),
        ),
    )
    lay(
        folder,
        "2025-11-20/04/b.json",
        kept(
            ("hers", person("U", 20, KEY, OLDER, NAME)),
            ("hers", person("D", 21, KEY, NAME)),
            ("", person("U", 22, "pk-1", "Ada", "Adele")),
        ),
    )
    lay(
        folder,
        "2025-11-20/05/c.json",
        kept(
            ("hers", person("I", 30, KEY, NAME)),
            ("hers", person("U", 31, KEY, NAME, NAME, age=UNFIT)),
            ("", person("D", 32, "pk-9", "Bea")),
        ),
    )


def brought(lake: Lake, feed: Feed) -> None:
    """All windows, one after the other, so that tables have older versions and tombstones."""
    for window in WINDOWS:
        bring(lake, feed, [window])


def gold(lake: Lake, feed: Feed, name: str = "people") -> list[dict[str, object]]:
    rows = lake.in_process_table(Layer.GOLD, feed.name, name).rows()
    return sorted(rows, key=str)


def erased(lake: Lake, feed: Feed) -> record.Progress:
    table = feed.tables["people"]
    return erase(lake, feed, KeyToErase(table, "people", (KEY,)), ("ann", "she asked for it"))


def names_of(lake: Lake, feed: Feed) -> dict[object, object]:
    return {row["id"]: row["name"] for row in gold(lake, feed)}


def violations(lake: Lake, feed: Feed, *windows: str) -> dict[str, int]:
    """What a run of these windows, or of those that are due, finds."""
    made = bring(lake, feed, windows or None)[1]
    return {name: count for name, count in made.violations.items() if count}


def test_nothing_of_an_erased_person_is_left_in_any_byte(lake: Lake, folder: Path) -> None:
    feed, warehouse = a_feed(folder), Path(lake.warehouse)
    lay_all(folder)
    brought(lake, feed)
    before = layers_with(warehouse, PLANTED)
    everywhere = {KEY, NAME, OLDER}
    assert before == {
        **{"bronze": {*PLANTED}, "silver": everywhere, "gold": everywhere},
        "quarantine": {KEY, NAME, UNFIT},
    }
    done = erased(lake, feed)
    assert done.finished_at is not None
    assert layers_with(warehouse, PLANTED) == {}
    assert names_of(lake, feed) == {"pk-1": "Adele"}
    for name in ("people__tombstones", "people__history"):
        assert {row["id"] for row in gold(lake, feed, name)} <= {"pk-1", "pk-9"}
    rows = {one.table: one.rows for one in done.steps.values() if one is not None}
    assert rows["bronze.zoo"] == 5
    assert (rows["silver.zoo"], rows["quarantine.zoo"]) == (4, 1)
    assert (rows["gold.zoo.people"], rows["gold.zoo.people__history"]) == (1, 3)


def test_a_row_that_stays_behind_its_delete_goes_too(lake: Lake, folder: Path) -> None:
    marking = replace(PEOPLE, deletes="mark")
    feed = replace(a_feed(folder), tables={"people": marking})
    lay_all(folder)
    # She is deleted in the second window, and not yet inserted again.
    bring(lake, feed, WINDOWS[:2])
    assert {row["id"]: row["_weir_is_deleted"] for row in gold(lake, feed)}[KEY]
    assert erased(lake, feed).finished_at is not None
    assert layers_with(Path(lake.warehouse), PLANTED) == {}
    assert names_of(lake, feed) == {"pk-1": "Adele", "pk-9": "Bea"}


def test_a_marked_row_whose_history_is_compacted_goes_too_and_does_not_come_back(
    lake: Lake, folder: Path
) -> None:
    marking = replace(PEOPLE, deletes="mark")
    kept = Retention(timedelta(hours=1))
    feed = replace(a_feed(folder), tables={"people": marking}, retention=kept)
    lay_all(folder)
    (folder / "2025-11-20/05/c.json").unlink()
    lay(folder, "2025-11-20/09/d.json", drop(person("U", 50, "pk-1", "Adele", "Ada")))
    for window in (*WINDOWS[:2], "2025-11-20T09"):
        bring(lake, feed, [window])
    (done,) = compaction.compact_feed(lake, feed, {"people": marking}, dry_run=False)
    # Her base row has the mark, and her last values.
    assert done.base == 3
    assert {KEY, NAME} <= layers_with(Path(lake.warehouse), PLANTED)["base"]
    assert {row["id"]: row["_weir_is_deleted"] for row in gold(lake, feed)}[KEY]
    assert erased(lake, feed).finished_at is not None
    assert layers_with(Path(lake.warehouse), PLANTED) == {}
    others = {"pk-1": "Ada", "pk-9": "Bea"}
    assert names_of(lake, feed) == others
    # Neither a rebuild nor the same files under other names bring her back, marked or not.
    assert rebuild.rebuild_in(lake, feed) == 0
    for name in ("03/a", "04/b"):
        data = (folder / f"2025-11-20/{name}.json").read_bytes()
        lay(folder, f"2025-11-20/{name}-again.json", data)
    assert violations(lake, feed)["no_erased_key_lands_again"] == 3
    assert names_of(lake, feed) == others


def test_the_accounts_stay_exact_and_say_how_many_were_erased(lake: Lake, folder: Path) -> None:
    feed = a_feed(folder)
    lay_all(folder)
    brought(lake, feed)
    erased(lake, feed)
    assert planning.due(lake, feed).windows == []
    accounts = lake.in_process_table(Layer.ACCOUNTING, "zoo").rows()
    counted = [sum(row[name] for row in accounts) for name in ("records", "events", "erased")]
    assert counted == [9, 9, 5]
    assert violations(lake, feed, *WINDOWS) == {}


def test_what_was_erased_does_not_come_back_and_what_is_new_does(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    feed = a_feed(folder)
    lay_all(folder)
    brought(lake, feed)
    erased(lake, feed)
    assert rebuild.rebuild_in(lake, feed) == 0
    assert layers_with(Path(lake.warehouse), PLANTED) == {}
    # The same files again, under other names.
    for name in ("03/a", "04/b", "05/c"):
        data = (folder / f"2025-11-20/{name}.json").read_bytes()
        lay(folder, f"2025-11-20/{name}-again.json", data)
    found = violations(lake, feed)
    assert found.pop("no_erased_key_lands_again") == 5
    assert found.keys() == {"no_event_twice"}
    assert names_of(lake, feed) == {"pk-1": "Adele"}
    assert layers_with(Path(lake.warehouse), PLANTED).keys() == {"bronze"}
    again = erase_again(lake, feed, ("ann", "it landed again"))
    assert again is not None
    assert layers_with(Path(lake.warehouse), PLANTED) == {}
    assert "no_erased_key_lands_again" not in violations(lake, feed, *WINDOWS)
    assert erase_again(lake, feed, ("ann", "once more")) is None
    # She comes back by herself.
    lay(folder, "2025-11-20/06/d.json", drop(person("I", 40, KEY, "Newname")))
    assert violations(lake, feed) == {}
    assert names_of(lake, feed) == {"pk-1": "Adele", KEY: "Newname"}
    assert [row["name"] for row in gold(lake, feed, "people__history") if row["id"] == KEY] == [
        "Newname"
    ]
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=5) == 0


def test_the_same_erasure_once_more_takes_nothing_back(lake: Lake, folder: Path) -> None:
    """She had the newest change of the stream, and what is left of it does not reach as far."""
    feed = a_feed(folder)
    lay(folder, "2025-11-20/03/a.json", drop(person("I", 10, "pk-1", "Ada")))
    lay(folder, "2025-11-20/04/b.json", drop(person("I", 20, KEY, NAME)))
    bring(lake, feed)
    erased(lake, feed)
    erased(lake, feed)
    assert len(record.recorded(lake, feed)) == 1
    what = KeyToErase(PEOPLE, "people", (KEY,), in_advance=True)
    erase(lake, feed, what, ("ann", "once more"))
    assert len(record.recorded(lake, feed)) == 2
    data = (folder / "2025-11-20/04/b.json").read_bytes()
    lay(folder, "2025-11-20/04/b-again.json", data)
    assert violations(lake, feed)["no_erased_key_lands_again"] == 1
    assert names_of(lake, feed) == {"pk-1": "Ada"}
    assert layers_with(Path(lake.warehouse), PLANTED).keys() == {"bronze"}


def test_how_far_a_stream_had_come_is_known_once_its_newest_change_is_erased(
    lake: Lake, folder: Path
) -> None:
    feed = a_feed(folder)
    rows = (person("I", 10, KEY, NAME), person("I", 20, "pk-1", "Ada"))
    lay(folder, "2025-11-20/03/a.json", drop(*rows))
    bring(lake, feed)
    for key in ("pk-1", KEY):
        erase(lake, feed, KeyToErase(PEOPLE, "people", (key,)), ("ann", "both asked for it"))
    lay(folder, "2025-11-20/04/late.json", drop(person("U", 15, KEY, NAME, OLDER)))
    assert violations(lake, feed) == {"no_erased_key_lands_again": 1}
    assert names_of(lake, feed) == {}


def test_the_newest_change_of_a_log_does_not_come_back_with_another_offset(
    lake: Lake, folder: Path
) -> None:
    feed = debezium(folder)

    def inserted(offset: int, at: int, key: str, name: str) -> str:
        said = envelope("c", 0, key, name)
        log = {"connector": "mysql", "db": "zoo", "file": "binlog.000003", "pos": at, "row": 0}
        source = {**log, "table": "people", "snapshot": "false"}
        return message(offset, {"id": key}, {**said, "source": source})

    lay(folder, "2025-11-20/03/a.json", drop(inserted(7, 500, KEY, NAME)))
    bring(lake, feed)
    erased(lake, feed)
    # Of a topic that was made again.
    records = (inserted(3007, 500, KEY, NAME), inserted(3008, 501, "pk-1", "Ada"))
    lay(folder, "2025-11-20/04/again.json", drop(*records))
    assert violations(lake, feed)["no_erased_key_lands_again"] == 1
    assert names_of(lake, feed) == {"pk-1": "Ada"}
    lay(folder, "2025-11-20/05/new.json", drop(inserted(3009, 502, KEY, "Newname")))
    violations(lake, feed)
    assert names_of(lake, feed) == {"pk-1": "Ada", KEY: "Newname"}


def test_an_erasure_that_is_lifted_lets_old_events_through(lake: Lake, folder: Path) -> None:
    feed = a_feed(folder)
    lay_all(folder)
    brought(lake, feed)
    erased(lake, feed)
    (one,) = decisions.with_recorded(lake, feed).decisions.erasures
    lifted = replace(one, lifted=True)
    signed = decisions.Signature(datetime.now(UTC), "ann", "a mistake")
    decisions.erase(lake, feed, [lifted], signed)
    lay(folder, "2025-11-20/05/again.json", drop(person("I", 30, KEY, NAME)))
    assert violations(lake, feed) == {}
    assert names_of(lake, feed) == {"pk-1": "Adele", KEY: NAME}


class Stopped(Exception):
    """The process dies here."""


def test_an_erasure_that_dies_at_every_step_ends_as_any_other(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = a_feed(folder)
    lay_all(folder)
    brought(lake, feed)
    died: set[str] = set()
    noted, forgotten = record.note, InProcessTable.forget_versions

    def die_once(where: str) -> None:
        if where not in died:
            died.add(where)
            raise Stopped(where)

    def note(lake: Lake, feed: Feed, erasure: str, step: str, meaning: object) -> None:
        die_once(f"before {step}")
        noted(lake, feed, erasure, step, meaning)
        die_once(f"after {step}")

    def forget(self: InProcessTable) -> int:
        die_once(f"versions of {self.name}")
        return forgotten(self)

    monkeypatch.setattr(record, "note", note)
    monkeypatch.setattr(InProcessTable, "forget_versions", forget)
    for _ in range(200):
        try:
            erased(lake, feed)
            break
        except Stopped:
            continue
    assert {
        "before planned",
        "after decided",
        "before derived",
        "versions of gold.zoo.people",
    } < died
    assert layers_with(Path(lake.warehouse), PLANTED) == {}
    assert names_of(lake, feed) == {"pk-1": "Adele"}
    assert violations(lake, feed, *WINDOWS) == {}
    # The last death came when all was done, and the same command once more found nothing left to do.
    (first,) = record.recorded(lake, feed)
    assert first.finished_at is not None
    rows = {one.table: one.rows for one in first.steps.values() if one is not None}
    assert (rows["bronze.zoo"], rows["silver.zoo"], rows["gold.zoo.people"]) == (5, 4, 1)


@pytest.fixture
def begin_and_die(monkeypatch: pytest.MonkeyPatch) -> Callable[[Lake, Feed], None]:
    """Begins her erasure, and dies once it is planned."""
    noted = record.note

    def dies(lake: Lake, feed: Feed, erasure: str, step: str, meaning: object) -> None:
        noted(lake, feed, erasure, step, meaning)
        raise Stopped(step)

    def begin(lake: Lake, feed: Feed) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(record, "note", dies)
            with pytest.raises(Stopped, match="planned"):
                erased(lake, feed)

    return begin


def test_two_that_finish_the_same_erasure_do_its_steps_once(
    lake: Lake, folder: Path, begin_and_die: Callable[[Lake, Feed], None]
) -> None:
    feed = a_feed(folder)
    lay_all(folder)
    brought(lake, feed)
    begin_and_die(lake, feed)
    said: list[str] = []

    def meanwhile(text: str) -> None:
        said.append(text)
        if len(said) == 1:
            # Between the look at what is unfinished and the locks.
            assert len(finish_interrupted(lake, feed)) == 1

    (done,) = finish_interrupted(lake, feed, meanwhile)
    assert len(said) == 1 and "was interrupted and is gone on with" in said[0]
    rows = {one.table: one.rows for one in done.steps.values() if one is not None}
    assert (rows["bronze.zoo"], rows["silver.zoo"], rows["gold.zoo.people"]) == (5, 4, 1)
    steps = [row["step"] for row in lake.in_process_table(Layer.ERASURES, "zoo").rows()]
    assert len(steps) == len({*steps})
    assert finish_interrupted(lake, feed) == []


def test_compacted_history_forgets_her_too(lake: Lake, folder: Path) -> None:
    kept = Retention(timedelta(hours=1), dismissed=(*WINDOWS,))
    feed = replace(a_feed(folder), retention=kept)
    lay_all(folder)
    lay(folder, "2025-11-20/09/d.json", drop(person("U", 50, "pk-1", "Adele", "Ada")))
    brought(lake, feed)
    bring(lake, feed)
    assert [*compaction.compact_feed(lake, feed, {"people": PEOPLE}, dry_run=False)]
    assert {KEY, NAME} <= layers_with(Path(lake.warehouse), PLANTED)["base"]
    compacted = lake.in_process_table(Layer.COMPACTED, "zoo").count()
    erased(lake, feed)
    assert layers_with(Path(lake.warehouse), PLANTED) == {}
    assert lake.in_process_table(Layer.COMPACTED, "zoo").count() == compacted - 4
    assert violations(lake, feed, *WINDOWS).keys() == {"no_event_twice"}
    assert names_of(lake, feed) == {"pk-1": "Ada"}


def test_keys_that_the_source_changed_go_together_or_not_at_all(lake: Lake, folder: Path) -> None:
    feed = a_feed(folder)
    moved = change(
        *("U", 40, {"id": KEY, "name": NAME, "age": "30"}, {"id": "pk-88-eta", "name": NAME}),
        table="people",
    )
    lay(folder, "2025-11-20/03/a.json", drop(person("I", 10, KEY, NAME), moved))
    bring(lake, feed)
    before = lake.in_process_table(Layer.BRONZE, "zoo").version
    with pytest.raises(ErasureRefused, match=r"linked with 1 more \(pk-88-eta\)"):
        erased(lake, feed)
    assert lake.in_process_table(Layer.BRONZE, "zoo").version == before
    what = KeyToErase(PEOPLE, "people", ("pk-88-eta",), linked=True)
    erase(lake, feed, what, ("ann", "both"))
    assert layers_with(Path(lake.warehouse), (*PLANTED, "pk-88-eta")) == {}
    assert names_of(lake, feed) == {}


def moved(at: int, old: str, new: str) -> str:
    """A key change, whose images say the whole row."""
    images = [{"id": key, "name": NAME, "age": "30"} for key in (old, new)]
    return change("U", at, *images, table="people")


def test_a_key_change_that_lands_late_brings_nothing_of_the_erased_key(
    lake: Lake, folder: Path
) -> None:
    feed = a_feed(folder)
    rows = (person("I", 10, KEY, NAME), person("I", 50, "pk-1", "Ada"))
    lay(folder, "2025-11-20/03/a.json", drop(*rows))
    bring(lake, feed)
    erased(lake, feed)
    lay(folder, "2025-11-20/04/late.json", drop(moved(40, KEY, "pk-88-eta")))
    assert violations(lake, feed) == {"no_erased_key_lands_again": 1}
    assert names_of(lake, feed) == {"pk-1": "Ada"}
    assert layers_with(Path(lake.warehouse), PLANTED).keys() == {"bronze"}
    assert erase_again(lake, feed, ("ann", "it landed late")) is not None
    assert layers_with(Path(lake.warehouse), PLANTED) == {}
    assert violations(lake, feed, *WINDOWS[:2]) == {}


def test_a_record_that_another_key_is_in_keeps_no_other_from_being_taken_out(
    lake: Lake, folder: Path
) -> None:
    feed = a_feed(folder)
    rows = (person("I", 10, KEY, NAME), person("I", 11, "pk-9", "Bea"))
    lay(folder, "2025-11-20/03/a.json", drop(*rows, person("I", 50, "pk-1", "Ada")))
    bring(lake, feed)
    erased(lake, feed)
    again = (person("I", 10, KEY, NAME), moved(40, "pk-9", KEY))
    lay(folder, "2025-11-20/04/late.json", drop(*again))
    violations(lake, feed)
    # The source has no row of the other key any more.
    assert names_of(lake, feed) == {"pk-1": "Ada"}
    with pytest.raises(SharedRecordsStay, match=r"1 of the records .*late\.json, line 2"):
        erase_again(lake, feed, ("ann", "it landed again"))
    done = record.recorded(lake, feed)[-1]
    assert done.finished_at is not None and len(done.plan.records) == 1
    assert violations(lake, feed, *WINDOWS[:2])["no_erased_key_lands_again"] == 1
    both = KeyToErase(PEOPLE, "people", ("pk-9",), linked=True)
    erase(lake, feed, both, ("ann", "both"))
    assert layers_with(Path(lake.warehouse), PLANTED) == {}


def test_without_its_secret_nothing_is_derived_any_more(lake: Lake, folder: Path) -> None:
    feed = a_feed(folder)
    lay_all(folder)
    brought(lake, feed)
    with pytest.raises(ErasureRefused, match="WEIR_ERASURE_KEY, is not set"):
        erased(lake, replace(feed, erasure_key=None))
    with pytest.raises(ErasureRefused, match="is too short"):
        erased(lake, replace(feed, erasure_key=MaskKey("short")))
    erased(lake, feed)
    for other in (None, MaskKey("another secret of the tests")):
        with pytest.raises(DecisionRefused, match="without their secret nobody can tell"):
            bring(lake, replace(feed, erasure_key=other), WINDOWS)


def test_what_cannot_be_read_is_told_of_and_goes_if_it_is_wanted(lake: Lake, folder: Path) -> None:
    feed = a_feed(folder)
    broken = '{"opType": "I", "after": {"id": "' + KEY + '", "name": "Quillfeather'
    lay(folder, "2025-11-20/03/a.json", drop(person("I", 10, "pk-1", "Ada"), broken))
    bring(lake, feed)
    in_advance = KeyToErase(PEOPLE, "people", (KEY,), in_advance=True)
    assert erase(lake, feed, in_advance, ("ann", "she asked for it")).plan.left == 1
    assert layers_with(Path(lake.warehouse), PLANTED).keys() == {"bronze", "quarantine"}
    what = KeyToErase(PEOPLE, "people", (KEY,), unreadable=True)
    erase(lake, feed, what, ("ann", "all"))
    assert layers_with(Path(lake.warehouse), PLANTED) == {}


def message(offset: int, key: object, value: object) -> str:
    """A record of a topic, as dumps have it."""
    place = {"topic": "zoo.public.people", "partition": 0, "offset": offset}
    return json.dumps({**place, "key": key, "value": value})


def envelope(op: str, lsn: int, key: str, name: str) -> dict[str, object]:
    """What Debezium says of a change of a person."""
    row = {"id": key, "name": name, "age": 30}
    source = {"connector": "postgresql", "schema": "public", "table": "people", "lsn": lsn}
    images = {"before": row if op == "d" else None, "after": None if op == "d" else row}
    return {"op": op, **images, "source": {**source, "snapshot": "false"}}


def debezium(folder: Path) -> Feed:
    return replace(a_feed(folder), format="debezium")


@pytest.mark.parametrize("key", [KEY, "7"])
def test_kafkas_tombstones_of_the_key_go_with_it_and_are_told_of_when_they_land_again(
    lake: Lake, folder: Path, key: str
) -> None:
    feed = debezium(folder)
    schema = {"type": "struct", "fields": [{"field": "id", "type": "string"}]}
    records = (
        message(0, {"id": "pk-1"}, envelope("c", 100, "pk-1", "Ada")),
        message(1, {"id": key}, envelope("c", 101, key, NAME)),
        message(2, {"id": key}, envelope("d", 102, key, NAME)),
        message(3, {"schema": schema, "payload": {"id": key}}, None),
        message(4, {"id": "pk-9"}, None),
    )
    lay(folder, "2025-11-20/03/a.json", drop(*records))
    bring(lake, feed)
    notes = lake.in_process_table(Layer.SILVER, "zoo").rows(["effect", "key"])
    what = KeyToErase(PEOPLE, "people", (key,))
    done = erase(lake, feed, what, ("ann", "she asked for it"))
    assert (len(done.plan.records), done.plan.left) == (3, 0)
    assert layers_with(Path(lake.warehouse), ["pk-9"]) == {"bronze": {"pk-9"}}
    assert lake.in_process_table(Layer.SILVER, "zoo").count() == len(notes) - 3
    assert violations(lake, feed, WINDOWS[0]) == {}
    accounts = lake.in_process_table(Layer.ACCOUNTING, "zoo").rows()
    counted = [sum(row[name] for row in accounts) for name in ("records", "events", "erased")]
    assert counted == [5, 5, 3]
    # The tombstones land again, and nothing else.
    moved_topic = message(3003, {"id": key}, None)
    lay(folder, "2025-11-20/04/a.json", drop(moved_topic, records[4]))
    assert violations(lake, feed)["no_erased_key_lands_again"] == 1
    again = erase_again(lake, feed, ("ann", "it landed again"))
    assert again is not None and len(again.plan.records) == 1
    assert "no_erased_key_lands_again" not in violations(lake, feed, *WINDOWS[:2])
    if key == KEY:
        assert layers_with(Path(lake.warehouse), PLANTED) == {}


def test_a_tombstone_is_of_an_erased_key_however_late_it_comes(lake: Lake, folder: Path) -> None:
    feed = debezium(folder)
    lay(
        folder, "2025-11-20/03/a.json", drop(message(1, {"id": KEY}, envelope("c", 101, KEY, NAME)))
    )
    bring(lake, feed)
    erased(lake, feed)
    # She registers again, and is deleted again: the row is new, and nobody can tell that the tombstone behind it is.
    born = message(9003, {"id": KEY}, envelope("c", 102, KEY, "Newname"))
    lay(folder, "2025-11-20/04/b.json", drop(born))
    assert violations(lake, feed) == {}
    assert names_of(lake, feed) == {KEY: "Newname"}
    deleted = message(9004, {"id": KEY}, envelope("d", 103, KEY, "Newname"))
    lay(folder, "2025-11-20/05/c.json", drop(deleted, message(9005, {"id": KEY}, None)))
    assert violations(lake, feed) == {"no_erased_key_lands_again": 1}
    assert names_of(lake, feed) == {}


def test_a_tombstone_does_not_say_how_far_its_table_had_come(lake: Lake, folder: Path) -> None:
    feed = debezium(folder)
    lay(folder, "2025-11-20/03/a.json", drop(message(7, {"id": KEY}, None)))
    bring(lake, feed)
    assert erased(lake, feed).plan.erasures[0].reached == ()
    # No change of the table had come, and so its time counts.
    said = envelope("c", 101, KEY, NAME)
    late = message(1, {"id": KEY}, said | {"ts_ms": 1_763_600_000_000})
    lay(folder, "2025-11-20/04/late.json", drop(late))
    assert violations(lake, feed) == {"no_erased_key_lands_again": 1}
    assert names_of(lake, feed) == {}


def test_a_tombstone_whose_key_nobody_can_read_goes_if_it_is_wanted(
    lake: Lake, folder: Path
) -> None:
    feed = debezium(folder)
    records = (
        message(1, {"id": KEY}, envelope("c", 101, KEY, NAME)),
        message(3, '{"id": "' + KEY, None),
    )
    lay(folder, "2025-11-20/03/a.json", drop(*records))
    bring(lake, feed)
    assert erased(lake, feed).plan.left == 1
    assert layers_with(Path(lake.warehouse), PLANTED) == {"bronze": {KEY}}
    what = KeyToErase(PEOPLE, "people", (KEY,), unreadable=True)
    erase(lake, feed, what, ("ann", "all"))
    assert layers_with(Path(lake.warehouse), PLANTED) == {}


OTHER = "pk-88-eta"


@pytest.mark.parametrize(
    "spelled",
    [
        lambda key: json.dumps({"id": key}),
        lambda key: {"id": key},
        lambda key: {
            "schema": {"type": "struct", "fields": [{"field": "id", "type": "string"}]},
            "payload": {"id": key},
        },
        lambda key: "Struct{id=" + key + "}",
    ],
)
@pytest.mark.parametrize("header", ["__debezium.newkey", "__debezium.oldkey"])
def test_keys_that_debezium_says_were_changed_go_together_or_not_at_all(
    lake: Lake, folder: Path, header: str, spelled: Callable[[str], object]
) -> None:
    feed = debezium(folder)

    def with_header(record: str, name: str, key: str) -> str:
        headers = [{"key": name, "value": spelled(key)}]
        return json.dumps(json.loads(record) | ({"headers": headers} if name == header else {}))

    deleted = message(2, {"id": KEY}, envelope("d", 102, KEY, NAME))
    inserted = message(3, {"id": OTHER}, envelope("c", 102, OTHER, NAME))
    records = (
        message(1, {"id": KEY}, envelope("c", 101, KEY, NAME)),
        with_header(deleted, "__debezium.newkey", OTHER),
        with_header(inserted, "__debezium.oldkey", KEY),
    )
    lay(folder, "2025-11-20/03/a.json", drop(*records))
    bring(lake, feed)
    with pytest.raises(ErasureRefused, match=r"linked with 1 more \(pk-88-eta\)"):
        erased(lake, feed)
    what = KeyToErase(PEOPLE, "people", (KEY,), linked=True)
    erase(lake, feed, what, ("ann", "both"))
    assert layers_with(Path(lake.warehouse), (*PLANTED, OTHER)) == {}


def of_key_change(offset: int, lsn: int, old: str, new: str) -> list[str]:
    """What Debezium says of a key change: a delete, and an insert that names the old key in a header."""
    inserted = json.loads(message(offset + 1, {"id": new}, envelope("c", lsn, new, NAME)))
    header = {"key": "__debezium.oldkey", "value": json.dumps({"id": old})}
    deleted = message(offset, {"id": old}, envelope("d", lsn, old, NAME))
    return [deleted, json.dumps(inserted | {"headers": [header]})]


def test_the_late_insert_of_a_key_change_is_the_erased_persons_if_the_change_is_as_old(
    lake: Lake, folder: Path
) -> None:
    feed = debezium(folder)
    deleted, inserted = of_key_change(2, 102, KEY, OTHER)
    born = message(1, {"id": KEY}, envelope("c", 101, KEY, NAME))
    lay(folder, "2025-11-20/03/a.json", drop(born, deleted))
    bring(lake, feed)
    erased(lake, feed)
    # Beside a change of somebody whose key was changed, too, and who is not erased.
    others = of_key_change(6, 103, "pk-1", "pk-2")
    lay(folder, "2025-11-20/04/late.json", drop(inserted, *others))
    assert violations(lake, feed)["no_erased_key_lands_again"] == 1
    assert names_of(lake, feed) == {"pk-2": NAME}
    assert "silver" not in layers_with(Path(lake.warehouse), (KEY, OTHER))
    again = erase_again(lake, feed, ("ann", "it landed late"))
    assert again is not None and len(again.plan.records) == 1
    assert layers_with(Path(lake.warehouse), (KEY, OTHER)) == {}
    assert "no_erased_key_lands_again" not in violations(lake, feed, *WINDOWS[:2])
    assert rebuild.rebuild_in(lake, feed) == 0
    assert names_of(lake, feed) == {"pk-2": NAME}


def test_a_person_who_comes_back_and_changes_the_key_is_there(lake: Lake, folder: Path) -> None:
    feed = debezium(folder)
    born = message(1, {"id": KEY}, envelope("c", 101, KEY, NAME))
    lay(folder, "2025-11-20/03/a.json", drop(born))
    bring(lake, feed)
    erased(lake, feed)
    lay(folder, "2025-11-20/04/new.json", drop(*of_key_change(2, 102, KEY, OTHER)))
    assert violations(lake, feed) == {}
    assert names_of(lake, feed) == {OTHER: NAME}
    changes = lake.in_process_table(Layer.SILVER, "zoo").rows(["moved_from"])
    assert [row["moved_from"] for row in changes] == [None, None]


def test_a_changed_key_that_nobody_can_read_is_told_of(lake: Lake, folder: Path) -> None:
    feed = debezium(folder)
    headers = [{"key": "__debezium.oldkey", "value": '{"id": "' + KEY}]
    inserted = json.loads(message(3, {"id": OTHER}, envelope("c", 102, OTHER, NAME)))
    records = (
        message(1, {"id": KEY}, envelope("c", 101, KEY, NAME)),
        json.dumps(inserted | {"headers": headers}),
    )
    lay(folder, "2025-11-20/03/a.json", drop(*records))
    bring(lake, feed)
    assert erased(lake, feed).plan.left == 1
    what = KeyToErase(PEOPLE, "people", (KEY,), unreadable=True, in_advance=True)
    with pytest.raises(ErasureRefused, match=r"is a change of people pk-88-eta, and a header"):
        erase(lake, feed, what, ("ann", "all"))
    erase(lake, feed, KeyToErase(PEOPLE, "people", (OTHER,)), ("ann", "the same person"))
    erase(lake, feed, what, ("ann", "all"))
    assert layers_with(Path(lake.warehouse), (*PLANTED, OTHER)) == {}


@pytest.mark.parametrize("has_more", [True, False])
@pytest.mark.parametrize("is_read", [True, False])
def test_what_a_record_was_repaired_to_before_is_erased_too(
    lake: Lake, folder: Path, *, has_more: bool, is_read: bool
) -> None:
    feed = a_feed(folder)
    own = [person("I", 11, KEY, NAME)] if has_more else []
    drops = drop(person("I", 10, "pk-1", "Ada"), *own, '{"opType": "I", "after": {"id')
    lay(folder, "2025-11-20/03/a.json", drops)
    bring(lake, feed)
    hers = person("I", 12, KEY, OLDER)
    given = (hers if is_read else hers[:-9], person("I", 12, "pk-9", "Bea"))
    for minute, payload in enumerate(given):
        (record_,) = quarantine_of(lake, decisions.with_recorded(lake, feed)).records
        signed = decisions.Signature(datetime(2025, 11, 21, 0, minute, tzinfo=UTC), "ann", "typo")
        wanted = [Repaired(record_, payload.encode())]
        repairing.repair_records(lake, feed, wanted, signed, unseen=True)
        bring(lake, feed)
    names = names_of(lake, feed)
    assert KEY in layers_with(Path(lake.warehouse), PLANTED)["decisions"]
    done = erased(lake, feed)
    assert (len(done.plan.records), len(done.plan.payloads)) == (has_more, 1)
    assert layers_with(Path(lake.warehouse), PLANTED) == {}
    names.pop(KEY, None)
    assert names_of(lake, feed) == names == {"pk-1": "Ada", "pk-9": "Bea"}
    assert planning.due(lake, feed).windows == []
    assert violations(lake, feed, WINDOWS[0]) == {}


def test_what_a_record_was_before_its_repair_to_another_key_is_told_of(
    lake: Lake, folder: Path
) -> None:
    feed = a_feed(folder)
    broken = '{"opType": "I", "after": {"id": "' + KEY
    lay(folder, "2025-11-20/03/a.json", drop(person("I", 10, KEY, NAME), broken))
    bring(lake, feed)
    (record_,) = quarantine_of(lake, feed).records
    signed = decisions.Signature(datetime(2025, 11, 21, tzinfo=UTC), "ann", "it was another's")
    given = Repaired(record_, person("I", 12, "pk-9", "Bea").encode())
    repairing.repair_records(lake, feed, [given], signed)
    bring(lake, feed)
    assert erased(lake, feed).plan.left == 1
    what = KeyToErase(PEOPLE, "people", (KEY,), unreadable=True, in_advance=True)
    with pytest.raises(ErasureRefused, match=r"of people pk-9, .*or what it was before its repair"):
        erase(lake, feed, what, ("ann", "all"))
    assert names_of(lake, feed) == {"pk-9": "Bea"}


def test_a_key_that_is_not_there_is_said_to_be_none(lake: Lake, folder: Path) -> None:
    feed = a_feed(folder)
    broken = '{"opType": "I", "after": {"id": "' + KEY + '", "name": "Quillfeather'
    lay(folder, "2025-11-20/03/a.json", drop(person("I", 10, "pk-1", "Ada"), broken))
    bring(lake, feed)
    version = lake.in_process_table(Layer.GOLD, "zoo", "people").version
    with pytest.raises(ErasureRefused, match="nothing of this key of people was found, but 1 rec"):
        erased(lake, feed)
    with pytest.raises(ErasureRefused, match=r"nothing of this key of people was found\. Nothing"):
        erase(lake, feed, KeyToErase(PEOPLE, "people", ("pk-0000",)), ("ann", "mistyped"))
    assert record.recorded(lake, feed) == []
    assert lake.in_process_table(Layer.GOLD, "zoo", "people").version == version
    # Recorded in advance, it keeps out what lands later.
    what = KeyToErase(PEOPLE, "people", (KEY,), in_advance=True)
    assert erase(lake, feed, what, ("ann", "she asked for it")).finished_at is not None
    lay(folder, "2025-11-20/04/b.json", drop(person("I", 9, KEY, NAME)))
    assert violations(lake, feed)["no_erased_key_lands_again"] == 1
    assert names_of(lake, feed) == {"pk-1": "Ada"}


def test_tables_of_former_names_in_gold_are_refused(lake: Lake, folder: Path) -> None:
    feed = a_feed(folder)
    lay_all(folder)
    brought(lake, feed)
    mine = Path(lake.warehouse, "gold/zoo")
    shutil.copytree(mine / "people", mine / "persons")
    versions = {
        one: lake.in_process_table(one, "zoo").version for one in (Layer.BRONZE, Layer.SILVER)
    }
    with pytest.raises(ErasureRefused, match=r"former names, .* any more: persons"):
        erased(lake, feed)
    assert record.recorded(lake, feed) == []
    for one, version in versions.items():
        assert lake.in_process_table(one, "zoo").version == version
    shutil.rmtree(mine / "persons")
    assert erased(lake, feed).finished_at is not None
    assert layers_with(Path(lake.warehouse), PLANTED) == {}


def test_an_erasure_is_not_finished_under_another_name_of_its_table(
    lake: Lake, folder: Path, begin_and_die: Callable[[Lake, Feed], None]
) -> None:
    feed = a_feed(folder)
    lay_all(folder)
    brought(lake, feed)
    begin_and_die(lake, feed)
    persons = replace(PEOPLE, name="persons", was=("people",))
    with pytest.raises(ErasureNotFinished, match="is of the gold table people, which"):
        finish_interrupted(lake, replace(feed, tables={"persons": persons}))
    assert [one.finished_at for one in record.recorded(lake, feed)] == [None]
    assert len(finish_interrupted(lake, feed)) == 1
    assert layers_with(Path(lake.warehouse), PLANTED) == {}


def test_changes_that_wait_for_a_description_of_their_table_are_refused(
    lake: Lake, folder: Path
) -> None:
    feed = replace(a_feed(folder), format="debezium", tables={})
    columns = [{"field": name, "type": "string"} for name in ("id", "name")]
    key = {"schema": {"type": "struct", "fields": columns[:1]}, "payload": {"id": KEY}}
    images = [{"field": one, "type": "struct", "fields": columns} for one in ("before", "after")]
    described = {"type": "struct", "fields": images}
    inserted = {"schema": described, "payload": envelope("c", 101, KEY, OLDER)}
    deleted = message(1, {"id": KEY}, envelope("d", 102, KEY, NAME))
    lay(folder, "2025-11-20/03/a.json", drop(message(0, key, inserted), deleted))
    run(lake, feed)
    (table,) = discovered_tables.tables_of(lake, feed).values()
    with pytest.raises(ErasureRefused, match="1 change of people came without a description"):
        erase(lake, feed, KeyToErase(table, "people", (KEY,)), ("ann", "she asked"))
    declared = replace(feed, tables={"people": PEOPLE})
    bring(lake, declared, WINDOWS[:1])
    assert erased(lake, declared).finished_at is not None
    assert layers_with(Path(lake.warehouse), PLANTED) == {}


def test_what_cannot_be_read_is_found_however_json_spells_the_key(lake: Lake, folder: Path) -> None:
    feed, key = a_feed(folder), "Jörg-7731"
    for name in ("a", "b", "c"):
        spelled = {"a": key, "b": "J\\u00f6rg-7731", "c": "J\\u00F6rg-7731"}[name]
        broken = '{"opType": "I", "after": {"id": "' + spelled + '", "name": "Quillfeather'
        lay(folder, f"2025-11-20/03/{name}.json", drop(person("I", 10, "pk-1", "Ada"), broken))
    bring(lake, feed)
    what = KeyToErase(PEOPLE, "people", (key,), unreadable=True)
    assert len(erase(lake, feed, what, ("ann", "all")).plan.records) == 3
    assert layers_with(Path(lake.warehouse), PLANTED) == {}


def test_records_that_others_are_in_and_tables_without_a_key_are_refused(
    lake: Lake, folder: Path
) -> None:
    feed = a_feed(folder)
    lay_all(folder)
    brought(lake, feed)
    keyless = replace(PEOPLE, key=())
    with pytest.raises(ErasureRefused, match="has no key"):
        erase(lake, feed, KeyToErase(keyless, "people", (KEY,)), ("ann", "she asked"))
    with pytest.raises(ErasureRefused, match="depends on the records around it"):
        erased(lake, replace(feed, format="dgraph"))


REGIONS = Table("region", ("id",), {"id": "int", "name": "string"}, ("id", "name"))
CITIES = replace(REGIONS, name="city")


def response(index: int, *rows: tuple[str, int, str]) -> str:
    """What one call of YugabyteDB's API has answered: rows (table, key, name) that it has written, in one record."""

    def column(name: str, kind: int, **datum: object) -> dict[str, object]:
        return {"column_name": name, "column_type": kind, "Datum": datum}

    records = []
    for write, (table, key, name) in enumerate(rows):
        columns = [column("id", 23, DatumInt32=key), column("name", 25, DatumString=name)]
        message = {"table": table, "op": 0, "pgschema_name": "public"}
        message |= {"new_tuple": columns, "old_tuple": [{"Datum": None}] * 2}
        place = {"term": 1, "index": index, "write_id": write}
        records.append({"row_message": message, "cdc_sdk_op_id": place})
    end = {"term": 1, "index": index, "write_id": 0}
    return json.dumps({"cdc_sdk_proto_records": records, "cdc_sdk_checkpoint": end})


def feed_of_responses(folder: Path) -> Feed:
    tables = {"region": REGIONS, "city": CITIES}
    return Feed("zoo", "yugabyte", str(folder), tables=tables, erasure_key=SECRET)


@pytest.mark.parametrize(
    ("beside_her", "others"),
    [
        ([("region", 7, "Other")], "also what it says itself, rows of region"),
        ([("city", 7, "Other"), ("region", 8, "Third")], "rows of city, rows of region"),
        # The place up to which the consumer has read, which nobody is to lose.
        ([], r"\(also what it says itself\)"),
    ],
)
def test_a_record_that_holds_more_than_rows_of_the_key_is_refused_and_nothing_is_changed(
    lake: Lake, folder: Path, beside_her: list[tuple[str, int, str]], others: str
) -> None:
    feed = feed_of_responses(folder)
    drops = drop(response(4, ("region", 1, NAME), *beside_her), response(5, ("region", 9, "Far")))
    lay(folder, "2025-11-20/03/tablet=t1/a.jsonl", drops)
    bring(lake, feed)
    bronze = lake.in_process_table(Layer.BRONZE, "zoo").version
    what = KeyToErase(REGIONS, "region", ("1",))
    with pytest.raises(ErasureRefused, match="holds more than rows of this key") as refused:
        erase(lake, feed, what, ("ann", "she asked for it"))
    refused.match(others)
    refused.match(r"a\.jsonl, line 1, is one record")
    assert record.recorded(lake, feed) == []
    assert lake.in_process_table(Layer.BRONZE, "zoo").version == bronze
    assert {row["id"]: row["name"] for row in gold(lake, feed, "region")}[1] == NAME


def test_an_erased_record_is_no_gap_in_its_sources_running_totals(lake: Lake, folder: Path) -> None:
    feed = replace(a_feed(folder), checks={"operation_counts_have_no_gap": CheckSetting()})
    records = []
    for total, key in enumerate(("pk-1", KEY, "pk-9"), start=1):
        totals = {"insertCount": total, "updateCount": 0, "deleteCount": 0, "replaceCount": 0}
        record_ = json.loads(person("I", total, key, NAME if key == KEY else "Ada"))
        records.append(json.dumps(record_ | {"operationcount": json.dumps(totals)}))
    lay(folder, "2025-11-20/03/a.json", drop(*records))
    bring(lake, feed)
    erased(lake, feed)
    assert layers_with(Path(lake.warehouse), PLANTED) == {}
    assert operation_gaps(lake, feed, WINDOWS) == []
