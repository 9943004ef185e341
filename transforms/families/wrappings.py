"""What clouds and consoles wrap messages in, and the messages taken out of it, as lines of a dump of a topic have them.

A *batch* has several messages in one JSON document: it is cut where files are cut into records, so that each message is
a record with a place of its own, as the elements of an array are.

| wrapping | batch | one message |
|---|---|---|
| Lambda's event of MSK | ``records``: lists by ``<topic>-<partition>`` | a record of Kafka, key and value in base64 |
| Lambda's event of Kinesis | ``Records`` | ``kinesis``: ``data`` in base64, ``partitionKey`` |
| Kinesis, ``aws kinesis get-records`` | ``Records`` | ``Data`` in base64, ``PartitionKey`` |
| Firehose, to a Lambda or an HTTP endpoint | ``records`` | ``data`` or ``kafkaRecordValue`` in base64 |
| Pub/Sub, pulled or pushed | ``receivedMessages`` | ``message``: ``data`` in base64, ``attributes``, ``orderingKey`` |
| Redpanda Console | an array | ``partitionID``, and a ``payload`` with its ``encoding`` as key and value |
| Confluent's REST proxy | an array, or ``records`` | a record of Kafka, as JSON or in base64 |

A partition key or an ordering key is the message's key where it is a JSON object, as Debezium Server writes it.

Vendors: AWS, "Using Lambda with Amazon MSK", "… with Kinesis", "Amazon Data Firehose data transformation"; Google,
Pub/Sub REST reference, ``PubsubMessage``; redpanda-data/console; Confluent REST proxy API, v2; Debezium Server,
"Amazon Kinesis", "Google Cloud Pub/Sub".
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from transforms.feed.feed import Feed
from transforms.json_values import Number
from transforms.record import DEFAULT_LIMITS, Limits, Record
from transforms.records import json_documents

_LISTS: Final = ("records", "Records", "receivedMessages")
_MARKS: Final = tuple(f'"{name}"'.encode() for name in _LISTS)
_BESIDE: Final = frozenset(
    {
        *("eventSource", "eventSourceArn", "eventSourceARN", "bootstrapServers"),
        *("invocationId", "deliveryStreamArn", "sourceKinesisStreamArn", "sourceMSKArn", "region"),
        *("requestId", "timestamp", "NextShardIterator", "MillisBehindLatest", "ChildShards"),
        *("key_schema", "value_schema", "key_schema_id", "value_schema_id"),
    }
)
"""What may stand beside the list of messages."""
_HOLDS_MESSAGE: Final = frozenset(
    {"value", "kinesis", "data", "Data", "kafkaRecordValue", "message"}
)
"""One of these is in every message of a batch; a null in Kafka may be left out of its record."""
_PARTS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_BY_PARTITION: Final = msgspec.json.Decoder(dict[str, list[msgspec.Raw]])
_IN_ORDER: Final = msgspec.json.Decoder(list[msgspec.Raw])


def split_dump(
    data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Record]:
    """JSON documents, one a line, pretty-printed, concatenated or in an array; a batch is cut into its messages."""
    records = json_documents.split(data, limits)
    if not any(mark in data for mark in _MARKS):
        yield from records
        return
    for record in records:
        yield from _cut(record)


def _cut(record: Record) -> Iterator[Record]:
    """The messages of a batch, each where it stands in the object; any other record as it is."""
    messages = [] if record.defect is not None else _messages(record.payload)
    at, line, read_to = 0, record.line, 0
    for message in messages:
        at = record.payload.find(message, at)
        line += record.payload.count(b"\n", read_to, at)
        read_to = at
        yield Record(line, record.byte_offset + at, message)
        at += len(message)
    if not messages:
        yield record


def _messages(document: bytes) -> list[bytes]:
    if not any(mark in document for mark in _MARKS):
        return []
    try:
        parts = _PARTS.decode(document)
        name = next((one for one in _LISTS if one in parts), None)
        if name is None or not parts.keys() <= {name, *_BESIDE}:
            return []
        listed = bytes(parts[name])
        if listed.startswith(b"{"):
            every = [one for some in _BY_PARTITION.decode(listed).values() for one in some]
        else:
            every = _IN_ORDER.decode(listed)
        found = [bytes(one) for one in every]
        fields = _PARTS.decode(found[0]).keys() if found else set()
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return []
    is_batch = not _HOLDS_MESSAGE.isdisjoint(fields) or {"partition", "offset"} <= fields
    return found if is_batch else []


def unwrapped(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """The line of a dump that a wrapped message stands for; any other line as it is."""
    if type(line.get("kinesis")) is dict and "data" in line["kinesis"]:
        return _of_data(line["kinesis"])
    if type(line.get("message")) is dict and line.keys() <= _AROUND_PUBSUB:
        return _of_data(line["message"])
    if not _DATA.isdisjoint(line) and line.keys() <= _OF_STREAM:
        return _of_data(line)
    if "partitionID" in line or "partitionId" in line:
        return _of_console(line)
    return line


_AROUND_PUBSUB: Final = frozenset({"message", "subscription", "ackId", "deliveryAttempt"})
_DATA: Final = frozenset({"data", "Data", "kafkaRecordValue"})
_KEYS: Final = ("partitionKey", "PartitionKey", "orderingKey", "ordering_key", "kafkaRecordKey")
_TIMES: Final = ("approximateArrivalTimestamp", "ApproximateArrivalTimestamp")
_PUBLISHED: Final = ("publishTime", "publish_time")
_ABOUT: Final = ("kafkaRecordMetadata", "mskRecordMetadata", "kinesisRecordMetadata")
_OF_STREAM: Final = frozenset(
    {
        *(
            *_DATA,
            *_KEYS,
            *_TIMES,
            *_PUBLISHED,
            *_ABOUT,
            "recordId",
            "attributes",
            "EncryptionType",
        ),
        *("messageId", "message_id", "kinesisSchemaVersion", "sequenceNumber", "SequenceNumber"),
        *("encryptionType", "eventSource", "eventVersion", "eventID", "eventName", "awsRegion"),
        *("eventSourceARN", "invokeIdentityArn", "subscription_name"),
    }
)
"""All that a message in ``data`` can have beside it."""


def _of_data(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message whose value is ``data`` in base64; Pub/Sub's export to BigQuery has it as it is."""
    about: Mapping[str, Any] = next(
        (message[one] for one in _ABOUT if type(message.get(one)) is dict), {}
    )
    key = _plain(_first(message, _KEYS))
    arrived = _first(message, _TIMES)
    found = {
        "value": _plain(_first(message, _DATA)),
        "headers": message.get("attributes"),
        "timestamp": _first(message, _PUBLISHED) if arrived is None else _milliseconds(arrived),
        "topic": about.get("topic"),
        "partition": _first(about, ("partition", "partitionId")),
        "offset": about.get("offset"),
    }
    if type(key) is str and key.startswith("{"):
        found["key"] = key
    return found


def _of_console(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record as Redpanda Console downloads it."""
    return {
        "partition": record.get("partitionID", record.get("partitionId")),
        **{name: record[name] for name in ("offset", "timestamp", "topic") if name in record},
        "key": _of_payload(record.get("key")),
        "value": _of_payload(record.get("value")),
        "headers": [
            {"key": one.get("key"), "value": _of_payload(one.get("value"))}
            for one in record.get("headers") or ()
            if type(one) is dict
        ]
        if type(record.get("headers")) is list
        else None,
    }


def _of_payload(value: Any) -> Any:
    """A key or a value: its ``payload``; what is no object of that kind stands for itself."""
    if type(value) is not dict or "encoding" not in value:
        return value
    if "normalizedPayload" in value:
        return _plain(value["normalizedPayload"])
    return value.get("payload")


def _plain(data: Any) -> Any:
    """What base64 stands for: a text, or bytes that are no UTF-8 or begin as Confluent's wire format does."""
    if type(data) is not str:
        return data
    try:
        octets = binascii.a2b_base64(data, strict_mode=True)
    except ValueError:
        return data
    if octets.startswith(b"\x00"):
        return octets
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return octets


def _milliseconds(seconds: Any) -> Any:
    """Milliseconds since 1970: Kinesis says seconds with a fraction, Firehose milliseconds."""
    if isinstance(seconds, Number):
        try:
            return int(float(seconds) * 1000)
        except (ValueError, OverflowError):
            return None
    return seconds


def _first(message: Mapping[str, Any], names: tuple[str, ...] | frozenset[str]) -> Any:
    return next((message[name] for name in names if message.get(name) is not None), None)


def octets_of(value: Any) -> Any:
    """A header's value: Lambda's events have its bytes as numbers with a sign; anything else as it is."""
    if type(value) is not list:
        return value
    try:
        return bytes(one & 0xFF for one in value)
    except TypeError:
        return value
