"""Large windows of whole images: where Spark decides a key by its newest change, the result is the fold's."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import DataFrame

from assets.bookkeeping import window_progress
from assets.bronze import from_objects
from assets.gold.apply import apply_table, local_apply
from assets.gold.fold import whole_images
from assets.lake import Lake
from assets.layers import Layer
from assets.silver import derive_windows
from tests.laws.drawn import model_format, model_histories
from tests.laws.oracle.event import Event, Image
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.feed.feed import Feed, Table

NAMES = ("id", "kind", "key", "blob", "what", "rows", "last", "first", "event", "window", "new")


@pytest.fixture(autouse=True)
def _by_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_apply, "MOST_CHANGES", -1)


def test_columns_may_have_any_of_the_names_that_weir_uses_on_the_way(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_images, "LEAST", 0)
    table = Table("pets", ("id",), dict.fromkeys(NAMES, "string"), NAMES)
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": table})
    ada = {name: f"{name} of Ada" for name in NAMES} | {"id": "1"}
    bo = {**ada, "id": "2"}
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after=ada), change("I", 2, after=bo)))
    newer = {**ada, "rows": "more"}
    lay(folder, "2025-11-20/04/b.json", drop(change("U", 3, ada, newer), change("D", 4, bo)))
    for hour in ("03", "04"):
        bring(lake, feed, [f"2025-11-20T{hour}"])
    (row,) = lake.table(Layer.GOLD, "zoo", "pets").read().select(*NAMES).collect()
    assert row.asDict() == newer


def test_which_of_two_events_at_one_place_counts_is_for_the_fold_to_say(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_images, "LEAST", 0)
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    old = {number: {"id": number, "name": "old"} for number in ("1", "2")}
    new = {number: {"id": number, "name": "new"} for number in ("1", "2")}
    first = (change("I", int(number), after=one) for number, one in old.items())
    lay(folder, "2025-11-20/03/a.json", drop(*first))
    # A delete and an insert of one statement, in both orders.
    gone = {number: change("D", 9, one) for number, one in old.items()}
    back = {number: change("I", 9, after=one) for number, one in new.items()}
    tied = drop(gone["1"], back["1"], back["2"], gone["2"])
    lay(folder, "2025-11-20/04/b.json", tied)
    for hour in ("03", "04"):
        bring(lake, feed, [f"2025-11-20T{hour}"])
    assert names(lake, feed) == {1: "new", 2: "new"}


def test_where_an_event_stands_that_came_at_two_places_is_for_the_fold_to_say(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_images, "LEAST", 0)
    model_format.register(monkeypatch)
    feed = Feed("zoo", "model", str(folder), tables={"pets": PETS})

    def record(place: tuple[int, int], effect: str, identity: str, **after: str) -> str:
        image: Image = {"id": "1", **after}
        made = Event(
            *("model", "pets", effect, (0, 1, *place), None, {}, image, effect),
            own_identity=(identity,),
        )
        # Of the place only the first three numbers are the same in every delivery.
        return json.dumps({**model_histories.to_record(made), "stable_prefix": 3})

    lay(folder, "2025-11-20/03/a.jsonl", drop(record((7, 1), "put", "born", name="Ada")))
    for hour, place in (("04", 3), ("05", 0)):
        lay(folder, f"2025-11-20/{hour}/a.jsonl", drop(record((7, place), "remove", "gone")))
    for hour, expected in (("03", {1: "Ada"}), ("04", {}), ("05", {1: "Ada"})):
        bring(lake, feed, [f"2025-11-20T{hour}"])
        # The smallest of its places counts, which is before the row's.
        assert names(lake, feed) == expected


def test_the_counts_are_those_of_the_fold(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_format.register(monkeypatch)
    shape = model_histories.TABLES["stock"]
    table = Table("stock", shape.key, shape.columns, (*shape.columns,))
    feed = Feed("zoo", "model", str(folder), tables={"stock": table})
    windows = [f"2025-11-20T{hour:02}" for hour in range(3)]
    rng = Random("windows")
    drops: dict[str, list[str]] = {window: [] for window in windows}
    for seed in range(60):
        for event in model_histories.history("stock", seed, f"stock-{seed}", 20):
            line = json.dumps(model_histories.to_record(event))
            # Some come in several windows, and some twice in one.
            for window in rng.choices(windows, k=rng.choice([1, 1, 1, 2])):
                drops[window].append(line)
    for window, lines in drops.items():
        rng.shuffle(lines)
        lay(folder, f"{window.replace('T', '/')}/a.jsonl", drop(*lines))
    by_fold = lake.with_warehouse(f"{lake.warehouse}/by_fold")
    for window in (*windows, windows[0]):
        made = []
        for one, least in ((lake, 0), (by_fold, whole_images.LEAST)):
            from_objects.land(one, feed, [window])
            derive_windows.derive(one, feed, [window])
            monkeypatch.setattr(whole_images, "LEAST", least)
            made.append(apply_table.apply(one, feed, table, [window]))
            window_progress.finish(one, feed, [window])
        assert made[0] == made[1]
        both = [one.table(Layer.GOLD, "zoo", "stock").read() for one in (lake, by_fold)]
        assert rows_of(both[0]) == rows_of(both[1])
    # Of the window that came again only the few keys that need their history are written.
    assert made[0].repeats + made[0].superseded > 0.9 * made[0].changes > 0


def rows_of(gold: DataFrame) -> list[str]:
    """Gold's rows as texts."""
    return sorted(str(row) for row in gold.collect())
