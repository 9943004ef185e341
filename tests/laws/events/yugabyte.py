"""Histories of YugabyteDB's tablets, as clients of either form wrote the responses that they got."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from decimal import Decimal
from random import Random

from tests.laws.drawn import yugabyte_histories
from tests.laws.drawn.yugabyte_histories import BEGIN, COMMIT, EFFECTS, NAMES, OIDS, TRUNCATE, Said
from tests.laws.events.meanings import HOLD, Drawn, Landed, Meaning, Place, Record, Row
from tests.laws.oracle.event import Image, Key, LogPosition
from tests.laws.rendering.spelling import printed
from transforms.feed.feed import Feed, RangeDeletePolicy, Table

TYPES = {
    "id": "int", "a": "string", "b": "int", "n": "bigint", "d": "decimal(38,9)", "p": "binary",
}  # fmt: skip
ITEMS = Table("items", ("id",), TYPES, ())
TEXTS = ["x", "", None, "é 😀", 'a"b\\', "a\nb", "null", "AP8="]
LONG = [2**53 + 1, -(2**63), 2**63 - 1, 7, None]
BYTES = [b"", b"\x00\xff", "é".encode(), b"\\x41", None]
VALUES: Mapping[str, Sequence[object]] = {
    **{"a": TEXTS, "b": [0, 7, -(2**31), None], "n": LONG, "p": BYTES},
    "d": ["1.5", "-0.000000001", "12345678901234567890123456789", None],
}
FOUND = "things"
"""A table that the feed does not declare: in windows that describe it, its rows have a key and types."""

WINDOWS = 3
BEHIND = 2**63 - 1
COMPACTION_WATERMARK: LogPosition = (0, 1, 1, 8, 1, -2)
NO_CHECKPOINT = (
    *("term", "index", "write_id", "key", "snapshot_time"),
    *("reached_term", "reached_index", "stream_id"),
)


def drawn(numbers: Sequence[int], range_deletes: RangeDeletePolicy) -> Drawn:
    """The histories with these numbers, and what the responses of their tablets have to become."""
    objects: dict[Place, Landed] = {}
    for number in numbers:
        rng = Random(f"yugabyte {number}")
        table = FOUND if number % 3 == 0 else "items"
        history = yugabyte_histories.History(
            number, turns=(1, 1 + number % 2), values=VALUES, table=table, again=True
        )
        _Tablets(history, rng, objects, holds=range_deletes == "hold").land(number)
    feed = Feed(
        "laws", "yugabyte", "/nowhere", tables={"items": ITEMS}, range_deletes=range_deletes
    )
    for name, landed in objects.items():
        Random(str(name)).shuffle(landed.records)
    return Drawn(feed, objects)


class _Tablets:
    """The two tablets of a history, on their way into windows of their own."""

    def __init__(
        self,
        history: yugabyte_histories.History,
        rng: Random,
        objects: dict[Place, Landed],
        *,
        holds: bool,
    ) -> None:
        self.history, self.rng, self.objects, self.holds = history, rng, objects, holds
        every = [one for log in history.logs.values() for batch in log for one in batch]
        self.number_of = {id(one): at for at, one in enumerate(every)}
        self.same = history.said_before()
        self.described: set[str] = set()

    def land(self, number: int) -> None:
        windows = [f"h{number} w{at}" for at in range(WINDOWS)]
        if self.history.table == FOUND:
            for window in windows:
                if self.rng.random() < 0.6:
                    self.described.add(window)
                    for _ in range(self.rng.randint(1, 2)):
                        self.add(window, self.description(self.rng.choice([*self.history.logs])))
        for window, tablet, records in self.history.delivered(windows):
            self.add(window, self.response(window, tablet, records))

    def add(self, window: str, record: Record) -> None:
        name = f"{window}/{self.rng.randint(1, 2)}.json"
        self.objects.setdefault((window, name), Landed()).records.append(record)

    def description(self, tablet: str) -> Record:
        """A response with a DDL alone, which describes the table."""
        columns = [{"name": name, "is_key": name == "id", "oid": OIDS[name]} for name in TYPES]
        message = {
            "op": self.rng.choice([5, "DDL"]),
            **{"table": FOUND, "pgschema_name": "public", "schema": {"column_info": columns}},
        }
        at = {"term": 1, "index": 2, "write_id": 0}
        meaning = {"row_message": message, "cdc_sdk_op_id": at}
        document = {
            **{"tablet_id": tablet, "cdc_sdk_proto_records": [meaning]},
            "cdc_sdk_checkpoint": {"term": 1, "index": 2},
        }
        row = Row(FOUND, "ddl", "note")
        ddl = Meaning(FOUND, (tablet, "ddl"), (0, 1, 1, 2, 0), 2, [row])
        return Record(printed(document, self.rng), [_note(tablet, (1, 2)), ddl])

    def response(self, window: str, tablet: str, records: Sequence[Said]) -> Record:
        """A response as a client wrote it, who added the tablet."""
        protojson = self.rng.random() < 0.5
        checkpoint: tuple[int, int | None] = (1, self.rng.choice([None, 90]))
        document: dict[str, object] = {
            "tablet_id": tablet,
            "cdc_sdk_checkpoint": {"term": 1, **({"index": 90} if checkpoint[1] else {})},
        }
        meaning = [one.document(protojson=protojson) for one in records]
        events = self.history.events(tablet, list(records))
        meanings, is_row = [], False
        for one, event in zip(records, events, strict=True):
            meanings.append(self.meaning(window, tablet, one, event.log_position))
        if self.rng.random() < 0.06:
            quarantined, reason = self.quarantined()
            meaning.append(quarantined)
            meanings.append(Meaning("items", reason=reason))
            is_row = reason != "unknown_operation"
        meanings.insert(0, _note(tablet, checkpoint, records, ends_in_row=is_row))
        document["cdc_sdk_proto_records"] = meaning
        return Record(printed(document, self.rng), meanings)

    def meaning(self, window: str, tablet: str, one: Said, log_position: LogPosition) -> Meaning:
        """What a record of a response says, and where it stands in this delivery of it."""
        name: tuple[object, ...] = (tablet, self.number_of[self.same.get(id(one), id(one))])
        number, stable = NAMES[one.op].lower(), 2 if one.op == BEGIN else 5
        if one.op in (BEGIN, COMMIT):
            name = (tablet, number, one.transaction)
        if one.op == BEGIN:
            log_position = log_position[:2]
        return Meaning(one.table, name, log_position, stable, [self.row(window, one)])

    def row(self, window: str, one: Said) -> Row:
        operation, effect = NAMES[one.op].lower(), EFFECTS[one.op]
        if one.op in (BEGIN, COMMIT):
            return Row(one.table, operation, effect)
        if one.op == TRUNCATE:
            return Row(one.table, operation, HOLD if self.holds else effect, scope={})
        image = _image(one.row, is_declared=one.table == "items")
        key: Key | None = (image["id"],)
        if one.table == FOUND and window not in self.described:
            key = None
        if effect == "remove":
            return Row(one.table, operation, effect, key, before=image)
        return Row(one.table, operation, effect, key, after=image)

    def quarantined(self) -> tuple[dict[str, object], str]:
        """A record that cannot be taken, at a place of its own behind all others."""
        sound = Said(0, (9, self.rng.randrange(10**6), 0), None, {"id": 1})
        kind, document = self.rng.choice(["op", "value", "place"]), sound.document(protojson=False)
        message = document["row_message"]
        assert isinstance(message, dict)
        if kind == "op":
            message["op"] = 99
            return document, "unknown_operation"
        if kind == "value":
            message["new_tuple"] = [{"column_name": "id", "Datum": {"DatumString": "3000000000"}}]
            return document, "value_does_not_fit"
        del document["cdc_sdk_op_id"]
        return document, "missing_field"


def _note(
    tablet: str,
    checkpoint: tuple[int, int | None],
    records: Sequence[Said] = (),
    *,
    ends_in_row: bool = False,
) -> Meaning:
    """The note of a response: its checkpoint, and how far what is committed goes in it."""
    term, index = checkpoint
    ends = ends_in_row or any(one.op == COMMIT or one.transaction is None for one in records)
    commits = [one.place for one in records if one.op == COMMIT and one.place is not None]
    reached: tuple[int | None, int | None] = (None, None)
    if ends and index is not None:
        reached = (term, index)
    elif commits:
        reached = commits[-1][:2]
    after = dict.fromkeys(NO_CHECKPOINT) | {
        name: None if number is None else str(number)
        for name, number in zip(
            ("term", "index", "reached_term", "reached_index"), (*checkpoint, *reached), strict=True
        )
    }
    log_position = (0, 1) if index is None else (0, 1, term, index, BEHIND)
    return noted(tablet, after, log_position)


def noted(tablet: str, after: Image, log_position: LogPosition) -> Meaning:
    """The note that a response leaves: of no table, and no event of the source's."""
    row = Row(None, "checkpoint", "note", derived="checkpoint", after=after)
    name = (tablet, "checkpoint", frozenset(after.items()))
    return Meaning(None, name, log_position, 2, [row])


def _image(row: Mapping[str, object], *, is_declared: bool) -> Image:
    """The row as silver has it; in an undeclared table a decimal keeps the spelling that it was written with."""
    image: Image = {}
    for name, value in row.items():
        text = None if value is None else str(value)
        if isinstance(value, bytes):
            text = b64encode(value).decode()
        elif name == "d" and text is not None and is_declared:
            text = format(Decimal(text), ".9f")
        image[name] = text
    return image
