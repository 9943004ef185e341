"""Faults of snapshots: where their rows stand, when one is complete, and what it removes."""

from __future__ import annotations

from typing import Final

from tests.laws.mutations.mutation import Mutation

_POSITIONS = "transforms/formats/debezium/log_positions.py"


def _heals(kind: str) -> str:
    """The law over one kind of source."""
    return (
        "tests/laws/snapshots/test_any_snapshot_heals.py"
        f"::test_a_snapshot_heals_whatever_the_order_the_repeats_and_the_windows[{kind}]"
    )


def _begins_again(kind: str) -> str:
    """The law of logs that begin again, over one kind of source."""
    return (
        "tests/laws/snapshots/test_any_snapshot_heals.py"
        f"::test_a_log_that_begins_again_stops_gold_until_its_epoch_is_opened[{kind}]"
    )


OF_SNAPSHOTS: Final = (
    Mutation(
        9,
        "a snapshot's rows stand behind the changes at its own place, and undo them",
        _POSITIONS,
        '"postgresql": Connector(_postgres, "lsn", BEFORE),',
        '"postgresql": Connector(_postgres, "lsn", BEHIND),',
        _heals("postgres"),
    ),
    Mutation(
        9,
        "a transaction that began before a snapshot and ended behind it is undone",
        _POSITIONS,
        "at = own if last_commit is None else max(last_commit, own)",
        "at = own",
        _heals("postgres"),
    ),
    Mutation(
        9,
        "rows that vanished while changes were lost stay",
        _POSITIONS,
        'ends=flag.startswith("last"),',
        "ends=False,",
        _heals("postgres"),
    ),
    Mutation(
        9,
        "a snapshot of which a row is missing removes that row",
        "transforms/silver/snapshots.py",
        "first <= begin and end <= last for first, last in stretches.offsets",
        "True for first, last in stretches.offsets",
        _heals("postgres"),
    ),
    Mutation(
        9,
        "a snapshot that lands in a window of its own removes nothing",
        "assets/gold/snapshot_deletes.py",
        '"is_new": bool(one.windows & brought),',
        '"is_new": False,',
        _heals("postgres"),
    ),
    Mutation(
        9,
        "a row of which no change comes stays although a snapshot does not name it",
        "transforms/gold/newest.py",
        "deleted = (~stays & ~((rows == 0) & is_before)) | is_odd",
        "deleted = is_odd",
        _heals("postgres"),
    ),
    Mutation(
        9,
        "a row of an incremental snapshot undoes the changes behind the commit that it was read at",
        _POSITIONS,
        "rank = BEFORE if connector.place_of is _postgres else BEHIND",
        "rank = BEHIND",
        _heals("postgres"),
    ),
    Mutation(
        9,
        "a snapshot of MySQL undoes the first change behind it",
        _POSITIONS,
        '"mysql": Connector(_mysql, "file and pos", BEFORE),',
        '"mysql": Connector(_mysql, "file and pos", BEHIND),',
        _heals("mysql"),
    ),
    Mutation(
        9,
        "changes of a compressed transaction of MySQL count by the number of their row",
        _POSITIONS,
        "return Place((number, position), (envelope.message.offset or 0,), identity, varying=1)",
        "return Place((number, position), (row,), identity, varying=1)",
        _heals("mysql"),
    ),
    Mutation(
        9,
        "a snapshot of MariaDB undoes the first transaction behind it",
        _POSITIONS,
        '"mariadb": Connector(_mariadb, "file and pos", BEFORE),',
        '"mariadb": Connector(_mariadb, "file and pos", BEHIND),',
        _heals("mariadb"),
    ),
    Mutation(
        9,
        "of MariaDB's changes without a place the shorter one counts last",
        _POSITIONS,
        "return self.place is not None and self.place.at[-1] >= 0",
        "return self.place is not None",
        _heals("mariadb_negative"),
    ),
    Mutation(
        9,
        "a second snapshot of MariaDB stands before all changes without a place, and heals nothing",
        _POSITIONS,
        "return _unplaced(envelope, place.at[0], BEHIND_ALL_PLACES)",
        "return _unplaced(envelope, BEHIND_ALL_PLACES, 0)",
        _heals("mariadb_negative"),
    ),
    Mutation(
        9,
        "changes of one commit of SQL Server count by the number of their event before all else",
        _POSITIONS,
        "within = (*change, serial)",
        "within = (serial, *change)",
        _heals("sql_server"),
    ),
    Mutation(
        9,
        "a later snapshot of a tablet stands before all changes, and heals nothing",
        "transforms/formats/yugabyte/get_changes.py",
        "return *START, *checkpoint.op_id, AFTER_TRANSACTION, at[0] or 0, at[1] or 0",
        "return EPOCH, SNAPSHOT, at[0] or 0, at[1] or 0",
        _heals("yugabyte"),
    ),
    Mutation(
        9,
        "a log whose files are numbered from 1 again goes on, in a window with changes of before",
        "transforms/silver/log_resets.py",
        "if made_before is not None and made < made_before and read_falls:",
        "if False:",
        _begins_again("mysql"),
    ),
    Mutation(
        9,
        "a restored database goes on, and its changes stand before the older ones",
        "transforms/silver/log_resets.py",
        'falls_short = tuple(row["last_position"]) < tuple(before["first_position"])',
        "falls_short = False",
        _begins_again("sql_server"),
    ),
    Mutation(
        9,
        "rows that an epoch's complete snapshot does not name stay",
        "assets/gold/snapshot_deletes.py",
        "if epoch.complete",
        "if not epoch.complete",
        _begins_again("yugabyte"),
    ),
    Mutation(
        9,
        "a row that is gone is back where its insert comes again behind a compaction",
        "transforms/silver/faults.py",
        "tuple(log_position[:dedup_prefix]) <= compaction_watermark.log_position[:dedup_prefix]",
        "False",
        _heals("yugabyte"),
    ),
    Mutation(
        9,
        "compaction ends within a snapshot of a tablet, whose last rows then come too late",
        "assets/gold/snapshot_deletes.py",
        'if row["window"] == newest or _is_last(one, end)]',
        "if False]",
        _heals("yugabyte"),
    ),
)
