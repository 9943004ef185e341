"""Where events stand in their commits: drawn deliveries, and the rule of ``commit_positions`` in a simple form."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from random import Random

import pytest

from tests.support.decoded import decoded, records_of
from tests.support.dgraph_cluster import Cluster, cluster_feed, files, sent, text_of
from transforms.formats.dgraph.commit_positions import (
    CommitPosition,
    Waiting,
    commit_positions,
    waiting,
)
from transforms.formats.dgraph.statements import Statement

SEED = os.environ.get("WEIR_LAW_SEED", "1")
OBJECTS = 4_000
HISTORIES = 300


@dataclass(frozen=True)
class Said:
    """An event of an object, at its offset in the topic."""

    at: int
    namespace: str
    commit_ts: int | None
    kind: str
    op: str
    uid: str | None
    attr: str | None
    value: str | None

    @property
    def commit(self) -> tuple[str, int | None]:
        return self.namespace, self.commit_ts

    @property
    def words(self) -> tuple[str | None, ...]:
        return self.op, self.value

    def waiting(self) -> Waiting:
        kind = None if self.value is None else "string"
        said = Statement(
            *(self.namespace, self.commit_ts, self.kind, self.op),
            *(self.uid, self.attr, self.value, kind),
        )
        return waiting(said, at=self.at, has_offset=True)


def expected(said: list[Said]) -> list[CommitPosition]:
    """The rule, for each event on its own: whatever it needs is looked for in the whole object."""
    everywhere = range(len(said))
    begins = [n == 0 or said[n].commit != said[n - 1].commit for n in everywhere]
    run = [sum(begins[: n + 1]) for n in everywhere]

    def has_come_before(n: int, run_of_n: list[int]) -> bool:
        slot_before = [m for m in run_of_n if run[m] < run[n]]
        return any(said[m].words == said[n].words for m in slot_before)

    found = []
    for n in everywhere:
        one = said[n]
        slot = [
            m
            for m in everywhere
            if said[m].commit == one.commit and (said[m].uid, said[m].attr) == (one.uid, one.attr)
        ]
        runs = sorted({run[m] for m in slot})
        # Behind a gap a new delivery begins if any of the events up to the next gap was there before.
        starts = [
            at
            for at in runs
            if at == runs[0] or any(has_come_before(m, slot) for m in slot if run[m] == at)
        ]
        mine = max(at for at in starts if at <= run[n])
        next_one = min([at for at in starts if at > mine], default=len(said) + 1)
        delivery = [m for m in slot if mine <= run[m] < next_one]
        so_far = [m for m in delivery if m <= n]
        was_begun_here = run[delivery[0]] > 1
        goes_on = run[delivery[-1]] < run[-1]
        kind = 0 if was_begun_here else 2 if goes_on else 1
        newer = [
            m
            for m in range(n)
            if (one.op == "all" or said[m].namespace == one.namespace)
            and (said[m].commit_ts or 0) > (one.commit_ts or 0)
        ]
        found.append(
            CommitPosition(
                (kind, -len(delivery), len(so_far), one.at),
                copy=sum(said[m].words == one.words for m in so_far),
                sets=sum(said[m].op == "set" for m in delivery),
                is_behind=bool(one.kind == "drop" and one.commit_ts is not None and newer),
            )
        )
    return found


def drawn(rng: Random) -> list[Said]:
    """An object: pieces of a few commits, whole, cut, from their middle, again, between each other."""
    commits = [
        [event(rng, commit_ts) for _ in range(rng.randint(1, 6))]
        for commit_ts in rng.sample([4, 5, 6, 7, None], rng.randint(1, 4))
    ]
    pieces = []
    for _ in range(rng.randint(0, 8)):
        commit = rng.choice(commits)
        start, end = sorted(rng.choices(range(len(commit) + 1), k=2))
        pieces.append(rng.choice([commit, commit[start:], commit[:end], commit[start:end]]))
    if rng.random() < 0.3:
        # Groups that send at once.
        pieces = [[one] for piece in pieces for one in piece]
        rng.shuffle(pieces)
    drawn_events = [one for piece in pieces for one in piece]
    return [Said(at, *one) for at, one in enumerate(drawn_events, start=7)]


def event(
    rng: Random, commit_ts: int | None
) -> tuple[str, int | None, str, str, str | None, str | None, str | None]:
    namespace = rng.choice(["0", "0", "0", "1"])
    if rng.random() < 0.1:
        op = rng.choice(["all", "data"])
        return (namespace, commit_ts, "drop", op, None, None, None)
    op, uid, value = rng.choice(["set", "set", "del"]), rng.choice("33334"), rng.choice("ab")
    return (namespace, commit_ts, "mutation", op, uid, "name", value)


def test_positions_are_those_of_the_rule_whatever_an_object_holds() -> None:
    for number in range(OBJECTS):
        said = drawn(Random(f"{SEED} {number}"))
        actual = list(commit_positions([one.waiting() for one in said]))
        assert actual == expected(said), f"object {number} of seed {SEED}"


def test_a_record_that_was_read_twice_stands_at_one_position() -> None:
    for number in range(OBJECTS // 4):
        rng = Random(f"{SEED} {number}")
        said = drawn(rng)
        times = [rng.choice([1, 1, 2, 3]) for _ in said]
        twice = [
            one.waiting() for one, often in zip(said, times, strict=True) for _ in range(often)
        ]
        once = zip(commit_positions([one.waiting() for one in said]), times, strict=True)
        repeated = [position for position, often in once for _ in range(often)]
        assert list(commit_positions(twice)) == repeated, f"object {number} of seed {SEED}"


def parts_of(line: str) -> tuple[str | None, ...]:
    """The identity of the event in a line of the cluster's: none comes twice in a commit."""
    document = json.loads(line)
    value, what = document["value"], document["value"]["event"]
    start = (str(value["meta"]["commit_ts"]), document["key"], value["type"], what["operation"])
    if value["type"] == "drop":
        return (*start, None, what["pred"] or None, None, None, "1")
    return (*start, str(what["uid"]), what["attr"], text_of(what["value"]), what["value_type"], "1")


def test_each_event_of_a_cluster_is_one_and_stands_where_its_commit_has_it() -> None:
    feed = cluster_feed()
    for number in range(HISTORIES):
        rng = Random(f"{SEED} {number}")
        cluster = Cluster(rng)
        for _ in range(rng.randint(3, 25)):
            cluster.drop() if rng.random() < 0.1 else cluster.transaction()
        cluster.transaction()
        landed = files(list(sent(cluster.commits, rng)), rng)
        positions: dict[tuple[str | None, ...], tuple[int | None, ...]] = {}
        for _, found in decoded(feed, records_of(feed, landed)):
            assert found.fault is None
            assert found.log_position is not None
            known = positions.setdefault(found.identity, found.log_position)
            positions[found.identity] = min(known, found.log_position)
        slots: dict[tuple[str | None, ...], list[tuple[str | None, ...]]] = {}
        for commit in cluster.commits:
            for one in map(parts_of, commit):
                slots.setdefault((*one[:3], *one[4:6]), []).append(one)
        assert positions.keys() == {one for slot in slots.values() for one in slot}
        for slot in slots.values():
            assert sorted(slot, key=lambda one: positions[one]) == slot, f"{number} of {SEED}"
            assert len({positions[one] for one in slot}) == len(slot)


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_hundred_thousand_events_of_one_value_in_one_commit_take_their_positions(
    is_cut: bool,
) -> None:
    """What looks at an event's neighbours again for each event would not end."""
    size = 100_000
    events = [
        Said(at, "0", 5, "mutation", "set", "3", "name", str(at % 1_000)).waiting()
        for at in range(size)
    ]
    if is_cut:
        other = Said(0, "0", 4, "mutation", "set", "9", "name", "z").waiting()
        events = [one for mine in events for one in (mine, other)]
    last = list(commit_positions(events))[-2 if is_cut else -1]
    assert last.within == ((0, -1, 1, size - 1) if is_cut else (1, -size, size, size - 1))
