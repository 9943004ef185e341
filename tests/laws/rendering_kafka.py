"""Events as Arcion and Debezium write them to Kafka: envelopes, with Connect's schema beside them or without.

A seed stands for one delivery: it draws the generation of the format, how values and absence are spelled, and whether
the record is a line of a dump or a document of its own. A record may have line breaks.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from datetime import UTC, datetime
from decimal import Decimal
from random import Random

from tests.laws.oracle import Event, Image

UNAVAILABLE = "__debezium_unavailable_value"
OPS = {"read": "r", "insert": "c", "update": "u", "delete": "d"}
KEY = ("case_id", "id")
_PLAIN = {"case_id": "string", "id": "int32", "c1": "int32", "c2": "string"}
_CONNECT = "org.apache.kafka.connect.data."
_DEBEZIUM = "io.debezium."
_SCALE: dict[str, object] = {
    "type": "bytes",
    "name": f"{_CONNECT}Decimal",
    "parameters": {"scale": "2"},
}
_DECIMALS: dict[str, dict[str, object]] = {
    "unscaled": _SCALE,
    "struct": {"type": "struct", "name": f"{_DEBEZIUM}data.VariableScaleDecimal"},
    "number": {"type": "double"},
    "text": {"type": "string"},
}
_TIMES: dict[str, dict[str, object]] = {
    "millis": {"type": "int64", "name": f"{_CONNECT}Timestamp"},
    "own millis": {"type": "int64", "name": f"{_DEBEZIUM}time.Timestamp"},
    "micros": {"type": "int64", "name": f"{_DEBEZIUM}time.MicroTimestamp"},
    "text": {"type": "string"},
}


def arcion(event: Event, *, seed: int) -> str:
    """One message of Arcion's JSON CDC format, of any of its four generations."""
    rng = Random(f"arcion {seed}")
    generation = rng.randint(1, 4)
    texts = generation < 4
    # Arcion's texts of decimals are numbers, whatever type the schema gives them.
    decimal, time = rng.choice(["number", "text"]), rng.choice(["text", "millis"])
    before, after = _with_key_once(event, rng)
    images = [
        {name: _value(name, image[name], decimal, time, texts) for name in _shuffled(image, rng)}
        for image in (before, after)
    ]
    nothing: object = rng.choice([None, "default", {}]) if generation > 1 else None
    log = event.position[2:] if event.source != "snapshot" else None
    envelope = {
        "before": images[0] or nothing,
        "after": images[1] or nothing,
        "source": {
            "connector": "MYSQL",
            "db": "shop",
            "schema": "default_schema",
            "table": event.table,
            "query": 'INSERT INTO "elsewhere" VALUES (1.50, -3)',
            "snapshot": "false" if log else "true",
            "file": f"log-bin.{log[0]:06d}" if log else None,
            "pos": (str(log[1]) if texts else log[1]) if log else None,
            "row": log[2] if log else None,
            "ts_ms": event.event_at_ms,
        },
        "op": event.operation.upper() if generation == 1 else OPS[event.operation],
        "ts_ms": (event.event_at_ms or 0) + rng.randint(0, 20_000_000),
    }
    decimals = _SCALE if rng.random() < 0.5 else _DECIMALS[decimal]
    schema = _schema(decimals, _TIMES[time])
    key = {name: _value(name, _key(event)[name], decimal, time, texts) for name in KEY}
    if generation == 1:
        parts = {"schema_1": _key_schema(), "payload_1": key}
        return _printed({**parts, "schema_2": schema, "payload_2": envelope}, rng)
    value = _printed({"schema": schema, "payload": envelope}, rng)
    return _sent(value, {"schema": _key_schema(), "payload": key}, rng)


def debezium(event: Event, *, seed: int, has_key: bool) -> str:
    """One change event: of MySQL, in a dump or after its key, or of Postgres, as a value that nothing goes with."""
    rng = Random(f"debezium {seed}")
    has_schema = rng.random() < 0.5
    decimal = rng.choice([*_DECIMALS] if has_schema else ["number", "text"])
    time = rng.choice([*_TIMES]) if has_schema else "text"
    before, after = _with_key_once(event, rng) if has_key else (event.before, event.after)
    images = [
        {
            name: _value(name, image[name], decimal, time, texts=False)
            for name in _shuffled(image, rng)
        }
        for image in (before, after)
    ]
    if event.operation != "delete":
        images[1] |= {name: UNAVAILABLE for name in ("c1", "c2", "c3", "c4") if name not in after}
    one, two, three = event.position[2:]
    place: dict[str, object] = {"file": f"mysql-bin.{one:06d}", "pos": two, "row": three}
    if not has_key:
        place = {"lsn": two, "sequence": json.dumps([str(one), str(two)])}
    of_snapshot = rng.choice(["true", "last", True, "first"])
    envelope = {
        "before": images[0] or None,
        "after": images[1] or None,
        "source": {
            "connector": "mysql" if has_key else "postgresql",
            "db": "shop",
            "schema": "default_schema",
            "table": event.table,
            "snapshot": of_snapshot if event.source == "snapshot" else rng.choice(["false", False]),
            "ts_ms": event.event_at_ms or 0,
            **place,
        },
        "op": OPS[event.operation],
        "ts_ms": (event.event_at_ms or 0) + rng.randint(0, 20_000_000),
        "transaction": None,
    }
    schema = _schema(_DECIMALS[decimal], _TIMES[time])
    value = _printed({"schema": schema, "payload": envelope} if has_schema else envelope, rng)
    if not has_key:
        return value
    key = {name: _value(name, _key(event)[name], decimal, time, texts=False) for name in KEY}
    return _sent(value, {"schema": _key_schema(), "payload": key}, rng)


def _key(event: Event) -> Image:
    return {name: event.result[name] for name in KEY}


def _with_key_once(event: Event, rng: Random) -> tuple[Image, Image]:
    """The images, some without what the message's key says just as well."""
    before, after = dict(event.before), dict(event.after)
    kept, other = (before, after) if event.operation == "delete" else (after, before)
    spare = [name for name in KEY if name in kept and name not in other]
    if rng.random() < 0.3 and (event.operation == "delete" or len(kept) > len(spare)):
        for name in spare:
            del kept[name]
    return before, after


def _shuffled(image: Image, rng: Random) -> list[str]:
    return rng.sample(list(image), len(image))


def _value(name: str, text: str | None, decimal: str, time: str, texts: bool) -> object:
    """The value as JSON has it, numbers in the digits that they have."""
    if text is None or name in ("case_id", "c2"):
        return text
    if name == "c4" and time != "text":
        at = int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
        count = at * (1_000_000 if time == "micros" else 1_000)
        return str(count) if texts else count
    if name == "c3" and decimal in ("unscaled", "struct"):
        unscaled = int(Decimal(text).scaleb(2))
        size = unscaled.bit_length() // 8 + 1
        written = b64encode(unscaled.to_bytes(size, "big", signed=True)).decode()
        return written if decimal == "unscaled" else {"scale": 2, "value": written}
    is_text = texts or name == "c4" or (name == "c3" and decimal == "text")
    return text if is_text else f"@{text}@"


def _schema(decimal: dict[str, object], time: dict[str, object]) -> dict[str, object]:
    """Connect's schema of an envelope; its name lies about the table."""
    plain = [{"field": name, "type": kind, "optional": True} for name, kind in _PLAIN.items()]
    columns = [*plain, {"field": "c3", **decimal}, {"field": "c4", **time}]
    images = [
        {"type": "struct", "field": side, "name": "any.other.Value", "fields": columns}
        for side in ("before", "after")
    ]
    op = {"type": "string", "field": "op"}
    return {"type": "struct", "name": "any.other.Envelope", "fields": [*images, op]}


def _key_schema() -> dict[str, object]:
    columns = [{"field": name, "type": _PLAIN[name]} for name in KEY]
    return {"type": "struct", "name": "any.other.Key", "fields": columns}


def _printed(document: object, rng: Random) -> str:
    printed = json.dumps(
        document,
        indent=rng.choice([None, 1]),
        separators=rng.choice([None, (",", ":")]),
        ensure_ascii=rng.random() < 0.5,
    )
    return re.sub('"@([^"@]*)@"', r"\1", printed)


def _sent(value: str, key: dict[str, object], rng: Random) -> str:
    """The message with its key: a line of a dump, or the document behind that of its key."""
    key_text = _printed(key, rng)
    if rng.random() < 0.3:
        return f"{key_text}\n{value}"
    parts = [part if rng.random() < 0.5 else json.dumps(part) for part in (key_text, value)]
    place = f'"topic": "any", "partition": 0, "offset": {rng.getrandbits(40)}'
    return f'{{{place}, "key": {parts[0]}, "value": {parts[1]}}}'
