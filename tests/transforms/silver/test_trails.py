"""Which changes a trail keeps: always the same ones, however they are split among tasks, and never many."""

from __future__ import annotations

import json
import pickle
from random import Random
from types import SimpleNamespace
from typing import cast

from transforms.change import BEHIND_ALL_POINTS
from transforms.silver.accounting import AccountKey, Accounts
from transforms.silver.changes import CHANGE, Row
from transforms.silver.trails import (
    MOST_PARTS,
    Ends,
    Point,
    Trail,
    TrailKey,
    Trails,
    fallen,
    point_of,
)

KEY = AccountKey("w", "t", "s.t", "t")
HOUR = 3_600_000_000


def drawn(rng: Random, number: int) -> Point:
    made = rng.randrange(2 * HOUR)
    return Point((1, rng.randrange(50)), made, rng.choice([None, made + 5]), 0, str(number))


def accounts_of(points: list[tuple[TrailKey, Point]]) -> Accounts:
    accounts = Accounts()
    for key, point in points:
        accounts.of[KEY].trails.add(key, point)
    return accounts


def test_accounts_keep_the_same_changes_in_whatever_tasks_and_order_they_are_counted() -> None:
    rng = Random(7)
    parts = [TrailKey(0, str(number)) for number in range(3)]
    points = [(rng.choice(parts), drawn(rng, number)) for number in range(600)]
    (whole,) = accounts_of(points).rows()
    assert len(whole["trails"]) == 3
    for _ in range(5):
        rng.shuffle(points)
        cut = rng.randrange(len(points))
        together = Accounts()
        for some in (points[:cut], points[cut:]):
            together.add(pickle.loads(pickle.dumps(accounts_of(some))))
        assert together.rows() == [whole]


def test_a_trail_has_few_stretches_however_long_its_time_is() -> None:
    rng = Random(7)
    trail = Trail()
    for number in range(5_000):
        made = rng.randrange(10_000 * HOUR)
        trail.add(Point((1, made), made, made, 0, str(number)))
    assert len(trail.stretches) <= 64
    assert len(trail.points()) <= 4 * 64
    assert fallen(trail.ends()) is None


def test_of_more_parts_than_are_kept_the_same_ones_are() -> None:
    rng = Random(7)
    keys = [TrailKey(0, str(number)) for number in range(MOST_PARTS + 200)]
    kept = []
    for _ in range(2):
        rng.shuffle(keys)
        trails = Trails()
        for number, key in enumerate([*keys, *keys]):
            trails.add(key, Point((1, number), number, number, 0, ""))
        kept.append(frozenset(trails.of))
        assert all(len(one.points()) > 1 for one in trails.of.values())
    assert len(kept[0]) == MOST_PARTS
    assert kept[0] == kept[1]


def test_two_have_to_stand_below_two_that_were_made_and_read_before_them() -> None:
    high = [Point((1, 9 + at), at, 100 + at, 0, f"h{at}") for at in range(2)]
    low = [Point((1, 1 + at), 50 + at, 200 + at, 0, f"l{at}") for at in range(2)]
    found = fallen(Ends(high, low))
    assert found is not None
    assert [event for event, *_ in found.events] == ["l0", "l1"]
    assert found.before == 1
    assert found.without({"l0"}) is None
    # Read before them, made before them, or above them; and one alone.
    for other in (
        [one._replace(read=50) for one in low],
        [one._replace(made=0) for one in low],
        [one._replace(position=(1, 20)) for one in low],
        low[:1],
    ):
        assert fallen(Ends(high, other)) is None
    # Where nobody says when they were read, some minutes have to be between.
    unread = [[one._replace(read=None) for one in some] for some in (high, low)]
    assert fallen(Ends(*unread)) is None
    late = [one._replace(made=one.made + HOUR if one.made else None) for one in unread[1]]
    assert fallen(Ends(unread[0], late)) is not None
    assert json.dumps(found)


def test_within_a_log_file_a_place_by_offset_is_no_evidence() -> None:
    def position_of(*own: int) -> tuple[int, ...] | None:
        row = {
            **{"operation": "update", "scope": None, "kept_as": CHANGE, "stream": None},
            **{"log_position": (0, 1, *own), "dedup_prefix": 2 + len(own)},
            **{"event_at": 5, "extracted_at": None, "event_id": "e"},
        }
        found = point_of(cast("Row", SimpleNamespace(**row)), None)
        return found and found[1].position

    assert position_of(12, BEHIND_ALL_POINTS + 7, 1, 0) == (1, 12)
    assert position_of(12, 400, 1, 0) == (1, 12, 400, 1, 0)
