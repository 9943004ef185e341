"""How a feed's source stands now: asked of the tables, of the broker and, where it is declared, of the database.

What the figures mean is for ``transforms.source_health`` to say. Nothing is changed anywhere by a look.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import pyarrow.compute as pc

from assets.control import ledger
from assets.landing import kafka
from assets.source.database import Database, address_of, is_told, opened
from assets.storage.lake import Lake, Layer
from transforms.errors import SettingMisdeclared, UnreadableLanding, UnreadableSource
from transforms.feed.feed import Feed
from transforms.source_health import (
    BinaryLog,
    BinaryLogs,
    PartitionOffsets,
    ReplicationSlot,
    SourceFacts,
    TableEvents,
    read_of_binary_log,
)

HEARTBEAT: Final = "heartbeat"
"""What silver calls the operation of a connector's heartbeat."""

WINDOWS: Final = 3
"""In how many of the newest windows that have rows of no table a heartbeat is looked for."""


def look(lake: Lake, feed: Feed, now: datetime) -> SourceFacts:
    """How the source stands at this moment; what does not answer is among the facts, and no error."""
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name).rows(_COLUMNS)
    unasked: list[str] = []
    slots, logs = _of_database(feed, [row["last_position"] for row in accounts], unasked)
    return SourceFacts(
        looked_at=now,
        tables=newest_events(accounts),
        heartbeat_at=_newest_heartbeat(lake, feed, accounts),
        partitions=_partitions(lake, feed, unasked) if feed.reads_topics else None,
        slots=slots,
        binary_logs=logs,
        unasked=tuple(unasked),
    )


_COLUMNS: Final = (
    *("window", "table", "source_table", "declared", "control", "newest_event_at", "last_position"),
)


def newest_events(accounts: Sequence[Any]) -> tuple[TableEvents, ...]:
    """The tables of a feed's accounts, each with its newest event, in the order of their names.

    A table has the name of the feed file, or else that of the stream.
    """
    found: dict[str, datetime | None] = {}
    for row in accounts:
        name = row["declared"] or row["source_table"]
        if row["table"] or row["source_table"]:
            moments = (found.get(name), row["newest_event_at"])
            found[name] = max((one for one in moments if one is not None), default=None)
    return tuple(TableEvents(name, found[name]) for name in sorted(found))


def _newest_heartbeat(lake: Lake, feed: Feed, accounts: Sequence[Any]) -> datetime | None:
    """When the connector sent the newest heartbeat that was read; looked for only where the feed file asks for it."""
    if feed.running.health.heartbeat is None:
        return None
    windows = {row["window"] for row in accounts if row["control"] and not row["source_table"]}
    silver = lake.in_process_table(Layer.SILVER, feed.name)
    for window in sorted(windows, reverse=True)[:WINDOWS]:
        rows = silver.read(["operation", "extracted_at"], {"window": [window]})
        beats = rows.filter(pc.equal(rows["operation"], HEARTBEAT))
        newest: datetime | None = pc.max(beats["extracted_at"]).as_py()
        if newest is not None:
            return newest
    return None


def _partitions(lake: Lake, feed: Feed, unasked: list[str]) -> tuple[PartitionOffsets, ...] | None:
    """The partitions of the feed's topics, and how far bronze has them."""
    try:
        there = kafka.look_at_topics(feed)
    except UnreadableLanding as fault:
        unasked.append(str(fault))
        return None
    read = ledger.read_offsets(lake, feed)
    known = {key: one.next_offset for key, one in read.items()}
    return tuple(
        PartitionOffsets(one.name, known.get((one.name, one.topic_id), 0), one.earliest, one.end)
        for one in there
    )


def _of_database(
    feed: Feed, positions: Sequence[Sequence[int] | None], unasked: list[str]
) -> tuple[tuple[ReplicationSlot, ...] | None, BinaryLogs | None]:
    """What the source's database says of itself: its slots, or its binary log; neither where no address is declared."""
    if not is_told(feed):
        return None, None
    try:
        address = address_of(feed)
        with opened(feed, address) as database:
            if address.is_postgres:
                return replication_slots(database), None
            # Other formats number their positions in other ways.
            read = read_of_binary_log(positions) if feed.format == "debezium" else (None, None)
            return None, binary_logs(database, *read)
    except (UnreadableSource, SettingMisdeclared) as fault:
        unasked.append(str(fault))
        return None, None


_SLOTS: Final = """
SELECT slot_name, active, wal_status, safe_wal_size,
       (confirmed_flush_lsn - '0/0'::pg_lsn)::bigint AS confirmed, (restart_lsn - '0/0'::pg_lsn)::bigint AS restart,
       (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END
        - '0/0'::pg_lsn)::bigint AS written
FROM pg_replication_slots WHERE slot_type = 'logical' AND database = current_database() ORDER BY slot_name
"""


def replication_slots(database: Database) -> tuple[ReplicationSlot, ...]:
    """The logical replication slots of a Postgres database, by name."""
    return tuple(
        ReplicationSlot(
            name=row["slot_name"],
            is_active=row["active"],
            wal_status=row["wal_status"],
            written=row["written"],
            confirmed=row["confirmed"],
            restart=row["restart"],
            wal_left=row["safe_wal_size"],
        )
        for row in database.rows(_SLOTS)
    )


_EXPIRY: Final = """
SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_expire_logs_seconds', 'expire_logs_days')
"""


def binary_logs(database: Database, read_file: int | None, read_position: int | None) -> BinaryLogs:
    """The binary log of a MySQL or MariaDB, of which was read up to this place."""
    settings = {row["Variable_name"]: row["Value"] for row in database.rows(_EXPIRY)}
    if settings.get("log_bin") != "ON":
        return BinaryLogs((), None, read_file, read_position)
    files = (
        BinaryLog(row["Log_name"], int(row["File_size"]))
        for row in database.rows("SHOW BINARY LOGS")
    )
    seconds = float(settings.get("binlog_expire_logs_seconds") or 0)
    # MariaDB has both, and keeps them equal; before 10.6, and in MySQL 5.7, there are days alone.
    seconds = seconds or 86_400 * float(settings.get("expire_logs_days") or 0)
    return BinaryLogs(tuple(files), int(seconds) or None, read_file, read_position)
