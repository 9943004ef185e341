"""A law of erasing: gold is what it is without the key, now and made again, and no other row is any other."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from assets.control import decisions
from assets.erasure import erase as erasing
from assets.erasure.search import KeyToErase
from assets.executors.choice import IN_PROCESS
from assets.storage.lake import Lake, Layer
from orchestration.cli import rebuild
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.laws.drawn import model_format, model_histories
from tests.laws.model_worlds import SEED, WINDOWS, Outcome, assert_same, world
from tests.laws.oracle.oracle import Key
from tests.laws.test_repairing_laws import gold
from tests.support.pet_feed import bring
from transforms.feed.erasures import erased_keys
from transforms.feed.feed import Feed
from transforms.feed.masks import MaskKey

HISTORIES = max(8, int(os.environ.get("WEIR_LAW_HISTORIES", "10000")) // 1000)
ERASED = 2
"""How many keys are erased of each table."""
KINDS = [kind for kind in model_histories.KINDS if kind != "log"]
"""Those whose tables have a key."""
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


def without_erased(
    lake: Lake, feed: Feed, name: str, outcome: Outcome, whole: Lake | None = None
) -> Outcome:
    """Rows and tombstones but for those of the keys that are erased by now, however new.

    ``whole``: where all key changes are. Those from an erased key that come after the erasure may bring the other key
    nothing, so that its row is left out, too.
    """
    known = decisions.with_recorded(lake, feed).decisions.erasures
    erased = erased_keys(feed.name, [replace(one, reached=()) for one in known], SECRET)
    assert erased is not None
    links = []
    if whole is not None:
        silver = whole.in_process_table(Layer.SILVER, feed.name).rows(
            ["table", "key", "moved_from"]
        )
        links = [
            (tuple(row["moved_from"]), tuple(row["key"])) for row in silver if row["moved_from"]
        ]
    gone = {key for pair in links for key in pair if erased.has(name, (key,), None, None, None)}
    while more := {new for old, new in links if old in gone} - gone:
        gone |= more
    rows, stones = (
        {
            key: value
            for key, value in one.items()
            if key not in gone and not erased.has(name, (key,), None, None, None)
        }
        for one in outcome
    )
    return rows, stones


@pytest.mark.parametrize("kind", KINDS)
def test_gold_is_what_it_is_without_erased_keys_now_and_made_again(
    tmp_path: Path, kind: str
) -> None:
    chance = Random(f"erased {kind} {SEED}")
    feed = replace(world(kind, tmp_path / "landing", HISTORIES).feed, erasure_key=SECRET)
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


@pytest.mark.parametrize("kind", KINDS)
def test_other_rows_become_what_they_would_have_been_in_windows_that_follow(
    tmp_path: Path, kind: str
) -> None:
    chance = Random(f"erased between {kind} {SEED}")
    feed = replace(world(kind, tmp_path / "landing", HISTORIES).feed, erasure_key=SECRET)
    lake, whole = lake_of(str(tmp_path / "erased")), lake_of(str(tmp_path / "whole"))
    bring(whole, feed, WINDOWS)
    order = chance.sample(WINDOWS, len(WINDOWS))
    bring(lake, feed, order[:2])
    for name in feed.tables:
        before = gold(lake, feed, name)
        keys = sorted({**before[0], **before[1]}, key=str)
        erase_some(lake, feed, name, chance.sample(keys, min(ERASED, len(keys))))
    bring(lake, feed, order[2:])
    assert planning.due(lake, feed).windows == []
    for name in feed.tables:
        actual, expected = gold(lake, feed, name), gold(whole, feed, name)
        assert_same(
            without_erased(lake, feed, name, actual, whole),
            without_erased(lake, feed, name, expected, whole),
            name,
        )
