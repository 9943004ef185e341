"""Faults of snapshots: where their rows stand, when one is complete, and what it removes."""

from __future__ import annotations

from typing import Final

from tests.laws.mutations.mutation import Mutation

_POSITIONS = "transforms/formats/debezium/log_positions.py"
_HEALS = (
    "tests/laws/test_any_snapshot_heals.py"
    "::test_a_snapshot_heals_whatever_the_order_the_repeats_and_the_windows"
)

OF_SNAPSHOTS: Final = (
    Mutation(
        9,
        "a snapshot's rows stand behind the changes at its own place, and undo them",
        _POSITIONS,
        '"postgresql": Connector(_postgres, "lsn", BEFORE),',
        '"postgresql": Connector(_postgres, "lsn", BEHIND),',
        _HEALS,
    ),
    Mutation(
        9,
        "a transaction that began before a snapshot and ended behind it is undone",
        _POSITIONS,
        "at = own if last_commit is None else max(last_commit, own)",
        "at = own",
        _HEALS,
    ),
    Mutation(
        9,
        "rows that vanished while changes were lost stay",
        _POSITIONS,
        'ends=flag.startswith("last"),',
        "ends=False,",
        _HEALS,
    ),
    Mutation(
        9,
        "a snapshot of which a row is missing removes that row",
        "transforms/silver/snapshots.py",
        "return any(first <= begin and end <= last for first, last in stretches.offsets)",
        "return True",
        _HEALS,
    ),
    Mutation(
        9,
        "a snapshot that lands in a window of its own removes nothing",
        "assets/bookkeeping/snapshot_deletes.py",
        '"is_new": bool(one.windows & brought),',
        '"is_new": False,',
        _HEALS,
    ),
    Mutation(
        9,
        "a row of which no change comes stays although a snapshot does not name it",
        "transforms/gold/newest.py",
        "deleted = (~stays & ~((rows == 0) & is_before)) | is_odd",
        "deleted = is_odd",
        _HEALS,
    ),
)
