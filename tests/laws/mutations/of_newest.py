"""Faults of what decides a key by its newest change: a key is taken for decided that the fold has to decide.

Not here: faults of the fold (``of_gold``), and of which keys are folded again (``of_stages``).
"""

from __future__ import annotations

from typing import Final

from tests.laws.mutations.mutation import Mutation, of_kind

NEWEST = "transforms/gold/newest.py"


def _equal(kind: str) -> str:
    """The law that says the same as the fold, over one kind of history."""
    return (
        "tests/laws/gold/test_newest_laws.py"
        f"::test_the_newest_change_decides_what_the_fold_decides[{kind}]"
    )


OF_NEWEST: Final = (
    Mutation(
        1,
        "whole rows of log file 10 come before those of log file 9",
        NEWEST,
        "less |= equal & (ones[:, at] < others[:, at])",
        "less |= equal & (ones[:, at].astype(str) < others[:, at].astype(str))",
        of_kind("stock"),
    ),
    Mutation(
        1,
        "of two changes at one position the one counts that stands last in the batch",
        NEWEST,
        "found: Numbers = is_odd | is_tied",
        "found: Numbers = is_odd",
        of_kind("stock"),
    ),
    Mutation(
        1,
        "positions of replicas are compared beyond what they agree in",
        NEWEST,
        "stable = positions[:, : _stable_width(batch, positions)]",
        "stable = positions",
        of_kind("replica"),
    ),
    Mutation(
        1,
        "a late update of one column is forgotten where a newer one was of another column",
        NEWEST,
        "older = has_reset & _less(positions[keys.last], reset)",
        "older = has_stored & _less(positions[keys.last], positions[stored])",
        of_kind("stock"),
    ),
    Mutation(
        1,
        "an update that comes late, and with it gold's last change once more, is forgotten",
        NEWEST,
        "same = has_reset & is_event & (newest == last).all(axis=1) & (reset == last).all(axis=1)",
        "same = has_stored & is_event & (newest == last).all(axis=1)",
        of_kind("stock"),
    ),
    Mutation(
        1,
        "another change at the position of gold's last one is taken for that one",
        NEWEST,
        "same = has_reset & is_event & (newest == last).all(axis=1) & (reset == last).all(axis=1)",
        "same = has_reset & (newest == last).all(axis=1) & (reset == last).all(axis=1)",
        of_kind("stock"),
    ),
    Mutation(
        1,
        "a change that is older than gold's row takes its place where the change gives a whole row",
        NEWEST,
        "newer = newest_is_whole & (~has_stored | ((stays | is_before) & follows))",
        "newer = newest_is_whole",
        of_kind("stock"),
    ),
    Mutation(
        1,
        "the changes of a key that begins in one batch and ends in the next are not brought together",
        NEWEST,
        "if begin == 0 and (continues or not held):",
        "if begin == 0 and not held:",
        _equal("stock"),
    ),
    Mutation(
        1,
        "the rows behind a key with very many changes are lost",
        NEWEST,
        "left.append(batch.slice(first))",
        "pass",
        _equal("stock"),
    ),
    Mutation(
        9,
        "a whole row that is older than a complete snapshot is taken although that does not name it",
        NEWEST,
        "is_whole[keys.last] & stands.is_behind(keys.last)",
        "is_whole[keys.last]",
        _equal("stock"),
    ),
    Mutation(
        3,
        "a repeat is not counted where a newer change came with it",
        NEWEST,
        "follows = _less(positions[stored], positions[change])",
        "follows = _less(positions[stored], positions[keys.last])",
        _equal("stock"),
    ),
    Mutation(
        3,
        "the delete half of a key change is counted as an event",
        NEWEST,
        'is_event = _truths(batch, "is_new") & ~_truths(batch, "is_derived")',
        'is_event = _truths(batch, "is_new")',
        _equal("stock"),
    ),
    Mutation(
        4,
        "a row that is older than its tombstone counts, as a crash leaves it",
        NEWEST,
        "((rows == 0) | ((rows == 1) & row_is_newer))",
        "(rows <= 1)",
        _equal("stock"),
    ),
    Mutation(
        4,
        "a tombstone counts for nothing: what is older than the delete brings the row back",
        NEWEST,
        "has_stored = (rows + stones) > 0",
        "has_stored = rows > 0",
        of_kind("stock"),
    ),
    Mutation(
        5,
        "an update of some columns takes the place of the whole row",
        NEWEST,
        "found & plain & (mentioned == len(wanted))",
        "found & plain & (mentioned > 0)",
        of_kind("stock"),
    ),
)
