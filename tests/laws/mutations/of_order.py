"""Faults of the order of changes, and of recognising what came before.

Not here: other faults of gold (``of_gold``, ``of_stages``, ``of_newest``), and of what comes before it (``of_events``).
"""

from __future__ import annotations

from typing import Final

from tests.laws.mutations.mutation import Mutation, of_kind

FOLD, ORDERING = "transforms/gold/fold.py", "transforms/gold/ordering.py"
ONTO_GOLD = "transforms/gold/stages.py"

OF_ORDER: Final = (
    Mutation(
        1,
        "a change that comes late is forgotten, whatever it says",
        ONTO_GOLD,
        "if reset is None or change.stable >= reset[: change.dedup_prefix]:",
        "if False:",
        of_kind("item"),
    ),
    Mutation(
        1,
        "of two changes at one position the one counts that was read last",
        ONTO_GOLD,
        "if change.stable <= last.log_position[: change.dedup_prefix]:",
        "if change.stable < last.log_position[: change.dedup_prefix]:",
        of_kind("item"),
    ),
    Mutation(
        1,
        "log file 10 comes before log file 9",
        ONTO_GOLD,
        "if change.stable <= last.log_position[: change.dedup_prefix]:",
        "if [*map(str, change.stable)] <= [*map(str, last.log_position[: change.dedup_prefix])]:",
        of_kind("item"),
    ),
    Mutation(
        1,
        "a truncate in log file 10 comes before a change in log file 9",
        ORDERING,
        "return *change.standing, change.event_id, at is not None, at or 0, change.is_past",
        "return *map(str, change.standing), change.event_id, at is not None, at or 0, change.is_past",
        of_kind("item"),
    ),
    Mutation(
        1,
        "a row that is deleted and inserted again in one statement is gone",
        "transforms/change.py",
        '**{"remove": 0, "remove_if": 0, "decrement": 0},',
        '**{"remove": 2, "remove_if": 2, "decrement": 2},',
        of_kind("stock"),
    ),
    Mutation(
        1,
        "of two updates in one statement the first one counts last, now and then",
        ORDERING,
        'yield from chained(tied) if len(tied) > 1 and tied[0].effect == "update" else tied',
        "yield from tied",
        of_kind("item"),
    ),
    Mutation(
        1,
        "a late update of one column is forgotten where a newer one was of another",
        FOLD,
        "reset = change.log_position if is_whole else None if is_new else state.reset",
        "reset = change.log_position",
        of_kind("stock"),
    ),
    Mutation(
        1,
        "a late delete is forgotten where a truncate is newer, and the tombstone names the truncate",
        FOLD,
        "reset = state.reset if change.is_range_delete else log_position",
        "reset = log_position",
        of_kind("graph"),
    ),
    Mutation(
        1,
        "a late change is forgotten where a conditional delete is newer that may not have met its row",
        FOLD,
        'return State("remove", {}, 0, _last(change), state.reset)',
        'return State("remove", {}, 0, _last(change), change.log_position)',
        of_kind("triple"),
    ),
    Mutation(
        2,
        "what a redelivered event adds to a number is added twice",
        ORDERING,
        "if change.event_id not in seen[1]:",
        "if True:",
        of_kind("graph"),
    ),
    Mutation(
        2,
        "a row of a table without a key is there twice where its insert came twice",
        ORDERING,
        "if change.event_id not in seen[1]:",
        "if True:",
        of_kind("log"),
    ),
    Mutation(
        2,
        "a change that comes once more is applied once more, on top of what is newer",
        ONTO_GOLD,
        "if last is not None:",
        "if False:",
        of_kind("graph"),
    ),
    Mutation(
        2,
        "an event that comes again at an earlier position leaves the row where it stands",
        ONTO_GOLD,
        "return change.event_id == last.event_id and change.log_position >= last.log_position",
        "return change.event_id == last.event_id",
        of_kind("replica"),
    ),
)
