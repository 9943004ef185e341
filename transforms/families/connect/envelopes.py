"""One message taken apart into envelope fields, schema, key and table, and why that could not be done.

Put here the parts that a message has. Not here: reading a message into them (``envelope_reader``), and what they mean
(``images``, ``log_entries``, ``events``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from transforms.families.connect import keys, sources
from transforms.families.connect.keys import Key
from transforms.families.kafka_message import KafkaMessage
from transforms.families.whole_numbers import whole
from transforms.fault import Fault
from transforms.record import BronzeRecord
from transforms.value_types.times import since_1970

_NO_FIELDS: Final[Mapping[str, Any]] = {}


class Envelope:
    """What a message says.

    ``body``: the envelope's fields, none where the message is no object; ``source``: what it says of the event's table
    and log position. ``operation``: what the source did, None where ``op`` is unknown. ``row_fields``: what Connect's
    schema says of the row's columns, None without one. ``is_tombstone``: the value is null, or says so in a word
    (Kafka's mark on compacted topics that the key is deleted). ``is_lone_key``: in a file, a key's document without a
    value after it. ``fault``: why the message is no JSON object. ``note``: what the format calls a message that says
    nothing of any row. ``is_snapshot``: whether the format takes its row for one that a snapshot read.
    """

    __slots__ = (
        *(
            "body",
            "catalog",
            "fault",
            "is_lone_key",
            "is_snapshot",
            "is_tombstone",
            "key",
            "message",
        ),
        *("note", "operation", "record", "row_fields", "source"),
    )

    def __init__(self, message: KafkaMessage, record: BronzeRecord) -> None:
        self.message = message
        self.record = record
        self.body = _NO_FIELDS
        self.source = sources.UNKNOWN
        self.operation: str | None = None
        self.row_fields: list[Any] | None = None
        self.key: Key = keys.UNKNOWN
        self.is_tombstone = False
        self.is_lone_key = False
        self.fault: Fault | None = None
        self.note: str | None = None
        self.is_snapshot = False

    @property
    def event_at(self) -> int | None:
        """When the source made the change."""
        return since_1970(whole(self.source.fields.get("ts_ms")))

    @property
    def extracted_at(self) -> int | None:
        """When the connector read it."""
        return since_1970(whole(self.body.get("ts_ms")))
