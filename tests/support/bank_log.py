"""A bank's log as Debezium sends it from Postgres: money moves between two tables, in transactions of several rows.

Bronze is made of it without a broker, as a run commits what it reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

import pyarrow as pa
from deltalake import write_deltalake
from pyspark.sql.pandas.types import to_arrow_schema

from assets.columns import layers
from assets.storage.lake import Lake, Layer
from transforms.feed.feed import Feed, Table

FIRST = datetime(2025, 11, 20, 3, tzinfo=UTC)
TABLES = ("checking", "savings")
TRANSACTIONS = "bank.transaction"
BRONZE = pa.schema(
    [one.with_nullable(True) for one in to_arrow_schema(layers.Bronze.spark, timezone="UTC")]
)
GOLD = {
    name: Table(name, ("id",), {"id": "int", "cents": "bigint"}, ("id", "cents")) for name in TABLES
}


def topic_of(table: str) -> str:
    return f"bank.public.{table}"


def feed_of(name: str = "bank", broker: str = "127.0.0.1:1") -> Feed:
    topics = ",".join([*map(topic_of, TABLES), TRANSACTIONS])
    return Feed(name, "debezium", f"kafka://{broker}/{topics}", tables=GOLD)


@dataclass(frozen=True, slots=True)
class Write:
    """One row's change: ``cents`` is None where the row is deleted, ``before`` where it is new.

    ``lsn``: where it was written; ``point``: that, or the commit before its transaction's where that is behind it.
    """

    table: str
    id: int
    before: int | None
    cents: int | None
    lsn: int
    point: int


@dataclass(frozen=True, slots=True)
class Transfer:
    """One transaction: its writes, where it was committed, and where the one before it was."""

    id: int
    writes: tuple[Write, ...]
    commit: int
    last_commit: int

    @property
    def point(self) -> int:
        """Where its newest change stands."""
        return max(one.point for one in self.writes)


@dataclass(frozen=True, slots=True)
class Sent:
    """One record of a topic, and when it was written there."""

    topic: str
    value: bytes
    at: datetime


def drawn(chance: Random, count: int) -> list[Transfer]:
    """Some transactions, whose rows are written side by side and which are committed one after the other."""
    held: dict[tuple[str, int], int] = {}
    found: list[Transfer] = []
    lsn, last = 1_000, 900
    for number in range(count):
        writes: list[Write] = []
        size = chance.randint(1, 4)
        # The next transaction writes while this one does.
        places = sorted(chance.sample(range(max(last - 60, 1), lsn + 40), size))
        for at in places:
            key = chance.choice(TABLES), chance.randint(1, 6)
            if any((one.table, one.id) == key for one in writes):
                continue
            # A row is locked until its transaction ends, so that of one key the later write is behind the commit.
            at = max(at, _behind(found, key))
            before = held.pop(key, None)
            cents = None if before is not None and chance.random() < 0.25 else chance.randint(1, 99)
            if cents is not None:
                held[key] = cents
            writes.append(Write(*key, before, cents, at, max(last, at)))
        top = max(lsn, *(one.lsn for one in writes))
        commit = top + chance.randint(1, 30)
        found.append(Transfer(500 + number, tuple(writes), commit, last))
        lsn, last = commit + chance.randint(1, 30), commit
    return found


def _behind(found: Sequence[Transfer], key: tuple[str, int]) -> int:
    commits = [
        one.commit + 1
        for one in found
        if any((write.table, write.id) == key for write in one.writes)
    ]
    return max(commits, default=0)


def records(one: Transfer, at: datetime) -> Iterator[Sent]:
    """What the connector sends of a transaction."""
    begin = {"status": "BEGIN", "id": f"{one.id}:{one.writes[0].lsn}", "ts_ms": _ms(at)}
    yield Sent(TRANSACTIONS, json.dumps(begin).encode(), at)
    for order, write in enumerate(one.writes, 1):
        source = {
            **{"connector": "postgresql", "name": "bank", "db": "bank", "schema": "public"},
            **{"table": write.table, "snapshot": "false", "txId": one.id, "lsn": write.lsn},
            "sequence": json.dumps([str(one.last_commit), str(write.lsn)]),
        }
        value = {
            **{"before": _row(write.id, write.before), "after": _row(write.id, write.cents)},
            **{"source": source, "op": _op(write), "ts_ms": _ms(at)},
            "transaction": {
                "id": f"{one.id}:{write.lsn}",
                "total_order": order,
                "data_collection_order": order,
            },
        }
        yield Sent(topic_of(write.table), json.dumps(value).encode(), at)
    end = {
        **{"status": "END", "id": f"{one.id}:{one.commit}", "ts_ms": _ms(at)},
        "event_count": len(one.writes),
    }
    yield Sent(TRANSACTIONS, json.dumps(end).encode(), at)


def _op(write: Write) -> str:
    return "d" if write.cents is None else "c" if write.before is None else "u"


def _row(id: int, cents: int | None) -> dict[str, int] | None:
    return None if cents is None else {"id": id, "cents": cents}


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)


@dataclass
class Topics:
    """What lies in the topics, and how far a feed has read each of them."""

    written: dict[str, list[Sent]] = field(
        default_factory=lambda: {topic: [] for topic in (*map(topic_of, TABLES), TRANSACTIONS)}
    )
    read: dict[str, int] = field(default_factory=dict)

    def send(self, sent: Sent) -> None:
        self.written[sent.topic].append(sent)

    def land(self, lake: Lake, feed: Feed, ends: Mapping[str, int]) -> set[str]:
        """Bronze gets each topic up to these ends, in one commit; the windows that it gets something of."""
        rows = []
        for topic, some in self.written.items():
            first, end = self.read.get(topic, 0), ends[topic]
            for offset in range(first, end):
                rows.append(_bronze_row(topic, offset, some[offset]))
            self.read[topic] = max(first, end)
        if rows:
            write_deltalake(
                lake.path(Layer.BRONZE, feed.name),
                pa.Table.from_pylist(rows, schema=BRONZE),
                mode="append",
                partition_by=["window"],
            )
        return {str(row["window"]) for row in rows}


def _bronze_row(topic: str, offset: int, sent: Sent) -> dict[str, object]:
    return {
        **{"window": f"{sent.at:%Y-%m-%dT%H}", "object": f"{topic}/0", "generation": "T"},
        **{"line": offset + 1, "byte_offset": offset, "payload": sent.value},
        **{"landed_at": sent.at, "key": _key_of(sent), "headers": []},
    }


def _key_of(sent: Sent) -> bytes | None:
    value = json.loads(sent.value)
    row = value.get("after") or value.get("before")
    return None if row is None else json.dumps({"id": row["id"]}).encode()


def hours(count: int, per_hour: int) -> list[datetime]:
    """When each of some transactions is sent: so many in an hour."""
    return [FIRST + timedelta(hours=number / per_hour) for number in range(count)]
