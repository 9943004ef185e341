"""So many rows a second and no more are read, whatever was not read before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assets.control.decisions import signed
from assets.reconcile import compare, repair
from assets.reconcile.compare import Ask, Pace, Sides, looked_at_again, reconciled
from assets.reconcile.postgres import PostgresSource
from assets.reconcile.words import after_lines
from assets.source.database import address_of
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.assets.reconcile.named_tables import TABLE, Named
from tests.services.postgres import DATABASE, Postgres, postgres
from transforms.reconcile.ranges import Plan

__all__ = ["postgres"]

TABLES = """
DROP SCHEMA IF EXISTS shop CASCADE;
DROP ROLE IF EXISTS clerk;
CREATE ROLE clerk LOGIN;
CREATE SCHEMA shop;
CREATE TABLE shop.one(id int PRIMARY KEY, n int);
CREATE TABLE shop.two(id int PRIMARY KEY, n int);
CREATE TABLE shop.pair(house int, id int, n int, UNIQUE(house, id));
INSERT INTO shop.one SELECT i, i FROM generate_series(1, 60) i;
INSERT INTO shop.two SELECT i, i FROM generate_series(1, 60) i;
INSERT INTO shop.pair SELECT i / 40, i, i FROM generate_series(1, 400) i;
INSERT INTO shop.pair SELECT i / 40, NULL, i FROM generate_series(1, 400, 20) i;
INSERT INTO shop.pair SELECT NULL, i, i FROM generate_series(1, 7) i;
GRANT USAGE ON SCHEMA shop TO clerk;
GRANT SELECT ON ALL TABLES IN SCHEMA shop TO clerk;
"""
PAIR = "{key: [house, id], columns: {house: int, id: int, n: int}}"
RATE = 20


class Clock:
    """A clock that goes on only where it is waited for, or told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_rows_are_paid_for_from_one_question_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(compare, "time", clock)
    pace = Pace(100, since=clock.now)
    pace.keep(50)
    assert clock.now == 0.5
    # What the question took counts.
    clock.now += 0.25
    pace.keep(150)
    assert clock.now == 1.5
    # An hour in which nothing was read is no credit.
    clock.now += 3600
    pace.keep(160)
    began = clock.now
    pace.keep(260)
    assert clock.now == began + 1


def called(table: str) -> dict[str, object]:
    """What a change of a table says of it and of its place in the log."""
    names = {"connector": "postgresql", "db": DATABASE, "schema": "shop", "table": table}
    return names | {"lsn": 1, "ts_ms": 1_790_000_000_000}


@pytest.fixture
def shop(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sides]:
    """Three tables, of two of which each row differs; none of it is under way."""
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", "clerk")
    postgres.run(TABLES)
    made = Named(tmp_path, f"postgresql://127.0.0.1:{postgres.port}/{DATABASE}")
    made.declare(f"tables:\n  one: {TABLE}\n  two: {TABLE}\n  pair: {PAIR}\n")
    for table in ("one", "two"):
        made.land_changes(called(table), [{"id": i, "n": -i} for i in range(1, 61)], ["id"])
    rows = [{"house": i // 40, "id": i, "n": i} for i in range(1, 401)]
    made.land_changes(called("pair"), rows, ["house", "id"])
    made.bring()
    feed = load_feed(tmp_path / "feeds" / "shop.yaml")
    lake = lake_of(str(tmp_path / "warehouse")).by("in-process")
    source = PostgresSource("shop", address_of(feed))
    yield Sides(lake, feed, source, Ask(rate=RATE, is_idle=True, plan=Plan(40, 4, 64)))
    postgres.run("DROP SCHEMA shop CASCADE; DROP OWNED BY clerk; DROP ROLE clerk")


def waited(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which the pace is kept, which only waiting moves."""
    clock = Clock()
    monkeypatch.setattr(compare, "time", clock)
    return clock


def test_rows_that_are_fetched_are_paid_for_when_keys_are_judged_and_when_they_are_repaired(
    shop: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "KEYS_AT_ONCE", 7)
    clock = waited(monkeypatch)
    ask = Ask(tables=["one"], rate=RATE, is_idle=True)
    (one,) = (found := reconciled(shop.lake, shop.feed, shop.source, ask)).tables
    assert len(one.different) == 60
    # For their checksums, for the hash of each, and for the rows themselves.
    assert clock.now == pytest.approx(3 * 60 / RATE)
    clock.now = 0
    sides = Sides(shop.lake, shop.feed, shop.source, ask)
    plan = repair.read_again(sides, found, signed(shop.feed, "lost", "ann"))
    assert len(plan.repairs) == 60
    assert clock.now == pytest.approx(60 / RATE)


def test_rows_without_a_key_are_counted_within_the_pace(
    shop: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = waited(monkeypatch)
    ask = Ask(tables=["pair"], rate=RATE, is_idle=True, plan=Plan(40, 4, 64))
    (one,) = reconciled(shop.lake, shop.feed, shop.source, ask).tables
    assert (one.in_source, one.in_gold, one.keyless) == (400, 400, 27)
    assert (one.different, one.behind) == ([], [])
    # Each row once for its checksum, and once where rows without a key are looked for, which count, too.
    assert clock.now == pytest.approx((2 * 400 + 27) / RATE)


def test_a_table_that_is_refused_is_left_and_the_others_are_repaired(
    shop: Sides, postgres: Postgres
) -> None:
    ask = Ask(tables=["one", "two"], is_idle=True)
    found = reconciled(shop.lake, shop.feed, shop.source, ask)
    assert [len(one.different) for one in found.tables] == [60, 60]
    # Between two questions somebody takes the right away.
    postgres.run("REVOKE SELECT ON shop.one FROM clerk")
    sides = Sides(shop.lake, shop.feed, shop.source, ask)
    plan = repair.read_again(sides, found, signed(shop.feed, "lost", "ann"))
    refused = (
        "the source refuses: permission denied for table one. GRANT SELECT on the table to its user, and USAGE on the"
        " schema"
    )
    assert [(one.table, one.key, one.why) for one in plan.left] == [("one", None, refused)]
    assert [one.table for one in plan.repairs] == ["two"] * 60
    # Nor is it called as in the source if it cannot be looked at again.
    now = looked_at_again(sides, found, {("one", each.key) for each in found.tables[0].different})
    (said,) = after_lines(shop.feed, now, {"one"})
    again = "repaired; the keys that differed could not be compared again"
    assert said == f"gold.shop.one: {again}: {refused}"
