"""A law of erasing: gold is what it is without the key, now and made again, and no other row is any other."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from random import Random
from typing import cast

import pytest

from assets.control import decisions
from assets.erasure import erase as erasing
from assets.erasure.search import KeyToErase
from assets.executors.choice import IN_PROCESS
from assets.storage.lake import Lake
from expectations.silver import POSITION_RISES_WITH_SOURCE_TIME
from orchestration.cli import rebuild
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.laws.drawn import model_format, model_histories
from tests.laws.model_worlds import SEED, WINDOWS, Outcome, World, assert_same, world
from tests.laws.oracle.oracle import Key
from tests.laws.test_repairing_laws import gold
from tests.support.pet_feed import bring
from transforms.feed.erasures import erased_keys
from transforms.feed.feed import CheckSetting, Feed, Table
from transforms.feed.masks import MaskKey

HISTORIES = max(8, int(os.environ.get("WEIR_LAW_HISTORIES", "10000")) // 1000)
AT_ONCE = 8
"""Histories in one warehouse."""
FIRST = range(SEED, SEED + HISTORIES, AT_ONCE)
"""The number of each warehouse's first history."""
ERASED = 2
"""How many keys are erased of each table."""
KINDS = [kind for kind in model_histories.KINDS if kind != "log"]
"""Those whose tables have a key."""
OF_TIMES = {POSITION_RISES_WITH_SOURCE_TIME.name: CheckSetting(severity="warn")}
"""Drawn histories share a log, and each begins at its own time: it seems to go back, which would stop a rebuild."""
SECRET = MaskKey("a secret of the laws' own")


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    model_format.register(monkeypatch)
    monkeypatch.setenv("WEIR_EXECUTOR", IN_PROCESS)
    monkeypatch.setattr(Lake, "spark", property(lambda _: pytest.fail("Spark was asked")))


def erase_some(lake: Lake, feed: Feed, name: str, keys: Collection[Key]) -> None:
    """Erase these keys, and those that the source has changed them from or to."""
    for key in keys:
        what = KeyToErase(feed.tables[name], name, key, linked=True, in_advance=True)
        erasing.erase(lake, feed, what, ("ann", "the law says so"))


def without_erased(lake: Lake, feed: Feed, name: str, outcome: Outcome) -> Outcome:
    """Rows and tombstones but for those of the keys that are erased by now, however new."""
    known = decisions.with_recorded(lake, feed).decisions.erasures
    erased = erased_keys(feed.name, [replace(one, reached=()) for one in known], SECRET)
    assert erased is not None
    rows, stones = (
        {key: value for key, value in one.items() if not erased.has(name, (key,), None, None, None)}
        for one in outcome
    )
    return rows, stones


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("kind", KINDS)
def test_gold_is_what_it_is_without_erased_keys_now_and_made_again(
    tmp_path: Path, kind: str, first: int
) -> None:
    chance = Random(f"erased {kind} {first}")
    drawn = world(kind, tmp_path / "landing", AT_ONCE, first=first)
    feed = replace(drawn.feed, erasure_key=SECRET, checks=OF_TIMES)
    lake = lake_of(str(tmp_path / "erased"))
    bring(lake, feed, WINDOWS)
    expected: dict[str, Outcome] = {}
    for name in feed.tables:
        before = gold(lake, feed, name)
        keys = sorted({**before[0], **before[1]}, key=str)
        erase_some(lake, feed, name, chance.sample(keys, min(ERASED, len(keys))))
        expected[name] = without_erased(lake, feed, name, before)
        assert sum(map(len, expected[name])) < sum(map(len, before))
    for made_again in (False, True):
        if made_again:
            assert rebuild.rebuild_in(lake, feed) == 0
        for name in feed.tables:
            assert_same(gold(lake, feed, name), expected[name], f"{name}, {made_again=}")
    made = bring(lake, feed, WINDOWS)[1]
    assert made.violations["accounting_is_exact"] == 0
    for name in feed.tables:
        assert_same(gold(lake, feed, name), expected[name], f"{name}, delivered again")


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("kind", KINDS)
def test_other_rows_become_what_they_would_have_been_in_windows_that_follow(
    tmp_path: Path, kind: str, first: int
) -> None:
    chance = Random(f"erased between {kind} {first}")
    drawn = world(kind, tmp_path / "landing", AT_ONCE, first=first)
    feed = replace(drawn.feed, erasure_key=SECRET)
    lake = lake_of(str(tmp_path / "erased"))
    order = chance.sample(WINDOWS, len(WINDOWS))
    bring(lake, feed, order[:2])
    left_out: dict[str, set[tuple[str, Key]]] = {}
    for name in feed.tables:
        before = gold(lake, feed, name)
        some = drawn_keys(drawn, name, order[:2], {**before[0], **before[1]}, chance)
        erase_some(lake, feed, name, some)
        left_out[name] = drawn.erased(name, order[:2], some)
    bring(lake, feed, order[2:])
    assert planning.due(lake, feed).windows == []
    for name, table in feed.tables.items():
        rows, stones = drawn.expected(name, WINDOWS, None, left_out[name])
        if table.marks_deletes:
            rows = {key: row[:-2] for key, row in rows.items()}
        found, gone = gold(lake, feed, name)
        told = {key: in_oracles_values(table, row) for key, row in found.items()}
        assert_same((told, gone), (rows, stones), name)


def drawn_keys(
    drawn: World, name: str, windows: list[str], known: Collection[Key], chance: Random
) -> list[Key]:
    """Some of these keys; first of all those that key changes link with more in the windows that follow."""
    keys = sorted(known, key=str)

    def goes_on(key: Key) -> bool:
        return drawn.linked(name, WINDOWS, [key]) > drawn.linked(name, windows, [key])

    going_on = [key for key in keys if goes_on(key)]
    some = chance.sample(going_on, min(ERASED, len(going_on)))
    others = [key for key in keys if key not in some]
    return some + chance.sample(others, min(ERASED, len(others)))


def in_oracles_values(table: Table, row: tuple[object, ...]) -> tuple[object, ...]:
    """A row of gold as the oracle has it: moments as texts, maps as such, and when it happened in milliseconds."""
    copies, *values, position, identifier, happened = row
    own = [
        in_oracles_value(value, kind)
        for value, kind in zip(values, table.columns.values(), strict=True)
    ]
    at = round(happened.timestamp() * 1000) if isinstance(happened, datetime) else None
    return (copies, *own, position, identifier, at)


def in_oracles_value(value: object, kind: str) -> object:
    if kind.startswith("map") and value is not None:
        return dict(cast("list[tuple[object, object]]", value))
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return value.isoformat() if isinstance(value, date) else value
