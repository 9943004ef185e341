"""Where an event stands: in its source's log, else as it does in its topic.

A position is (epoch, phase, numbers of the point in the log, rank, numbers within it). The point is what changes and
snapshots of one source have in common: a row that a snapshot read at a point stands behind all changes up to it and
before all later ones, whichever snapshot it is. The rank says which of the two comes first at one point.

| connector | point | within | a full snapshot's row, at its own point |
|---|---|---|---|
| Postgres | the greater of the last commit's LSN (``sequence``) and the own LSN | own LSN | before the changes |
| MySQL, MariaDB | number of the log file, ``pos`` | offset in the topic | before the changes |
| SQL Server, Db2 | ``commit_lsn`` | ``change_lsn``, ``event_serial_no`` | behind the changes |
| Oracle | ``commit_scn``, else ``scn`` | ``scn``, thread, ``rs_id``, ``ssn``, or ``lcr_position`` | behind them |
| Informix | ``commit_lsn`` | ``change_lsn`` | behind them |
| MongoDB | ``ts_ms``, ``ord`` | offset in the topic | before the changes |
| Spanner | ``ts_us``, the commit's time | ``sequence``, ``mod_number`` | it has none |
| Cassandra | ``ts_us``, the write's time | nothing | before the changes |
| YugabyteDB | term and index of its ``lsn``, of one tablet | write id | before the changes |
| any other | offset, partition | nothing | where it stands in its topic |

Of Postgres, a transaction's commit is not sent with its changes. The commit before it is: a change that stands behind
a commit is not in a snapshot that was read there, even where its own LSN is smaller. For one key the own LSN alone is
the order, since a row is locked until its transaction ends.

MariaDB from 11.4 on sends a negative ``pos`` (minus the event's length), which is no point of the log: such an event
stands as it does in its topic, behind all that has a point in its log file. So a snapshot that is taken again, whose
rows have a point, stands behind all changes of earlier files.

Vendor: Debezium documentation, the ``source`` of each connector; https://github.com/debezium/debezium, ``SourceInfo``
of each connector; ``PostgresOffsetContext`` (``sequence``), ``OracleSourceInfoStructMaker`` (``commit_scn``,
``rs_id``), ``SqlServerSourceInfoStructMaker`` (``event_serial_no``);
https://github.com/debezium/debezium-connector-spanner, ``SourceInfo`` (``sequence`` is the record's in its
transaction); https://github.com/debezium/debezium-connector-cassandra, ``SourceInfo`` (its time is that of the
mutation, which is what Cassandra itself goes by: nodes have logs of their own, and replicas the same mutation).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from transforms import json_values
from transforms.change import BEFORE_ALL_FILES, BEHIND_ALL_POINTS, EPOCH, STREAM
from transforms.event import CHUNKS, WITHOUT_POINT, SnapshotRow
from transforms.families.connect import events
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.events import LogEntry
from transforms.families.whole_numbers import whole
from transforms.fault import Fault
from transforms.json_values import MalformedJson

BEFORE, CHANGE, BEHIND = 0, 1, 2
"""The rank at one point: a row of a snapshot that stands before its changes, a change, and a row behind them."""

_BITS: Final = 62


class LogPoint(NamedTuple):
    """Where the log has an event.

    ``at``: the numbers to which snapshots compare. ``within``: the order of changes at one point. ``identity``: the
    texts that identify a change there. ``varying``: how many numbers of ``within``, at its end, may differ from
    delivery to delivery.
    """

    at: tuple[int, ...]
    within: tuple[int, ...]
    identity: tuple[str, ...]
    varying: int = 0


class Connector(NamedTuple):
    """How one connector says where events stand.

    ``point_of``: the point, None where the event says none. ``needed``: the fields that say it, where an event without
    them is a fault; else such an event stands as it does in its topic. ``rank``: a full snapshot's row at its own
    point. ``has_one_log``: whether all rows of a snapshot stand at one point, by which it is known to be complete.
    """

    point_of: Callable[[Envelope], LogPoint | None]
    needed: str | None
    rank: int
    has_one_log: bool = True


def _postgres(envelope: Envelope) -> LogPoint | None:
    own = whole(envelope.source.fields.get("lsn"))
    last_commit = _last_commit(envelope.source.fields.get("sequence"))
    if own is None:
        # A row of an incremental snapshot: it stands directly behind the last commit before it was sent.
        is_row = envelope.operation == "read" and last_commit is not None
        return LogPoint((last_commit or 0,), (1,), (str(last_commit),)) if is_row else None
    # Of a stream's first transaction no commit stands before it.
    at = own if last_commit is None else max(last_commit, own)
    return LogPoint((at,), (own,), (str(own),))


def _last_commit(sequence: Any) -> int | None:
    """The first of two numbers, which stand as JSON in a text."""
    if type(sequence) is str:
        if (usual := _SEQUENCE.fullmatch(sequence)) is not None:
            return int(usual[1])
        try:
            sequence = json_values.read(sequence)
        except MalformedJson:
            return None
    return whole(sequence[0]) if type(sequence) is list and sequence else None


_SEQUENCE: Final = re.compile(r'\["([0-9]{1,18})","[0-9]*"\]', re.ASCII)


def _mysql(envelope: Envelope) -> LogPoint | None:
    log = envelope.source.log
    if log is None:
        return None
    number, position, row = log
    # A compressed transaction has one point, and counts the rows of each of its statements from 0.
    identity = (str(number), str(position), str(row))
    return LogPoint((number, position), (envelope.message.offset or 0,), identity, varying=1)


def _mariadb(envelope: Envelope) -> LogPoint | None:
    point, message = _mysql(envelope), envelope.message
    if point is None or message.offset is None or envelope.key.values is None:
        return point
    version = _TWO_NUMBERS.match(envelope.source.text("version") or "")
    release = (int(version[1]), int(version[2])) if version else (0, 0)
    if release < _PLACES_OF_TRANSACTIONS:
        return point
    # Two changes of one row may agree in all but the offset. What is delivered again is a change once more, and ends
    # where the first delivery did; without a key it would double a row, and the point has to do.
    return LogPoint(point.at, point.within, (*point.identity, str(message.offset)))


_PLACES_OF_TRANSACTIONS: Final = (3, 4)
"""From this release on, the changes of a transaction of MariaDB 11.4 all stand where it begins."""


_TWO_NUMBERS: Final = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})", re.ASCII)


def _sql_server(envelope: Envelope) -> LogPoint | None:
    fields = envelope.source.fields
    commit = _hexadecimal(fields.get("commit_lsn"))
    if commit is None:
        return None
    change = _hexadecimal(fields.get("change_lsn")) or (0, 0)
    serial = whole(fields.get("event_serial_no")) or 0
    within = (*change, serial)
    return LogPoint(commit, within, tuple(str(number) for number in (*commit, *within)))


def _oracle(envelope: Envelope) -> LogPoint | None:
    fields = envelope.source.fields
    own, committed = whole(fields.get("scn")), whole(fields.get("commit_scn"))
    at = own if committed is None else committed
    if at is None:
        return None
    lcr = _lcr_position(fields.get("lcr_position"))
    if lcr is not None:
        # XStream sends neither thread nor record of the redo log: this orders the changes of a transaction.
        return LogPoint((at,), lcr, (str(at), str(fields["lcr_position"])))
    redo = _hexadecimal(fields.get("rs_id")) or (0, 0)
    thread, serial = (whole(fields.get(name)) or 0 for name in ("redo_thread", "ssn"))
    within = (own or 0, thread, *redo, serial)
    return LogPoint((at,), within, tuple(str(number) for number in (at, *within)))


def _informix(envelope: Envelope) -> LogPoint | None:
    commit, change = (
        whole(envelope.source.fields.get(name)) for name in ("commit_lsn", "change_lsn")
    )
    if commit is None:
        return None
    return LogPoint((commit,), (change or 0,), (str(commit), str(change)))


def _mongodb(envelope: Envelope) -> LogPoint | None:
    at, order = (whole(envelope.source.fields.get(name)) for name in ("ts_ms", "ord"))
    if at is None or order is None:
        return None
    # All changes of a transaction may have one time.
    offset = envelope.message.offset or 0
    return LogPoint((at, order), (offset,), (str(at), str(order)), varying=1)


def _spanner(envelope: Envelope) -> LogPoint | None:
    fields = envelope.source.fields
    at = whole(fields.get("ts_us"))
    if at is None:
        return None
    numbers = tuple(whole(fields.get(name)) or 0 for name in ("sequence", "mod_number"))
    transaction = envelope.source.text("server_transaction_id") or ""
    return LogPoint((at,), numbers, (str(at), transaction, *map(str, numbers)))


def _cassandra(envelope: Envelope) -> LogPoint | None:
    at = whole(envelope.source.fields.get("ts_us"))
    return None if at is None else LogPoint((at,), (0,), (str(at),))


def _yugabyte(envelope: Envelope) -> LogPoint | None:
    text = envelope.source.text("lsn")
    parts = (text or "").split(":")
    if len(parts) != 5:
        return None
    # Term, index, a key that only tells intents apart, write id, and a time that only snapshots have.
    term, index, write = (whole(parts[at]) for at in (0, 1, 3))
    if term is None or index is None:
        return None
    return LogPoint((term, index), (write or 0,), (text or "",))


def _lcr_position(text: Any) -> tuple[int, ...] | None:
    """The bytes of a position of XStream, which are compared one by one, in as few numbers as Oracle's others."""
    if type(text) is not str:
        return None
    try:
        octets = bytes.fromhex(text)
    except ValueError:
        return None
    if not 0 < len(octets) <= _NUMBERS * _OCTETS:
        return None
    padded = octets.ljust(_NUMBERS * _OCTETS, b"\0")
    ends = range(0, len(padded), _OCTETS)
    return tuple(int.from_bytes(padded[at : at + _OCTETS]) for at in ends)


_NUMBERS: Final = 5
_OCTETS: Final = 7


def _hexadecimal(text: Any) -> tuple[int, int] | None:
    """A log sequence number in two numbers.

    It is written in parts of a fixed width (``0000002a:00000d98:0003``; Oracle's with points), and may have more than
    64 bits.
    """
    if type(text) is not str:
        return None
    digits = text.strip().removeprefix("0x").replace(".", "").replace(":", "")
    try:
        number = int(digits, 16)
    except ValueError:
        return None
    return number >> _BITS, number & ((1 << _BITS) - 1)


_CONNECTORS: Final[Mapping[str, Connector]] = {
    "postgresql": Connector(_postgres, "lsn", BEFORE),
    "mysql": Connector(_mysql, "file and pos", BEFORE),
    "mariadb": Connector(_mariadb, "file and pos", BEFORE),
    "sqlserver": Connector(_sql_server, None, BEHIND),
    "db2": Connector(_sql_server, None, BEHIND),
    "oracle": Connector(_oracle, None, BEHIND),
    "informix": Connector(_informix, None, BEHIND),
    "mongodb": Connector(_mongodb, None, BEFORE),
    "spanner": Connector(_spanner, None, BEFORE, has_one_log=False),
    "cassandra": Connector(_cassandra, None, BEFORE, has_one_log=False),
    "yugabytedb": Connector(_yugabyte, None, BEFORE, has_one_log=False),
}


_BY_LSN: Final = Connector(_postgres, None, BEFORE)
_BY_FILE: Final = Connector(_mysql, None, BEFORE)
_BY_TOPIC: Final = Connector(lambda _: None, None, BEFORE)


class Standing(NamedTuple):
    """Where an event's connector, and its log, have it; ``point`` is None where the event says none."""

    connector: Connector
    point: LogPoint | None

    @property
    def has_point(self) -> bool:
        """Whether there is a point that can be used."""
        return self.point is not None and self.point.at[-1] >= 0


def standing_of(envelope: Envelope) -> Standing:
    """Where the event of an envelope stands in its log: by the fields of ``source``, where no connector is named.

    A row of a topic that was taken out of its envelope stands as in the topic, for the null that deletes it has no
    place in the log; one without a key cannot be deleted so.
    """
    message = envelope.message
    if envelope.is_unwrapped and message.offset is not None and not message.is_keyless:
        return Standing(_BY_TOPIC, None)
    connector = _CONNECTORS.get((envelope.source.text("connector") or "").lower())
    if connector is None and "lsn" in envelope.source.fields:
        connector = _BY_LSN
    elif connector is None:
        connector = _BY_FILE if envelope.source.log is not None else _BY_TOPIC
    return Standing(connector, connector.point_of(envelope))


def log_entry_of(envelope: Envelope, standing: Standing) -> LogEntry | Fault:
    """Where an event stands, and what identifies it there.

    If a connector's events are ordered by its log, one without a log position is a fault: ordered by its offset it
    would stand after all the others.
    """
    connector, point = standing
    if point is None:
        return _without_point(envelope, connector)
    if not standing.has_point:
        return _by_offset(envelope, point.at[0], BEHIND_ALL_POINTS)
    if not envelope.is_snapshot:
        rank = CHANGE
        if envelope.operation == "read":
            # A row of an incremental snapshot: Postgres's stands by the commit before it, all others' by the signal.
            rank = BEFORE if connector.point_of is _postgres else BEHIND
        position = (EPOCH, STREAM, *point.at, rank, *point.within)
        return LogEntry(position, point.identity, point.varying)
    nothing = (0,) * len(point.within)
    position = (EPOCH, STREAM, *point.at, connector.rank, *nothing)
    if envelope.key.is_none and envelope.message.partition is not None:
        # Equal rows of a table without a key differ in nothing but their offset in the topic.
        return LogEntry(position, events.identity_in_topic(envelope))
    return LogEntry(position, tuple([str(number) for number in point.at]))


def _without_point(envelope: Envelope, connector: Connector) -> LogEntry | Fault:
    if has_no_log_position(envelope):
        return _by_offset(envelope, BEFORE_ALL_FILES, 0)
    entry = events.entry_in_topic(envelope)
    if envelope.is_snapshot and (connector.needed is not None or isinstance(entry, Fault)):
        # It says nothing of where it was read, as the first releases did: before all changes.
        return events.entry_in_snapshot(envelope, None)
    if connector.needed is not None:
        name = (envelope.source.text("connector") or "").lower()
        needed = f"events of {name} are put in order by {connector.needed} alone"
        return events.no_log_position(envelope, needed)
    return entry


def _by_offset(envelope: Envelope, file: int, behind: int) -> LogEntry | Fault:
    """The position of an event of a log without points: as it stands in its topic, ``behind`` all points of a file."""
    entry = events.entry_in_topic(envelope)
    if isinstance(entry, Fault):
        return entry
    epoch, phase, offset, partition = entry.log_position
    return LogEntry((epoch, phase, file, behind + offset, CHANGE, partition), entry.identity)


def snapshot_row_of(envelope: Envelope, standing: Standing) -> SnapshotRow | None:
    """What a row of a snapshot says of the snapshot; None where it is not known to stand in a topic.

    What a full snapshot does not name is gone directly before its rows; of a source without points, before the offset
    of its first row.
    """
    connector, point = standing
    message = envelope.message
    if message.partition is None or message.offset is None:
        return None
    if (point is None and connector.needed is not None) or not connector.has_one_log:
        return None
    if not envelope.is_snapshot:
        where = (message.partition, message.offset)
        return SnapshotRow(None, True, False, message.topic or "", *where, CHUNKS)
    flag = (envelope.source.text("snapshot") or "").lower()
    removes_at: tuple[int, ...] | None = None
    if point is not None and standing.has_point:
        nothing = (0,) * (len(point.within) - 1)
        removes_at = (EPOCH, STREAM, *point.at, connector.rank, -1, *nothing)
    return SnapshotRow(
        removes_at=removes_at,
        begins=flag.startswith("first"),
        ends=flag.startswith("last"),
        topic=message.topic or "",
        partition=message.partition,
        offset=message.offset,
    )


def without_point_of(envelope: Envelope, point: LogPoint) -> SnapshotRow | None:
    """What a change without a point says of snapshots that stand in its log file; None of a record of no topic."""
    message = envelope.message
    if message.partition is None or message.offset is None:
        return None
    file = (EPOCH, STREAM, point.at[0])
    where = (message.partition, message.offset)
    return SnapshotRow(file, True, False, message.topic or "", *where, WITHOUT_POINT)


def has_no_log_position(envelope: Envelope) -> bool:
    """Whether the source says that it does not know its log position, as Flink CDC's of MySQL does."""
    return envelope.source.fields.get("file") == "" and envelope.source.fields.get("pos") == 0


def is_blocking(envelope: Envelope) -> bool:
    """Whether a row of a full snapshot is of a blocking one, which a signal has asked for amid the stream.

    It knows what the connector had read before: the last commit, or a gtid. An initial one has read nothing.
    """
    fields = envelope.source.fields
    return _last_commit(fields.get("sequence")) is not None or bool(fields.get("gtid"))
