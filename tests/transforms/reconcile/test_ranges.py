"""A law: whatever two copies hold, and however they are cut, the keys found to differ are those that do."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.change import Key
from transforms.reconcile.ranges import Bounds, Digest, Found, Incomparable, Plan, Range, differing


def hashed(key: int, value: int) -> int:
    """A row's hash: rows with other keys have other ones, too."""
    return int.from_bytes(sha256(f"{key}:{value}".encode()).digest()[:8], "big")


@dataclass
class Held:
    """A copy in a dict: each key, a number as a text, with its row's value; keys are in the order of numbers."""

    rows: dict[int, int]
    is_indexed: bool = True
    lacks: frozenset[int] = frozenset()
    questions: list[str] = field(default_factory=list)
    read: int = 0
    keyless: dict[int, int] = field(default_factory=dict)
    """By the first column of keys that have a null behind it, how many rows there are."""

    def without_key(self, low: Key | None, high: Key | None) -> int | None:
        if not self.keyless or (low is not None and not self.is_indexed):
            return None
        ends = (low, high) if self.is_indexed else (None, None)
        found = sum(self.keyless[key] for key in Held(self.keyless).between(*ends))
        self.read += (len(self.between(*ends)) + found) if self.is_indexed else len(self.rows)
        self.questions.append(f"{found} keyless")
        return found

    def can_hold(self, key: Key) -> bool:
        return int(key[0] or 0) not in self.lacks

    def asked(self, keys: int) -> None:
        """A question was about so many rows, or about all that there are."""
        self.read += keys if self.is_indexed else len(self.rows)

    def between(self, low: Key | None, high: Key | None) -> list[int]:
        return sorted(
            key
            for key in self.rows
            if (low is None or key >= int(low[0] or 0))
            and (high is None or key < int(high[0] or 0))
        )

    def digests(self, stretches: Sequence[Bounds]) -> list[list[Digest]]:
        self.questions.append("digests")
        found = []
        for bounds in stretches:
            numbers = [int(one[0] or 0) for one in bounds if one is not None]
            assert numbers == sorted(set(numbers))
            assert self.lacks.isdisjoint(numbers)
            keys = [self.between(*ends) for ends in pairwise(bounds)]
            found.append(
                [
                    Digest(len(some), sum(hashed(key, self.rows[key]) for key in some) % 2**64)
                    for some in keys
                ]
            )
        self.asked(sum(one.rows for some in found for one in some))
        return found

    def hashes(self, ranges: Sequence[Range]) -> dict[Key, int]:
        self.questions.append("hashes")
        keys = [key for one in ranges for key in self.between(one.low, one.high)]
        self.asked(len(keys))
        return {(str(key),): hashed(key, self.rows[key]) for key in keys}

    def cuts(self, one: Range, parts: int) -> list[Key]:
        keys = self.between(one.low, one.high)
        self.asked(len(keys))
        places = {len(keys) * part // parts for part in range(1, parts)} - {0}
        return [(str(keys[at]),) for at in sorted(places)]


MOST_QUESTIONS = 500
"""Far more than any comparison of these tests asks."""

COPIES = st.dictionaries(st.integers(0, 400), st.integers(0, 2**64 - 1), max_size=200)
PLANS = st.builds(
    Plan,
    first=st.integers(1, 300),
    parts=st.integers(2, 20),
    leaf=st.integers(1, 30),
    at_once=st.integers(1, 20),
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[int, int], dict[int, int]]:
    """Two copies that are alike but for some rows, or not at all."""
    source = draw(COPIES)
    gold = dict(source)
    for key in draw(st.lists(st.integers(0, 400), max_size=12)):
        if draw(st.booleans()):
            gold.pop(key, None)
        else:
            gold[key] = draw(st.integers(0, 2**64 - 1))
    return source, draw(st.sampled_from([gold, gold, gold, draw(COPIES)]))


@given(pairs(), PLANS)
def test_what_is_found_is_what_differs(
    both: tuple[dict[int, int], dict[int, int]], plan: Plan
) -> None:
    source, gold = both
    theirs = Held(source, lacks=frozenset(gold) - frozenset(source))
    found = all_of(theirs, Held(gold), plan)
    truth = {key for key in {*source, *gold} if source.get(key) != gold.get(key)}
    assert sorted(found.keys) == sorted((str(key),) for key in truth)
    assert found.is_whole
    assert (found.in_source, found.in_gold) == (len(source), len(gold))
    # Each row is paid for that was asked for.
    assert found.read == theirs.read
    # Of each range that is fetched, one row differs at least.
    assert found.fetched <= plan.leaf * len(truth)


@given(pairs(), PLANS, st.integers(1, 40))
def test_no_more_is_looked_for_than_was_asked(
    both: tuple[dict[int, int], dict[int, int]], plan: Plan, most: int
) -> None:
    source, gold = both
    bounded = Plan(plan.first, plan.parts, plan.leaf, most, plan.at_once)
    found = all_of(Held(source), Held(gold), bounded)
    truth = {(str(key),) for key in {*source, *gold} if source.get(key) != gold.get(key)}
    assert truth.issuperset(found.keys)
    # Where it stopped, it had as many as it was asked for, and no more.
    assert len(found.keys) == (len(truth) if found.is_whole else most)
    assert found.is_whole == (len(truth) <= most)


def test_a_large_table_with_one_fault_is_found_by_few_questions() -> None:
    rows = {key: key * key for key in range(50_000)}
    source = Held(rows)
    found = all_of(source, Held({**rows, 31_415: 0}), Plan(first=50_000, parts=32, leaf=64))
    assert found.keys == [("31415",)]
    assert source.questions == ["digests", "digests", "hashes"]
    assert found.fetched < 64


def test_a_key_that_many_rows_of_the_source_have_ends_the_cutting() -> None:
    """A source whose key is no key: no cut makes fewer of them."""

    class Repeated(Held):
        def digests(self, stretches: Sequence[Bounds]) -> list[list[Digest]]:
            made = super().digests(stretches)
            return [[Digest(one.rows * 1000, one.checksum) for one in some] for some in made]

        def cuts(self, one: Range, parts: int) -> list[Key]:
            keys = self.between(one.low, one.high)
            at = bisect_left(keys, int(one.low[0] or 0) + 1 if one.low else 1)
            return [(str(key),) for key in keys[at : at + 1] if key > 0]

    found = all_of(Repeated({0: 1, 1: 2}), Held({0: 1, 1: 3}), Plan(leaf=10))
    assert found.keys == [("1",)]


def test_rows_with_the_key_of_another_row_are_counted() -> None:
    """Of the two rows one is as in the source, so that no key differs; the table is not the same for all that."""

    class Twice(Held):
        def digests(self, stretches: Sequence[Bounds]) -> list[list[Digest]]:
            made = super().digests(stretches)
            return [[Digest(one.rows + 1, one.checksum) for one in some] for some in made]

    for source, gold in ((Twice, Held), (Held, Twice)):
        found = all_of(source({0: 1, 1: 2}), gold({0: 1, 1: 2}), Plan())
        assert (found.keys, found.repeated) == ([], 1)


def all_of(source: Held, gold: Held, plan: Plan) -> Found:
    """What is found in the end."""
    *_, found = differing(source, gold, plan, len(gold.rows))
    return found


def test_as_many_keys_are_found_as_are_asked_for_however_they_are_spread() -> None:
    rows = {key: key for key in range(5_000)}
    stale = {key: -1 if key % 100 == 0 else key for key in rows}
    found = all_of(Held(rows), Held(stale), Plan(first=5_000, parts=32, leaf=16, most=20))
    assert len(found.keys) == 20
    assert not found.is_whole
    # What only one copy has is counted on: a few of the ranges will do.
    source = Held(rows)
    found = all_of(source, Held({}), Plan(first=5_000, parts=32, leaf=16, most=40))
    assert len(found.keys) == 40
    assert found.fetched <= 40 + 16 * 32


def test_a_table_that_is_read_whole_by_each_question_has_no_more_keys_than_were_asked_for() -> None:
    """All of its small ranges are one question, and each row of them may differ."""
    rows = {key: key for key in range(5_000)}
    source = Held(rows, is_indexed=False)
    plan = Plan(first=6_024, parts=1024, leaf=16, most=400, at_once=1_000_000)
    found = all_of(source, Held(dict.fromkeys(rows, -1)), plan)
    assert (len(found.keys), found.is_whole) == (400, False)
    assert source.questions == ["digests", "hashes"]
    assert found.read == source.read == 10_000


def test_rows_without_a_key_are_counted_stretch_by_stretch() -> None:
    """So that no question is about more rows than others are, and each is paid for before the next one."""
    rows = {key: key for key in range(1_000)}
    plan = Plan(first=100, parts=4, leaf=16)
    source = Held(rows, keyless={-5: 2, 250: 3, 999: 1})
    reads = []
    for found in differing(source, Held(rows), plan, len(rows)):
        assert found.read == source.read
        reads.append(found.read)
    assert (found.keyless, found.keys, found.is_whole) == (6, [], True)
    counts = [one for one in source.questions if one.endswith("keyless")]
    assert [one for one in counts if one != "0 keyless"] == ["2 keyless", "3 keyless", "1 keyless"]
    assert len(counts) == 10
    assert max(later - before for before, later in pairwise([0, *reads])) <= 103
    # Without an index each question is about the whole table, so that one has to do.
    source = Held(rows, is_indexed=False, keyless={-5: 2, 250: 3, 999: 1})
    found = all_of(source, Held(rows), Plan(first=2_000, parts=1024))
    assert (found.keyless, found.read) == (6, source.read)
    assert source.questions == ["digests", "6 keyless"]


def test_copies_that_order_keys_otherwise_are_refused_and_not_cut_for_ever() -> None:
    class Everywhere(Held):
        """Whatever is asked about, all of it is there."""

        rows_anywhere = 1000

        def digests(self, stretches: Sequence[Bounds]) -> list[list[Digest]]:
            self.questions.append("digests")
            if len(self.questions) > MOST_QUESTIONS:
                pytest.fail("ranges are cut for ever")
            return [[Digest(self.rows_anywhere, 0)] * (len(bounds) - 1) for bounds in stretches]

        def cuts(self, one: Range, parts: int) -> list[Key]:
            return [("7",)]

    class Nowhere(Everywhere):
        rows_anywhere = 0

    class Crossed(Everywhere):
        rows_anywhere = -1

    for gold, is_at_once in ((Nowhere({}), False), (Crossed({}), True)):
        source = Everywhere({})
        with pytest.raises(Incomparable, match="orders its keys otherwise"):
            all_of(source, gold, Plan(most=5))
        assert (len(source.questions) == 1) is is_at_once
