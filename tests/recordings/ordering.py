"""What a recording's events say by a named rule of order alone: no code of the product, a sort and a fold."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

REMOVES, SNAPSHOT_ROW, CHANGE, CHUNK = range(4)
"""What comes first at one place: what a snapshot does not name is gone, its rows, changes, an incremental snapshot."""

Place = tuple[Any, ...]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Told:
    """A record of a table's topic: its images, and all that its source says."""

    offset: int
    operation: str
    key: str | None
    before: Row | None
    after: Row | None
    source: Mapping[str, Any]

    @property
    def mark(self) -> str:
        """What it says of its snapshot, if it is of one."""
        return str(self.source.get("snapshot") or "false")

    @property
    def is_chunk(self) -> bool:
        return self.mark == "incremental"

    @property
    def is_of_snapshot(self) -> bool:
        """Whether it is a row of a full snapshot."""
        return self.operation == "r" and not self.is_chunk

    @property
    def images(self) -> str:
        return json.dumps([self.operation, self.before, self.after], sort_keys=True)


class ByLsn:
    """Postgres: behind the greater of the last commit and its own place in the log; a snapshot's rows come first."""

    name = "own LSN, against snapshots the last commit"

    def at(self, one: Told) -> Place:
        own, last_commit = one.source["lsn"], json.loads(one.source["sequence"] or "[null]")[0]
        if one.is_chunk:
            # It stands directly behind the last commit before it was sent.
            return int(last_commit or 0), SNAPSHOT_ROW, 1
        if one.operation == "r":
            return own, SNAPSHOT_ROW, 0
        return max(own, int(last_commit or 0)), CHANGE, own

    def event(self, one: Told) -> Place:
        """What is the same in each delivery of one event; equal events have it in common."""
        return one.source["lsn"], one.images

    def progress(self, one: Told) -> Place:
        """What rises from record to record while nothing is delivered again."""
        return (int(json.loads(one.source["sequence"] or "[null]")[0] or 0),)


class ByBinlog:
    """MySQL, and MariaDB to 10.11: file and position, then the offset; a full snapshot's rows before the changes."""

    name = "file, pos, offset"

    def at(self, one: Told) -> Place:
        rank = CHUNK if one.is_chunk else SNAPSHOT_ROW if one.operation == "r" else CHANGE
        return *binlog_place(one.source), rank, one.offset

    def event(self, one: Told) -> Place:
        return *binlog_place(one.source), one.source.get("row"), one.images

    def progress(self, one: Told) -> Place:
        return binlog_place(one.source)


class ByTopic(ByBinlog):
    """MariaDB from 11.4 on, which sends no place in its log: the topic's own order, and gtid for what comes again."""

    name = "topic order, gtid"

    def at(self, one: Told) -> Place:
        return one.offset, CHANGE

    def event(self, one: Told) -> Place:
        return one.source.get("gtid"), one.images

    def progress(self, one: Told) -> Place:
        *_, number = str(one.source.get("gtid") or 0).split("-")
        return (int(number),)


Rule = ByLsn | ByBinlog


def binlog_place(source: Mapping[str, Any]) -> Place:
    """The number of the log file, and the position in it."""
    return int(source["file"].rpartition(".")[2]), source["pos"]


@dataclass(frozen=True)
class Drop:
    """A DROP TABLE of the schema changes' topic."""

    table: str
    source: Mapping[str, Any]


class Topics:
    """All records of a recording, by table, as they stand in their topics; and the tables that were dropped."""

    def __init__(self, drops: Path) -> None:
        found: dict[tuple[str, int], Mapping[str, Any]] = {}
        for file in sorted(drops.rglob("*.jsonl")):
            for line in file.read_text().splitlines():
                record = json.loads(line)
                found[record["topic"], record["offset"]] = record
        self.tables: defaultdict[str, list[Told]] = defaultdict(list)
        self.drops: list[Drop] = []
        self.encoded: defaultdict[str, set[str]] = defaultdict(set)
        for (topic, offset), record in sorted(found.items()):
            body = payload(record.get("payload"))
            if body is None:
                continue
            self.drops += dropped(body)
            told, table = told_of(offset, record, body), topic.rpartition(".")[2]
            if told is not None:
                self.tables[table].append(told)
                self.encoded[table] |= encoded(record["payload"])

    def rule(self) -> Rule:
        """The rule for the source that this was recorded from."""
        sources = [one.source for some in self.tables.values() for one in some]
        if any("lsn" in one for one in sources):
            return ByLsn()
        return ByTopic() if any(one["pos"] < 0 for one in sources) else ByBinlog()


def payload(text: str | None) -> dict[str, Any] | None:
    """What a key or a value says, with or without its schema; None of a tombstone."""
    body: dict[str, Any] | None = None if text is None else json.loads(text)
    return body["payload"] if body and body.keys() == {"schema", "payload"} else body


def encoded(text: str) -> set[str]:
    """The columns whose values are not what they look like, by the schema beside them, if there is one."""
    schema = json.loads(text).get("schema") or {}
    return {
        column["field"]
        for image in schema.get("fields", ())
        if image["field"] == "after"
        for column in image["fields"]
        if column.get("name") or column["type"] == "bytes"
    }


_UNWRAPPED: Final = "__"


def told_of(offset: int, record: Mapping[str, Any], body: Mapping[str, Any]) -> Told | None:
    """A record about a row, wrapped or not; None of all others."""
    key = None if record["key"] is None else json.dumps(payload(record["key"]), sort_keys=True)
    if "__op" in body:
        names = {name.removeprefix("__source_").lstrip("_"): name for name in body}
        source = {name: body[of] for name, of in names.items() if of.startswith(_UNWRAPPED)}
        row = {name: value for name, value in body.items() if not name.startswith(_UNWRAPPED)}
        is_gone = body["__op"] == "d"
        return Told(offset, body["__op"], key, None, None if is_gone else row, source)
    if body.get("op") in {"r", "c", "u", "d", "t"}:
        return Told(offset, body["op"], key, body["before"], body["after"], body["source"])
    return None


def dropped(body: Mapping[str, Any]) -> Iterator[Drop]:
    """The tables that a statement of the schema changes' topic drops."""
    for change in body.get("tableChanges") or ():
        if change["type"] == "DROP":
            yield Drop(change["id"].rpartition(".")[2].strip('"'), body["source"])


def snapshots(told: Sequence[Told]) -> Iterator[Told]:
    """The first rows of snapshots that are whole: from their first mark to their last no offset is missing."""
    first: Told | None = None
    before: Told | None = None
    for one in told:
        if not one.is_of_snapshot or before is None or before.offset + 1 != one.offset:
            first = None
        if one.is_of_snapshot and one.mark.startswith("first"):
            first = one
        if first is not None and first is not one and one.mark.startswith("last"):
            yield first
        before = one


def once(told: Sequence[Told], rule: Rule) -> list[tuple[Place, Told]]:
    """Each event once, at the greatest of the places that its deliveries say.

    Equal events are counted within one delivery: a new one begins where the stream falls back.
    """
    found: dict[tuple[Place, int], tuple[Place, Told]] = {}
    seen: Counter[Place] = Counter()
    reached: Place = ()
    for one in told:
        if one.is_of_snapshot or one.is_chunk:
            found[(one.offset,), 0] = (rule.at(one), one)
            continue
        progress = rule.progress(one)
        if progress < reached:
            seen.clear()
        reached, event = progress, rule.event(one)
        seen[event] += 1
        at, number = rule.at(one), (event, seen[event])
        known = found.get(number)
        # In a topic's own order the first delivery counts, and all that follow repeat what follows.
        if known is None or known[0] < at:
            found[number] = (at, one)
    return [*found.values()]


def folded(topics: Topics, table: str, rule: Rule) -> list[Row]:
    """The rows of a table after all that was recorded."""
    told = topics.tables[table]
    steps: list[tuple[Place, Told | None]] = [*once(told, rule)]
    steps += [(removal(rule.at(first)), None) for first in snapshots(told)]
    if type(rule) is ByBinlog:
        steps += [
            ((*binlog_place(drop.source), REMOVES, 0), None)
            for drop in topics.drops
            if drop.table == table
        ]
    ordered = [step for _, step in sorted(steps, key=lambda step: step[0])]
    has_key = any(one.key is not None for one in told if one.operation != "t")
    return by_key(ordered) if has_key else as_bag(ordered)


def removal(at: Place) -> Place:
    """Directly before the rows of a snapshot whose first row stands here."""
    return (at[0], REMOVES) if len(at) == len(("offset", "rank")) else (*at[:-2], REMOVES, 0)


def by_key(steps: Iterable[Told | None]) -> list[Row]:
    rows: dict[str | None, Row] = {}
    for one in steps:
        if one is None or one.operation == "t":
            rows.clear()
            continue
        rows.pop(one.key, None)
        if one.after is not None:
            rows[one.key] = one.after
    return [*rows.values()]


def as_bag(steps: Iterable[Told | None]) -> list[Row]:
    rows: Counter[str] = Counter()
    for one in steps:
        if one is None or one.operation == "t":
            rows.clear()
            continue
        if one.before is not None:
            rows[json.dumps(one.before, sort_keys=True)] -= 1
        if one.after is not None:
            rows[json.dumps(one.after, sort_keys=True)] += 1
    return [json.loads(row) for row in (+rows).elements()]


def differing(recording: Path) -> set[str]:
    """The tables of which the rule does not yield the rows of SELECT, by the columns that every image has as a text."""
    topics = Topics(recording / "drops")
    rule = topics.rule()
    tables = json.loads((recording / "expected.json").read_text())["tables"]
    return {
        name
        for name, wanted in tables.items()
        if not agree(folded(topics, name, rule), wanted, topics.encoded[name])
    }


def agree(rows: Sequence[Row], wanted: Mapping[str, Any], unread: set[str]) -> bool:
    """Whether these are the wanted rows, in the columns whose values need no reading."""
    columns: Sequence[str] = wanted["columns"]
    plain = [
        name for name in columns if name not in unread and all(is_plain(row, name) for row in rows)
    ]
    places = [columns.index(name) for name in plain]
    return bool(plain) and Counter(tuple(text(row[name]) for name in plain) for row in rows) == (
        Counter(tuple(text(row[at]) for at in places) for row in wanted["rows"])
    )


def is_plain(row: Row, name: str) -> bool:
    """Whether a row has this column, as a whole number, a text or nothing."""
    return name in row and type(row[name]) in (int, str, type(None))


def text(value: Any) -> str | None:
    return None if value is None else str(value)
