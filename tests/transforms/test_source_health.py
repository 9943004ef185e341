from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from transforms.feed.feed import HealthLimits, Limit
from transforms.quantities import spoken_bytes, spoken_seconds
from transforms.source_health import (
    BinaryLog,
    BinaryLogs,
    PartitionOffsets,
    ReplicationSlot,
    SourceFacts,
    TableEvents,
    figures,
    findings,
    read_of_binary_log,
)

NOW = datetime(2025, 11, 20, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = 60, 3_600, 86_400
MIB = 1 << 20
NO_LIMITS = HealthLimits()


def facts_with(**parts: object) -> SourceFacts:
    return replace(SourceFacts(NOW), **parts)  # type: ignore[arg-type]


def tables(**hours: float | None) -> tuple[TableEvents, ...]:
    """Tables, each with the age of its newest event in hours."""
    return tuple(
        TableEvents(name, None if age is None else NOW - timedelta(hours=age))
        for name, age in hours.items()
    )


def told(facts: SourceFacts, limits: HealthLimits = NO_LIMITS) -> list[tuple[str, str, str]]:
    return [(one.concern, one.level, one.says) for one in findings(facts, limits)]


def test_an_old_event_is_nothing_where_no_limit_is_declared() -> None:
    facts = facts_with(tables=tables(orders=2000, countries=90_000, new=None))
    assert told(facts) == []


def test_the_newest_event_of_all_tables_is_what_counts_for_the_source() -> None:
    facts = facts_with(tables=tables(orders=3, countries=2000, new=None))
    for at_limit in (Limit(warn=3 * HOUR), Limit(fail=3 * HOUR)):
        assert told(facts, HealthLimits(newest_event=at_limit)) == []
    says = "the newest event is 3 h old; at most 2.5 h"
    limits = HealthLimits(newest_event=Limit(warn=2.5 * HOUR, fail=4 * HOUR))
    assert told(facts, limits) == [("limit", "warning", says)]
    limits = HealthLimits(newest_event=Limit(warn=HOUR, fail=2 * HOUR))
    assert told(facts, limits) == [("limit", "failing", "the newest event is 3 h old; at most 2 h")]


def test_an_event_of_a_clock_that_is_ahead_is_not_old() -> None:
    facts = facts_with(tables=tables(orders=-5))
    assert told(facts, HealthLimits(newest_event=Limit(warn=1))) == []
    assert facts.age(NOW + timedelta(hours=5)) == timedelta()


def test_a_table_is_silent_while_another_moves() -> None:
    limits = HealthLimits(silent_table=Limit(warn=DAY, fail=3 * DAY))
    facts = facts_with(tables=tables(orders=1, carts=25, visits=80, new=None))
    assert told(facts, limits) == [
        ("limit", "warning", "table carts has sent nothing for 1 d, and others have; at most 1 d"),
        (
            "limit",
            "failing",
            "table visits has sent nothing for 3.3 d, and others have; at most 3 d",
        ),
    ]
    quiet = replace(limits, quiet_tables=frozenset({"carts"}))
    assert [says.split()[1] for _, _, says in told(facts, quiet)] == ["visits"]


def test_no_table_is_silent_where_the_whole_source_is() -> None:
    limits = HealthLimits(silent_table=Limit(warn=DAY))
    assert told(facts_with(tables=tables(orders=25, carts=2500)), limits) == []
    assert told(facts_with(tables=tables(orders=2500)), limits) == []
    assert told(facts_with(tables=tables(new=None)), limits) == []


def test_a_heartbeat_is_missed_where_it_is_asked_for() -> None:
    limits = HealthLimits(heartbeat=Limit(warn=5 * MINUTE))
    beat = facts_with(heartbeat_at=NOW - timedelta(minutes=5))
    assert told(beat, limits) == []
    late = facts_with(heartbeat_at=NOW - timedelta(minutes=6))
    assert told(late, limits) == [
        ("limit", "warning", "the newest heartbeat is 6 min old; at most 5 min")
    ]
    ((concern, level, says),) = told(facts_with(), limits)
    assert (concern, level) == ("limit", "warning")
    assert "no heartbeat was read" in says
    assert told(late) == []


@pytest.mark.parametrize(
    ("read", "earliest", "end", "unread", "lost"),
    [
        (0, 0, 0, 0, 0),
        (0, 0, 7, 7, 0),
        (5, 0, 7, 2, 0),
        (7, 0, 7, 0, 0),
        # Deleted before anybody read the topic: nothing was lost on the way.
        (0, 4, 7, 3, 0),
        # All that was deleted had been read.
        (5, 5, 7, 2, 0),
        (5, 6, 7, 1, 1),
        (5, 7, 7, 0, 2),
        # A topic that has lost its end.
        (9, 0, 7, 0, 0),
    ],
)
def test_what_of_a_partition_is_unread_and_what_is_lost(
    read: int, earliest: int, end: int, unread: int, lost: int
) -> None:
    one = PartitionOffsets("orders/0", read, earliest, end)
    assert (one.unread, one.lost) == (unread, lost)


def test_unread_records_are_told_by_partition() -> None:
    some = (PartitionOffsets("orders/0", 5, 0, 1_207), PartitionOffsets("orders/1", 5, 8, 9))
    facts = facts_with(partitions=some)
    lost = "partition orders/1: Kafka has deleted 3 offsets below 8 that were not read"
    assert told(facts) == [("lost", "failing", lost)]
    found = told(facts, HealthLimits(unread_records=Limit(warn=1_201)))
    unread = "partition orders/0 has 1,202 unread records; at most 1,201"
    assert found == [("lost", "failing", lost), ("limit", "warning", unread)]


SLOT = ReplicationSlot("shop", True, "reserved", 50 * MIB, 40 * MIB, 20 * MIB)


def test_a_slot_is_behind_by_what_is_not_confirmed_and_keeps_log_from_its_restart_on() -> None:
    facts = facts_with(slots=(SLOT,))
    assert (SLOT.lag, SLOT.wal_kept) == (10 * MIB, 30 * MIB)
    assert told(facts) == []
    at_limit = HealthLimits(slot_lag=Limit(warn=10 * MIB), wal_kept=Limit(warn=30 * MIB))
    assert told(facts, at_limit) == []
    above = HealthLimits(slot_lag=Limit(fail=9 * MIB), wal_kept=Limit(warn=29 * MIB))
    assert told(facts, above) == [
        ("limit", "failing", "replication slot shop is 10 MiB behind; at most 9 MiB"),
        (
            *("limit", "warning"),
            "replication slot shop makes Postgres keep 30 MiB of log; at most 29 MiB",
        ),
    ]


def test_a_slot_that_nobody_reads_says_so_and_is_no_fault_by_itself() -> None:
    idle = facts_with(slots=(replace(SLOT, is_active=False),))
    assert told(idle) == []
    ((_, _, says),) = told(idle, HealthLimits(slot_lag=Limit(warn=MIB)))
    assert says == "replication slot shop is 10 MiB behind; nobody reads it now; at most 1 MiB"


def test_log_that_is_left_is_too_little_below_its_limit() -> None:
    facts = facts_with(slots=(replace(SLOT, wal_left=5 * MIB),))
    assert told(facts, HealthLimits(wal_left=Limit(warn=5 * MIB))) == []
    says = "replication slot shop may be lost after 5 MiB more of log; at least"
    limits = HealthLimits(wal_left=Limit(warn=9 * MIB, fail=4 * MIB))
    assert told(facts, limits) == [("limit", "warning", f"{says} 9 MiB")]
    limits = HealthLimits(wal_left=Limit(warn=9 * MIB, fail=6 * MIB))
    assert told(facts, limits) == [("limit", "failing", f"{says} 6 MiB")]


def test_a_lost_slot_is_told_without_any_limit_and_alone() -> None:
    lost = replace(SLOT, wal_status="lost", restart=None, wal_left=-MIB)
    strict = HealthLimits(slot_lag=Limit(warn=1), wal_left=Limit(warn=MIB))
    says = "replication slot shop is lost: Postgres has removed log that was not read"
    for limits in (NO_LIMITS, strict):
        assert told(facts_with(slots=(lost,)), limits) == [("lost", "failing", says)]


def test_a_slot_that_the_next_checkpoint_may_end_is_a_warning() -> None:
    ((concern, level, says),) = told(facts_with(slots=(replace(SLOT, wal_status="unreserved"),)))
    assert (concern, level) == ("ending", "warning")
    assert "the next checkpoint" in says
    assert told(facts_with(slots=(replace(SLOT, wal_status="extended"),))) == []


def test_of_several_slots_only_the_feeds_own_is_judged() -> None:
    other = replace(SLOT, name="reports", wal_status="lost")
    assert told(facts_with(slots=(SLOT, other))) == []
    assert told(facts_with(slots=(SLOT, other)), HealthLimits(slot="shop")) == []
    assert len(told(facts_with(slots=(SLOT, other)), HealthLimits(slot="reports"))) == 1


def test_a_slot_that_is_gone_is_lost_where_the_feed_file_names_it() -> None:
    says = "there is no replication slot shop: Postgres keeps no log for the feed"
    named = HealthLimits(slot="shop")
    assert told(facts_with(slots=()), named) == [("lost", "failing", says)]
    assert told(facts_with(slots=())) == []
    # The database did not answer.
    assert told(facts_with(slots=None), named) == []


def logs(first: int, read: int | None, place: int | None = None) -> BinaryLogs:
    """Three files of 10 MiB each, the first with this number."""
    files = tuple(BinaryLog(f"mysql-bin.{first + at:06}", 10 * MIB) for at in range(3))
    return BinaryLogs(files, DAY, read, place)


def test_binary_logs_that_were_purged_unread_are_told_without_any_limit() -> None:
    assert told(facts_with(binary_logs=logs(7, 7))) == []
    assert told(facts_with(binary_logs=logs(7, 9))) == []
    ((concern, level, says),) = told(facts_with(binary_logs=logs(7, 6)))
    assert (concern, level) == ("lost", "failing")
    assert "the oldest binary log that is there is mysql-bin.000007" in says
    assert "stands in number 6" in says
    assert logs(7, 4).purged_unread == 3


def test_nothing_is_known_to_be_purged_where_nothing_was_read() -> None:
    assert told(facts_with(binary_logs=logs(7, None))) == []
    assert told(facts_with(binary_logs=BinaryLogs(())), NO_LIMITS) == []


def test_a_server_whose_binary_log_is_off_loses_what_was_captured_from_it() -> None:
    ((concern, _, says),) = told(facts_with(binary_logs=BinaryLogs((), None, 7, 4)))
    assert concern == "lost"
    assert "writes no binary log" in says


@pytest.mark.parametrize(
    ("read", "place", "lag"),
    [
        (9, 10 * MIB, 0),
        (9, 4 * MIB, 6 * MIB),
        (8, 4 * MIB, 16 * MIB),
        (7, None, 30 * MIB),
        (3, 4 * MIB, 30 * MIB),
        (None, None, None),
    ],
)
def test_binary_log_behind_what_was_read(
    read: int | None, place: int | None, lag: int | None
) -> None:
    assert logs(7, read, place).lag == lag


def test_binary_log_behind_what_was_read_has_a_limit() -> None:
    facts = facts_with(binary_logs=logs(7, 8, 4 * MIB))
    assert told(facts, HealthLimits(binlog_lag=Limit(warn=16 * MIB))) == []
    ((concern, level, says),) = told(facts, HealthLimits(binlog_lag=Limit(warn=15 * MIB)))
    assert (concern, level) == ("limit", "warning")
    assert says.startswith("16 MiB of binary log come behind the newest change")


@pytest.mark.parametrize(
    ("positions", "read"),
    [
        ([], (None, None)),
        ([None, [0, 0], [0, 1]], (None, None)),
        # A position by the offset in a topic alone, and one in no log file.
        ([[0, 1, 0, 7]], (None, None)),
        ([[0, 0, 5, 900, 1, 0]], (None, None)),
        ([[0, 1, 5, 900, 1, 0], [0, 1, 6, 4, 1, 0], [0, 1, 5, 950, 0, 0]], (6, 4)),
        # A later epoch is another log.
        ([[0, 1, 50, 900, 1, 0], [1, 1, 2, 4, 1, 0]], (2, 4)),
        # MariaDB 11.4 says no place within the file.
        ([[0, 1, 5, 900, 1, 0], [0, 1, 5, 2**62 + 3]], (5, None)),
    ],
)
def test_how_far_a_binary_log_was_read_by_positions(
    positions: list[list[int] | None], read: tuple[int | None, int | None]
) -> None:
    assert read_of_binary_log(positions) == read


def test_what_could_not_be_asked_is_told_last() -> None:
    facts = facts_with(unasked=("the broker does not answer",), slots=())
    found = told(facts, HealthLimits(slot="shop"))
    assert [one[:2] for one in found] == [("lost", "failing"), ("unasked", "warning")]


def test_each_figure_has_a_line() -> None:
    facts = facts_with(
        heartbeat_at=NOW - timedelta(seconds=30),
        partitions=(PartitionOffsets("orders/0", 5, 8, 1_207),),
        slots=(
            replace(SLOT, wal_left=5 * MIB),
            replace(SLOT, name="x", is_active=False, restart=None),
        ),
        binary_logs=logs(7, 8, 4 * MIB),
    )
    assert [*figures(facts)] == [
        ("heartbeat", "newest at 2025-11-20 11:59:30", "30 s old"),
        (
            *("partition orders/0", "1,199 unread"),
            "read up to 5 of 1,207; 3 offsets were deleted unread",
        ),
        ("slot shop", "10 MiB behind, 30 MiB of log kept, 5 MiB left", "reserved, read now"),
        ("slot x", "10 MiB behind", "reserved, nobody reads it"),
        (
            *("binary log", "16 MiB unread; 30 MiB kept, each for 1 d"),
            "mysql-bin.000007 to mysql-bin.000009",
        ),
    ]
    assert [*figures(facts_with())] == []


def test_quantities_are_spoken_in_their_largest_unit() -> None:
    assert [spoken_seconds(one) for one in (0, 59, 60, 5_400, 90_000, 8_640_000)] == [
        *("0 s", "59 s", "1 min", "1.5 h", "1 d", "100 d"),
    ]
    assert [spoken_bytes(one) for one in (0, 1_023, 1_024, 1_572_864, 1 << 30, 1 << 41)] == [
        *("0 bytes", "1023 bytes", "1 KiB", "1.5 MiB", "1 GiB", "2 TiB"),
    ]
