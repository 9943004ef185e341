"""How a source stands: what was measured of it, and what is wrong by that and by the limits that a feed declares.

Nothing here reads a clock: every age is counted up to the moment of the look, which is one of the facts.

Vendor: https://www.postgresql.org/docs/current/view-pg-replication-slots.html (``wal_status``, ``safe_wal_size``);
https://mariadb.com/kb/en/show-binary-logs/, https://dev.mysql.com/doc/refman/8.4/en/show-binary-logs.html.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from transforms.change import BEFORE_ALL_FILES, BEHIND_ALL_POINTS, STREAM
from transforms.feed.feed import HealthLimits, Limit
from transforms.quantities import spoken_bytes, spoken_seconds

Concern = Literal["lost", "ending", "limit", "unasked"]
"""What a finding is about: changes that the source has no longer, such as it soon has no longer, a limit of the feed
file, or a part of the source that could not be asked."""

Level = Literal["warning", "failing"]


@dataclass(frozen=True, slots=True)
class TableEvents:
    """One table of the stream: when the source made the newest of its changes; None where no change tells a time."""

    table: str
    newest_event_at: datetime | None


@dataclass(frozen=True, slots=True)
class PartitionOffsets:
    """One partition of a topic: the offset that is read next, 0 where nothing was read, and what the broker has.

    ``end``: one more than the last offset that may be read.
    """

    name: str
    next_offset: int
    earliest: int
    end: int

    @property
    def unread(self) -> int:
        """How many offsets the broker has that were not read; those of transactions' ends are among them."""
        return max(0, self.end - max(self.next_offset, self.earliest))

    @property
    def lost(self) -> int:
        """How many offsets the broker has deleted after others had been read, and before these were."""
        return max(0, self.earliest - self.next_offset) if self.next_offset else 0


@dataclass(frozen=True, slots=True)
class ReplicationSlot:
    """One logical replication slot of Postgres. Places in its log are numbers of bytes.

    ``written``: up to where the server has written its log. ``confirmed``: up to where the connector says that it has
    everything. ``restart``: from where on the server keeps its log for the slot. ``wal_status``: as Postgres says it,
    ``reserved``, ``extended``, ``unreserved`` or ``lost``. ``wal_left``: how many bytes may still be written before the
    slot may be lost; None where the server has no ``max_slot_wal_keep_size``.
    """

    name: str
    is_active: bool
    wal_status: str | None
    written: int
    confirmed: int | None
    restart: int | None
    wal_left: int | None = None

    @property
    def lag(self) -> int | None:
        """How many bytes of log the connector has not confirmed."""
        return None if self.confirmed is None else max(0, self.written - self.confirmed)

    @property
    def wal_kept(self) -> int | None:
        """How many bytes of log the server keeps for the slot."""
        return None if self.restart is None else max(0, self.written - self.restart)

    @property
    def is_lost(self) -> bool:
        """Whether the server has removed log that the slot needs: no connector can go on from it."""
        return self.wal_status == "lost"


@dataclass(frozen=True, slots=True)
class BinaryLog:
    """One file of MySQL's or MariaDB's binary log, and its bytes."""

    name: str
    size: int

    @property
    def number(self) -> int:
        """The number at the end of its name, by which files are ordered."""
        found = _NUMBER.search(self.name)
        return int(found[0]) if found else 0


_NUMBER: Final = re.compile(r"[0-9]+\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class BinaryLogs:
    """The binary log of a server: its files, oldest first, and how far it was read.

    ``expires_after``: how many seconds the server keeps a file; None where it removes none by age. ``read_file``,
    ``read_position``: the number of the file, and the place in it, of the newest change that was read; None where none
    was, and the place also where the source does not tell it.
    """

    files: tuple[BinaryLog, ...]
    expires_after: int | None = None
    read_file: int | None = None
    read_position: int | None = None

    @property
    def purged_unread(self) -> int:
        """How many files the server has removed, from the one on in which the newest read change stands."""
        if self.read_file is None or not self.files:
            return 0
        return max(0, self.files[0].number - self.read_file)

    @property
    def lag(self) -> int | None:
        """How many bytes of the files that are there come behind the newest read change."""
        if self.read_file is None:
            return None
        read = self.read_position or 0
        return sum(
            max(0, one.size - read) if one.number == self.read_file else one.size
            for one in self.files
            if one.number >= self.read_file
        )


def read_of_binary_log(positions: Iterable[Sequence[int] | None]) -> tuple[int | None, int | None]:
    """How far a binary log was read: the number of the file, and the place in it, of the newest of these positions.

    Positions are those that Debezium's events of MySQL and MariaDB have; others are left out, and so are those of an
    older epoch: that of another server, or of this one before its log was reset. The place is None where the newest
    event says none.
    """
    in_log = [
        tuple(one[:_IN_LOG])
        for one in positions
        if one is not None
        and len(one) >= _IN_LOG
        and one[1] == STREAM
        and one[2] > BEFORE_ALL_FILES
    ]
    if not in_log:
        return None, None
    _, _, file, place = max(in_log)
    return file, place if place < BEHIND_ALL_POINTS else None


_IN_LOG: Final = 4
"""Epoch, phase, the file's number and the place in it."""


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """One look at a source.

    ``tables``: those of the stream, by name. ``heartbeat_at``: when the connector sent the newest heartbeat that was
    read. ``unasked``: a sentence for each part of the source that could not be asked. ``partitions``, ``slots``:
    None where there was nothing to ask.
    """

    looked_at: datetime
    tables: tuple[TableEvents, ...] = ()
    heartbeat_at: datetime | None = None
    partitions: tuple[PartitionOffsets, ...] | None = None
    slots: tuple[ReplicationSlot, ...] | None = None
    binary_logs: BinaryLogs | None = None
    unasked: tuple[str, ...] = ()

    @property
    def newest_event_at(self) -> datetime | None:
        """When the source made the newest change of all."""
        return max(
            (one.newest_event_at for one in self.tables if one.newest_event_at), default=None
        )

    def age(self, moment: datetime) -> timedelta:
        """How old something was at the look; nothing, where the source's clock is ahead."""
        return max(timedelta(), self.looked_at - moment)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a source, in a sentence that says of what, how much, and what the limit is."""

    concern: Concern
    level: Level
    says: str


def findings(facts: SourceFacts, limits: HealthLimits) -> list[Finding]:
    """What is wrong, the worst first: what is lost is told whatever the limits are."""
    found = [
        *_of_stream(facts, limits),
        *_of_partitions(facts.partitions or (), limits),
        *_of_slots(facts.slots, limits),
        *(_of_binary_logs(facts.binary_logs, limits) if facts.binary_logs else ()),
        *(Finding("unasked", "warning", one) for one in facts.unasked),
    ]
    return sorted(found, key=lambda one: _CONCERNS.index(one.concern))


_CONCERNS: Final[Sequence[Concern]] = ("lost", "ending", "limit", "unasked")


def _of_stream(facts: SourceFacts, limits: HealthLimits) -> Iterator[Finding]:
    """What the stream tells by itself: how old its newest event is, and which tables say nothing while others do."""
    if facts.newest_event_at is not None:
        age = facts.age(facts.newest_event_at).total_seconds()
        says = f"the newest event is {spoken_seconds(age)} old"
        yield from _beyond(limits.newest_event, age, says, spoken_seconds)
    if facts.heartbeat_at is not None:
        age = facts.age(facts.heartbeat_at).total_seconds()
        says = f"the newest heartbeat is {spoken_seconds(age)} old"
        yield from _beyond(limits.heartbeat, age, says, spoken_seconds)
    elif limits.heartbeat is not None:
        says = "no heartbeat was read: name the connector's heartbeat topic in the feed's landing"
        yield Finding("limit", "warning", says)
    for table, age in silent_tables(facts, limits):
        says = f"table {table} has sent nothing for {spoken_seconds(age)}, and others have"
        yield from _beyond(limits.silent_table, age, says, spoken_seconds)


def silent_tables(facts: SourceFacts, limits: HealthLimits) -> list[tuple[str, float]]:
    """The tables that have gone silent, each with the age of its newest event in seconds; none without a limit.

    Silent is a table whose newest event is older than the limit while another's is not: where all are older, the
    source is quiet as a whole.
    """
    if limits.silent_table is None or facts.newest_event_at is None:
        return []
    most = limits.silent_table.first
    ages = {
        one.table: facts.age(one.newest_event_at).total_seconds()
        for one in facts.tables
        if one.newest_event_at is not None
    }
    if min(ages.values()) > most:
        return []
    return [
        (table, age)
        for table, age in ages.items()
        if age > most and table not in limits.quiet_tables
    ]


def _of_partitions(
    partitions: Sequence[PartitionOffsets], limits: HealthLimits
) -> Iterator[Finding]:
    for one in partitions:
        if one.lost:
            says = (
                f"Kafka has deleted {one.lost:,} offsets below {one.earliest:,} that were not read"
            )
            yield Finding("lost", "failing", f"partition {one.name}: {says}")
        says = f"partition {one.name} has {one.unread:,} unread records"
        yield from _beyond(limits.unread_records, one.unread, says, _number)


def _of_slots(slots: Sequence[ReplicationSlot] | None, limits: HealthLimits) -> Iterator[Finding]:
    if slots is None:
        return
    if limits.slot is not None and limits.slot not in {one.name for one in slots}:
        says = f"there is no replication slot {limits.slot}: Postgres keeps no log for the feed"
        yield Finding("lost", "failing", says)
    for one in judged_slots(slots, limits):
        yield from _of_slot(one, limits)


def judged_slots(
    slots: Sequence[ReplicationSlot], limits: HealthLimits
) -> Sequence[ReplicationSlot]:
    """The feed's slots: the one that its file names, else the only one that there is; of several nobody knows which."""
    if limits.slot is not None:
        return [one for one in slots if one.name == limits.slot]
    return slots if len(slots) == 1 else ()


def _of_slot(one: ReplicationSlot, limits: HealthLimits) -> Iterator[Finding]:
    name = f"replication slot {one.name}"
    if one.is_lost:
        says = f"{name} is lost: Postgres has removed log that was not read"
        yield Finding("lost", "failing", says)
        return
    if one.wal_status == "unreserved":
        says = f"{name} is about to be lost: the next checkpoint may remove log that was not read"
        yield Finding("ending", "warning", says)
    state = "" if one.is_active else "; nobody reads it now"
    if one.lag is not None:
        says = f"{name} is {spoken_bytes(one.lag)} behind{state}"
        yield from _beyond(limits.slot_lag, one.lag, says, spoken_bytes)
    if one.wal_kept is not None:
        says = f"{name} makes Postgres keep {spoken_bytes(one.wal_kept)} of log{state}"
        yield from _beyond(limits.wal_kept, one.wal_kept, says, spoken_bytes)
    if one.wal_left is not None:
        says = f"{name} may be lost after {spoken_bytes(one.wal_left)} more of log{state}"
        yield from _short_of(limits.wal_left, one.wal_left, says)


def _of_binary_logs(logs: BinaryLogs, limits: HealthLimits) -> Iterator[Finding]:
    if not logs.files and logs.read_file is not None:
        says = "the server writes no binary log: what changes now is kept for nobody"
        yield Finding("lost", "failing", says)
    elif logs.purged_unread:
        says = (
            f"the oldest binary log that is there is {logs.files[0].name}, and the newest change that was read stands"
            f" in number {logs.read_file}: what came behind it there, and in all files between the two, is gone"
        )
        yield Finding("lost", "failing", says)
    if logs.lag is not None:
        says = f"{spoken_bytes(logs.lag)} of binary log come behind the newest change that was read"
        yield from _beyond(limits.binlog_lag, logs.lag, says, spoken_bytes)


def _beyond(
    limit: Limit | None, value: float, says: str, spoken: Callable[[float], str]
) -> Iterator[Finding]:
    """The finding that a value is above a limit: of the worse one, where it is above both."""
    if limit is None:
        return
    if limit.fail is not None and value > limit.fail:
        yield Finding("limit", "failing", f"{says}; at most {spoken(limit.fail)}")
    elif limit.warn is not None and value > limit.warn:
        yield Finding("limit", "warning", f"{says}; at most {spoken(limit.warn)}")


def _short_of(limit: Limit | None, value: float, says: str) -> Iterator[Finding]:
    """The finding that so many bytes are below a limit: of the worse one, where they are below both."""
    if limit is None:
        return
    if limit.fail is not None and value < limit.fail:
        yield Finding("limit", "failing", f"{says}; at least {spoken_bytes(limit.fail)}")
    elif limit.warn is not None and value < limit.warn:
        yield Finding("limit", "warning", f"{says}; at least {spoken_bytes(limit.warn)}")


def _number(value: float) -> str:
    return f"{value:,.0f}"


def figures(facts: SourceFacts) -> Iterator[tuple[str, str, str]]:
    """What a look measured beside the tables, a line each: of what, how much, and what more there is to say."""
    if facts.heartbeat_at is not None:
        age = spoken_seconds(facts.age(facts.heartbeat_at).total_seconds())
        yield "heartbeat", f"newest at {facts.heartbeat_at:%Y-%m-%d %H:%M:%S}", f"{age} old"
    for one in facts.partitions or ():
        lost = f"; {one.lost:,} offsets were deleted unread" if one.lost else ""
        read = f"read up to {one.next_offset:,} of {one.end:,}{lost}"
        yield f"partition {one.name}", f"{one.unread:,} unread", read
    for slot in facts.slots or ():
        parts = (
            None if slot.lag is None else f"{spoken_bytes(slot.lag)} behind",
            None if slot.wal_kept is None else f"{spoken_bytes(slot.wal_kept)} of log kept",
            None if slot.wal_left is None else f"{spoken_bytes(slot.wal_left)} left",
        )
        state = "read now" if slot.is_active else "nobody reads it"
        more = f"{slot.wal_status}, {state}" if slot.wal_status else state
        yield f"slot {slot.name}", ", ".join(filter(None, parts)) or "nothing kept", more
    if facts.binary_logs is not None and facts.binary_logs.files:
        logs = facts.binary_logs
        files = f"{logs.files[0].name} to {logs.files[-1].name}"
        kept = spoken_bytes(sum(one.size for one in logs.files))
        expiry = f", each for {spoken_seconds(logs.expires_after)}" if logs.expires_after else ""
        behind = "" if logs.lag is None else f"{spoken_bytes(logs.lag)} unread; "
        yield "binary log", f"{behind}{kept} kept{expiry}", files


@dataclass(frozen=True, slots=True)
class LookFigures:
    """One look in few numbers, to be set beside others; None where the look did not measure it.

    ``newest_event_age``: how old the newest event of all was, in seconds. ``unread``: records of all partitions.
    ``log_behind``: how many bytes of log the source has written that were not read: of the feed's slot, or of the
    binary log. ``warnings``, ``failing``: how many things were wrong.
    """

    looked_at: datetime
    newest_event_age: float | None
    unread: int | None
    log_behind: int | None
    warnings: int
    failing: int


def look_figures(facts: SourceFacts, limits: HealthLimits) -> LookFigures:
    """What is kept of a look when a newer one takes its place."""
    newest, levels = facts.newest_event_at, [one.level for one in findings(facts, limits)]
    lags = [one.lag for one in judged_slots(facts.slots or (), limits)]
    lags += [] if facts.binary_logs is None else [facts.binary_logs.lag]
    partitions = facts.partitions
    return LookFigures(
        looked_at=facts.looked_at,
        newest_event_age=None if newest is None else facts.age(newest).total_seconds(),
        unread=None if partitions is None else sum(one.unread for one in partitions),
        log_behind=max((one for one in lags if one is not None), default=None),
        warnings=levels.count("warning"),
        failing=levels.count("failing"),
    )
