"""What new changes do to a key by hand: newer, superseded, known, or in need of the key's history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from transforms.change import Change, Image, LogPosition
from transforms.compaction_watermarks import CompactionWatermark
from transforms.gold.fold import ABSENT, Fold, State, unread_state
from transforms.gold.key_groups import DeliveryCounts, StoredRow
from transforms.gold.ordering import sorted_distinct
from transforms.gold.stages import Outcome, apply_new_changes, refold

FOLD = Fold({"id": "int", "name": "string", "visits": "int"}, ("id",), {}, has_key=True)
WHOLE: Image = {"id": "1", "name": "Ada", "visits": "1"}


def change(
    effect: str,
    at: int,
    after: Image | None = None,
    *,
    operations: Mapping[str, str] | None = None,
    is_range_delete: bool = False,
    event: str | None = None,
) -> Change:
    """A change of the key at a position of its stream."""
    return Change(
        *(effect, (0, 1, at), 3, event or f"event {at}", None, {}),
        *(after or {}, operations or {}),
        is_range_delete=is_range_delete,
        is_derived=is_range_delete,
    )


def stands(*changes: Change) -> State:
    """What the key is after these."""
    return FOLD.after(sorted_distinct(changes))


def met(current: State, *changes: Change, keeps_history: bool = False) -> Outcome:
    """What these do to a key that gold has so."""
    return apply_new_changes(FOLD, StoredRow(current), changes, keeps_history=keeps_history)


@pytest.mark.parametrize(
    ("last", "reset"),
    [
        (change("replace", 5, {"id": "1"}), (0, 1, 5)),
        (change("remove", 5), (0, 1, 5)),
        (change("update", 5, WHOLE), (0, 1, 5)),
        (change("update", 5, WHOLE, operations={"name": "Overwrite"}), (0, 1, 5)),
        # What it leaves out, adds to or asks for is a matter of what was there before.
        (change("update", 5, {"id": "1", "name": "Bo"}), (0, 1, 2)),
        (change("update", 5, WHOLE, operations={"visits": "Add"}), (0, 1, 2)),
        (change("update", 5, WHOLE, operations={"name": "IgnoreIfExisted"}), (0, 1, 2)),
        (change("remove_if", 5), (0, 1, 2)),
        # Whether it counts at all is, too.
        (change("remove", 5, is_range_delete=True), (0, 1, 2)),
    ],
)
def test_the_reset_position_is_that_of_what_no_older_change_can_matter_to(
    last: Change, reset: tuple[int, ...]
) -> None:
    state = stands(change("replace", 2, WHOLE), last)
    assert state.reset == reset
    late = met(state, change("replace", 1, WHOLE))
    assert (late.superseded, late.needs_history, late.state) == (1, False, None)
    between = met(state, change("update", 3, {"id": "1", "name": "Cy"}))
    if reset == (0, 1, 5):
        assert (between.superseded, between.needs_history) == (1, False)
    else:
        assert (between.superseded, between.needs_history) == (0, True)


def test_a_first_update_of_a_part_has_no_reset_position() -> None:
    state = stands(change("update", 5, {"id": "1", "name": "Ada"}))
    assert state.reset is None
    assert met(state, change("replace", 1, WHOLE)).needs_history


def test_the_last_change_is_known_when_it_comes_again() -> None:
    state = stands(change("replace", 2, WHOLE), change("update", 5, {"id": "1", "name": "Bo"}))
    again = met(state, change("update", 5, {"id": "1", "name": "Bo"}))
    assert (again.known, again.needs_history, again.state) == (1, False, None)
    # Another event at its very position ties with it: which applies last is in their content.
    assert not again.counts.has_ties
    tied = met(state, change("update", 5, {"id": "1", "name": "Cy"}, event="another"))
    assert (tied.needs_history, tied.counts.has_ties) == (True, True)
    range_delete = met(
        state, change("update", 5, {"name": None}, event="drop", is_range_delete=True)
    )
    assert not range_delete.counts.has_ties


def test_another_delivery_of_the_last_change_counts_where_it_stands_before_it() -> None:
    """Each of Cassandra's replicas numbers a mutation in its own way: the smallest counts."""

    def replica(number: int) -> Change:
        return Change("replace", (0, 1, 5, number), 3, "event", None, {}, WHOLE, {})

    state = stands(replica(7))
    assert met(state, replica(9)).known == 1
    assert met(state, replica(3)).needs_history


def test_of_deliveries_of_the_last_change_the_earliest_time_counts() -> None:
    """Two snapshots of a source that stood still have rows that differ in nothing but when they were read."""
    at = {time: replace(change("replace", 5, WHOLE), event_at=time) for time in (None, 3, 7)}
    later = met(stands(at[3]), at[7])
    assert (later.known, later.state) == (1, None)
    for earlier in (3, None):
        found = met(stands(at[7]), at[earlier])
        assert (found.known, found.needs_history) == (1, False)
        assert found.state == stands(at[earlier])
        assert met(stands(at[7]), at[earlier], keeps_history=True).needs_history


def test_where_every_version_is_kept_nothing_is_superseded() -> None:
    state = stands(change("replace", 5, WHOLE))
    assert met(state, change("replace", 1, WHOLE), keeps_history=True).needs_history


def test_newer_changes_are_folded_onto_what_is_there() -> None:
    state = stands(change("replace", 2, WHOLE))
    found = met(
        state,
        change("update", 3, {"id": "1", "visits": "4"}, operations={"visits": "Add"}),
        change("update", 4, {"id": "1", "name": "Bo"}),
    )
    assert found.state is not None
    assert found.state.columns == {"id": "1", "name": "Bo", "visits": "5"}
    assert found.state.last is not None
    assert found.state.last.log_position == (0, 1, 4)
    assert found.state.reset == (0, 1, 2)


def test_a_row_that_its_tombstone_is_newer_than_goes_without_any_news() -> None:
    gone = stands(change("replace", 2, WHOLE), change("remove", 5))
    found = apply_new_changes(
        FOLD, StoredRow(gone, is_torn=True), [change("remove", 5)], keeps_history=False
    )
    assert found.state == gone


def test_a_key_that_was_never_seen_begins_with_nothing() -> None:
    found = apply_new_changes(FOLD, None, [change("update", 3, {"id": "1"})], keeps_history=False)
    assert found.state is not None
    assert found.state.effect == "replace"
    assert apply_new_changes(FOLD, None, [], keeps_history=False).state is None
    assert ABSENT.last is None


def test_of_two_deliveries_at_one_position_the_same_one_counts_in_whatever_order() -> None:
    early = Change("replace", (0, 1, 5), 3, "event", 7, {}, WHOLE, {})
    late = Change("replace", (0, 1, 5), 3, "event", 9, {}, WHOLE, {})
    unsaid = Change("replace", (0, 1, 5), 3, "event", None, {}, WHOLE, {})
    for some, first in (((early, late), early), ((late, unsaid), unsaid)):
        assert list(sorted_distinct(some)) == list(sorted_distinct(some[::-1])) == [first]


BORN = change("replace", 1, WHOLE)
NAMED = change("update", 5, {"id": "1", "name": "Bo"})
VISITED = change("update", 9, {"id": "1", "visits": "2"})
TIED = change("update", 5, {"id": "1", "visits": "3"}, event="another")


@pytest.mark.parametrize(
    ("before", "now", "came_late"),
    [
        ([BORN, NAMED], [BORN, NAMED], False),
        ([BORN, NAMED], [BORN, NAMED, VISITED], False),
        ([BORN, NAMED], [BORN, change("update", 3, {"id": "1", "visits": "7"}), NAMED], True),
        ([BORN, NAMED], [BORN, change("update", 3, {"id": "1", "name": "Cy"}), NAMED], False),
        ([NAMED], [BORN, NAMED], True),
        ([BORN, VISITED], [BORN, change("remove", 4), VISITED], True),
        ([BORN, change("remove", 9)], [BORN, NAMED, change("remove", 9)], False),
        # A tie with the last one, which gold has not met, or has; and something late beside it.
        ([BORN, NAMED], [BORN, NAMED, TIED], False),
        ([BORN, TIED, NAMED], [BORN, TIED, NAMED], False),
        ([NAMED], [BORN, NAMED, TIED], True),
        ([], [BORN, NAMED], False),
    ],
)
def test_an_event_is_late_where_what_stands_before_the_last_one_makes_another_row(
    before: list[Change], now: list[Change], came_late: bool
) -> None:
    current = StoredRow(stands(*before)) if before else None
    assert refold(FOLD, current, sorted_distinct(now)) == (stands(*now), came_late)


def test_a_key_that_its_base_tells_has_nothing_late() -> None:
    base = stands(BORN, NAMED)
    assert refold(FOLD, StoredRow(base), [], base) == (base, False)
    assert refold(FOLD, StoredRow(base), [VISITED], base)[1] is False


def test_of_a_row_that_was_not_read_it_is_only_known_that_it_is_there() -> None:
    last = stands(BORN, NAMED).last
    assert last is not None
    current = StoredRow(unread_state(is_present=True, last=last))
    assert not current.says(FOLD, stands(BORN, NAMED))
    assert current.has_row_of(FOLD, stands(BORN, NAMED))
    assert not current.has_row_of(FOLD, stands(BORN, change("remove", 9)))


@pytest.mark.parametrize(
    ("mine", "theirs", "compaction_watermark", "is_said"),
    [
        # Gold's is from before the cut, which left none; or the base has one, and gold did not.
        ((0, 1, 2), None, (0, 1, 4), True),
        (None, (0, 1, 3), (0, 1, 4), True),
        ((0, 1, 2), (0, 1, 3), (0, 1, 4), True),
        # Above it each is what it says.
        ((0, 1, 5), None, (0, 1, 4), False),
        (None, (0, 1, 5), (0, 1, 4), False),
        ((0, 1, 5), (0, 1, 5), (0, 1, 4), True),
        # Without a cut every one counts.
        (None, (0, 1, 3), None, False),
    ],
)
def test_a_reset_position_below_the_watermark_is_as_good_as_none(
    mine: LogPosition | None,
    theirs: LogPosition | None,
    compaction_watermark: LogPosition | None,
    *,
    is_said: bool,
) -> None:
    row = stands(BORN, NAMED)
    current = StoredRow(replace(row, reset=mine))
    cut = None if compaction_watermark is None else CompactionWatermark(compaction_watermark)
    assert current.says(FOLD, replace(row, reset=theirs), cut) is is_said


def test_what_is_known_is_a_repeat_and_what_else_stands_before_the_last_one_is_superseded() -> None:
    news = DeliveryCounts(stands(BORN, NAMED).last)
    for one, is_new in ((BORN, True), (BORN, True), (NAMED, True), (TIED, True), (VISITED, True)):
        news.add(one, is_new=is_new)
    # The second delivery, and the last one once more; neither the tie nor what is newer.
    assert (news.deliveries, news.repeats()) == (5, 2)
    assert (news.superseded(came_late=False), news.superseded(came_late=True)) == (1, 0)
    news.add(BORN, is_new=False)
    assert (news.repeats(), news.superseded(came_late=False)) == (3, 0)
