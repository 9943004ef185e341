"""Events as Arcion and Debezium write them to Kafka: envelopes, with Connect's schema beside them or without."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, date, datetime
from random import Random

from tests.laws.drawn.histories import COLUMNS
from tests.laws.drawn.wide import WIDE_TYPES
from tests.laws.oracle.oracle import Event, Image
from tests.laws.rendering.spelling import printed, raw

UNAVAILABLE = "__debezium_unavailable_value"
OPS = {"read": "r", "insert": "c", "update": "u", "delete": "d", "truncate": "t"}
KEY = ("case_id", "id")
_FIRST_DAY = date(1970, 1, 1).toordinal()
_PLAIN = {
    "string": "string", "int": "int32", "bigint": "int64", "double": "double", "binary": "bytes",
}  # fmt: skip
_CONNECT = "org.apache.kafka.connect.data."
_DEBEZIUM = "io.debezium."
_DECIMALS: dict[str, dict[str, object]] = {
    "unscaled": {"type": "bytes", "name": f"{_CONNECT}Decimal"},
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
_DATES: dict[str, dict[str, object]] = {
    "millis": {"type": "int32", "name": f"{_CONNECT}Date"},
    "own millis": {"type": "int32", "name": f"{_DEBEZIUM}time.Date"},
    "micros": {"type": "int32", "name": f"{_DEBEZIUM}time.Date"},
    "text": {"type": "string"},
}


def arcion(event: Event, *, seed: int, columns: Sequence[str] = COLUMNS) -> str:
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
    log = event.log_position[2:] if event.source != "snapshot" else None
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
        "op": event.operation.upper() if generation == 1 else OPS.get(event.operation, "x"),
        "ts_ms": (event.event_at_ms or 0) + rng.randint(0, 20_000_000),
    }
    schema = _schema(columns, "unscaled" if rng.random() < 0.5 else decimal, time)
    key = {name: _value(name, _key(event)[name], decimal, time, texts) for name in KEY}
    if generation == 1:
        parts = {"schema_1": _key_schema(), "payload_1": key}
        return printed({**parts, "schema_2": schema, "payload_2": envelope}, rng)
    value = printed({"schema": schema, "payload": envelope}, rng)
    return _sent(value, {"schema": _key_schema(), "payload": key}, rng)


def debezium(event: Event, *, seed: int, has_key: bool, columns: Sequence[str] = COLUMNS) -> str:
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
    if event.operation not in ("delete", "truncate"):
        unsent = [name for name in columns if name not in KEY and name not in after]
        images[1] |= dict.fromkeys(unsent, UNAVAILABLE)
    place = _place(event, has_key, rng)
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
        "op": OPS.get(event.operation, "x"),
        "ts_ms": (event.event_at_ms or 0) + rng.randint(0, 20_000_000),
        "transaction": event.transaction
        and {"id": event.transaction.id, "total_order": 1, "data_collection_order": 1},
    }
    schema = _schema(columns, decimal, time)
    value = printed({"schema": schema, "payload": envelope} if has_schema else envelope, rng)
    if not has_key:
        return value
    offset = rng.getrandbits(40) if event.source == "snapshot" else event.log_position[-1]
    if event.operation == "truncate":
        return _sent(value, None, rng, offset)
    key = {name: _value(name, _key(event)[name], decimal, time, texts=False) for name in KEY}
    return _sent(value, {"schema": _key_schema(), "payload": key}, rng, offset)


def _place(event: Event, has_key: bool, rng: Random) -> dict[str, object]:
    """What MySQL's source, or Postgres's, says of where the event stands."""
    numbers = [int(text) for text in event.identity]
    if has_key:
        file, position, row = (*numbers, 0)[:3]
        return {"file": f"mysql-bin.{file:06d}", "pos": position, "row": row}
    (own,), at = numbers, event.log_position[2]
    before = rng.choice([None, at - 1, at]) if at == own else at
    return {"lsn": own, "sequence": json.dumps([before and str(before), str(own)])}


def _key(event: Event) -> Image:
    return {name: event.result[name] for name in KEY}


def _with_key_once(event: Event, rng: Random) -> tuple[Image, Image]:
    """The images, some without what the message's key says just as well."""
    before, after = dict(event.before), dict(event.after)
    kept, other = (before, after) if event.operation == "delete" else (after, before)
    droppable = [name for name in KEY if name in kept and name not in other]
    if rng.random() < 0.3 and (event.operation == "delete" or len(kept) > len(droppable)):
        for name in droppable:
            del kept[name]
    return before, after


def _shuffled(image: Image, rng: Random) -> list[str]:
    return rng.sample(list(image), len(image))


def _value(name: str, text: str | None, decimal: str, time: str, texts: bool) -> object:
    """The value as JSON has it, numbers in the digits that they have."""
    kind = WIDE_TYPES[name]
    if text is None or kind in ("string", "binary"):
        return text
    if kind in ("timestamp", "date") and time != "text":
        at = datetime.fromisoformat(text).replace(tzinfo=UTC)
        count = int(at.timestamp()) * (1_000_000 if time == "micros" else 1_000)
        count = at.toordinal() - _FIRST_DAY if kind == "date" else count
        return str(count) if texts else count
    if kind.startswith("decimal") and decimal in ("unscaled", "struct"):
        whole, _, fraction = text.partition(".")
        unscaled = int(whole + fraction)
        size = unscaled.bit_length() // 8 + 1
        written = b64encode(unscaled.to_bytes(size, "big", signed=True)).decode()
        return written if decimal == "unscaled" else {"scale": len(fraction), "value": written}
    is_text = texts or kind in ("timestamp", "date")
    return text if is_text or (kind.startswith("decimal") and decimal == "text") else raw(text)


def _schema(columns: Sequence[str], decimal: str, time: str) -> dict[str, object]:
    """Connect's schema of an envelope; its name lies about the table."""
    fields = [{"field": name, "optional": True, **_typed(name, decimal, time)} for name in columns]
    images = [
        {"type": "struct", "field": side, "name": "any.other.Value", "fields": fields}
        for side in ("before", "after")
    ]
    op = {"type": "string", "field": "op"}
    return {"type": "struct", "name": "any.other.Envelope", "fields": [*images, op]}


def _typed(name: str, decimal: str, time: str) -> dict[str, object]:
    kind = WIDE_TYPES[name]
    if kind.startswith("decimal"):
        scale = {"scale": kind.rstrip(")").partition(",")[2]} if decimal == "unscaled" else {}
        return {**_DECIMALS[decimal], **({"parameters": scale} if scale else {})}
    if kind == "timestamp":
        return _TIMES[time]
    if kind == "date":
        return _DATES[time]
    return {"type": _PLAIN[kind]}


def _key_schema() -> dict[str, object]:
    columns = [{"field": name, "type": _PLAIN[WIDE_TYPES[name]]} for name in KEY]
    return {"type": "struct", "name": "any.other.Key", "fields": columns}


def _sent(value: str, key: dict[str, object] | None, rng: Random, offset: int | None = None) -> str:
    """The message with its key: a line of a dump, or the document behind that of its key.

    ``offset``: where it stands in its topic, 0 where nothing may say it; None: anywhere.
    """
    key_text = printed(key, rng)
    if key is not None and not offset and rng.random() < 0.3:
        return f"{key_text}\n{value}"
    parts = [part if rng.random() < 0.5 else json.dumps(part) for part in (key_text, value)]
    message = f'"key": {parts[0]}, "value": {parts[1]}'
    if offset == 0:
        return f"{{{message}}}"
    place = f'"topic": "any", "partition": 0, "offset": {offset or rng.getrandbits(40)}'
    return f"{{{place}, {message}}}"
