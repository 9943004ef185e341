"""No record of any format ends in an exception: whatever is done to it, it becomes changes or stands in quarantine.

The records are those of the golden cases, damaged at random: values that no source writes, names that stand twice,
bytes lost and added. The draws are the same in every run. A header of a CSV file is the exception (``UnknownHeader``).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pytest

from assets.columns import layers
from assets.control.progress import declarations
from assets.silver.derive import stored_accounts
from tests.transforms.formats.in_process import ARROW, Outcome, Scenario, bronze, outcomes
from tests.transforms.formats.test_golden import cases, feed
from transforms.families import kafka_records
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.record import BronzeRecord
from transforms.silver.conform import Conformer
from transforms.silver.frames import Shards, row_batch
from transforms.silver.record_batches import bounded

COPIES: Final = 12
"""How many damaged copies are made of each case's drop."""

_NUMBER: Final = re.compile(rb'(?<![\w."])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w"])')
_DIGITS: Final = re.compile(rb"\d{4,}")
_TEXT: Final = re.compile(rb'"(?:[^"\\]|\\.)*"')
_PAIR: Final = re.compile(rb'(\\?"[^"\\{}]*\\?"\s*:\s*)([^,{}\[\]]+)(?=[,}])')
_NUMBERS: Final = (
    # Nanoseconds and microseconds where milliseconds or seconds belong, and the borders of 64 bits.
    *(b"1763607600000000000", b"1763607600000000", b"1763607600000", b"4294967296", b"-719163"),
    *(b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"9" * 400),
    *(b"18446744073709551615", b"2147483648", b"2932897", b"-1", b"0"),
)
_ODD: Final = (b"1e400", b"1e99999999999", b"NaN", b"1.5", b"null", b"true", b'"x"', b"[]", b"{}")
_TEXTS: Final = (
    *(b'"\\ud800"', b'"\\u0000"', b'""', b'"a/b"', b'"a.b.c.d.e"', b'"=="', b'"AAAA"', b'"NaN"'),
    *(b'"0000-00-00 00:00:00"', b'"0001-01-01T00:00:00+18:00"', b'"9999-12-31T23:59:59-18:00"'),
    *(
        b'"' + b"9" * 400 + b'"',
        b'"1e999999999"',
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b"1",
        b"null",
        b"[]",
    ),
)
_BYTES: Final = (b"\x00", b"\xff", b'"', b"{", b"}", b"[", b",", b"\\", b"\n", b"\\ud800")
KEYS: Final = (
    *(
        b'{"k":1,"k":2}',
        b'{"id":1,"id":1}',
        b'{"id":{"id":1,"id":2}}',
        b'{"payload":{"id":1,"id":2}}',
    ),
    *(
        b"",
        b"\xff\xfe",
        b"{",
        b"null",
        b"[]",
        b"1e999",
        b'{"id":1763607600000000000}',
        b'"\\ud800"',
    ),
    *(b'{"schema":{"fields":[1,null,{}]},"payload":{"id":[]}}', b'{"schema":1,"payload":2}'),
    b"[" * 100_000,
)


def damaged(rng: random.Random, data: bytes) -> bytes:
    """The bytes with one thing done to them."""
    kind = rng.randrange(9)
    if kind > 5 and (other := _of_other_shape(rng, data)) is not None:
        return other
    kind %= 6
    if kind < 4:
        pattern, others = (
            (_NUMBER, (*_NUMBERS, *_ODD)),
            (_DIGITS, _NUMBERS),
            (_TEXT, _TEXTS),
            (_PAIR, _NUMBERS),
        )[kind]
        found = [*pattern.finditer(data)]
        if found:
            at = rng.choice(found)
            # A name stands twice, once with another value.
            new = at[0] + b"," + at[1] if pattern is _PAIR else b""
            return data[: at.start()] + new + rng.choice(others) + data[at.end() :]
    start = rng.randrange(len(data) + 1)
    if kind == 4:
        return data[:start] + data[start + rng.choice((1, 1, 5, 20)) :]
    return data[:start] + rng.choice(_BYTES) + data[start:]


_SHAPES: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -7,
    1.5,
    10**30,
    "",
    "x",
    "0",
    [],
    {},
    [1],
    [None],
    {"a": {}},
)


def _of_other_shape(rng: random.Random, data: bytes) -> bytes | None:
    """The bytes with a value of one JSON line, or a part of it, replaced by one of another shape."""
    lines = data.split(b"\n")
    documents = []
    for at, line in enumerate(lines):
        with suppress(ValueError):
            documents.append((at, json.loads(line)))
    nested = [(at, one) for at, one in documents if isinstance(one, dict | list)]
    if not nested:
        return None
    at, document = rng.choice(nested)
    holder: Any = document
    while True:
        places = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not places:
            return None
        place = rng.choice(places)
        below = holder[place]
        if isinstance(below, dict | list) and below and rng.random() < 0.8:
            holder = below
            continue
        holder[place] = rng.choice(_SHAPES)
        break
    lines[at] = json.dumps(document).encode()
    return b"\n".join(lines)


def scenarios(format_name: str) -> Iterator[tuple[str, Scenario]]:
    """The damaged drops of a format's cases."""
    rng = random.Random(format_name)
    for case in cases():
        if case.folder.parent.name == format_name:
            whole = case.scenario()
            for copy in range(COPIES):
                name = rng.choice(sorted(whole.drop))
                data, kept = whole.drop[name], b""
                if format_name == "arcion_s3_csv":
                    # A header that nobody knows stops the feed.
                    kept, line_end, data = data.partition(b"\n")
                    kept += line_end
                drop = {**whole.drop, name: kept + damaged(rng, data)}
                yield f"{case.folder.name}{copy}", replace(whole, drop=drop)


FEEDS: Final = [
    *((name, True) for name in sorted(FORMATS)),
    *((name, False) for name in sorted(FORMATS) if FORMATS[name].describes_tables),
]


@pytest.mark.parametrize(("format_name", "is_declared"), FEEDS)
def test_damaged_records_are_changes_or_in_quarantine(format_name: str, is_declared: bool) -> None:
    declared = feed(format_name)
    of_format = declared if is_declared else replace(declared, tables={})
    found = outcomes(of_format, dict(scenarios(format_name)))
    assert found
    for name, outcome in found.items():
        assert outcome.records == outcome.count("records"), name
        written_down(of_format, outcome)
    assert any(outcome.quarantine for outcome in found.values())


def written_down(of_format: Feed, outcome: Outcome) -> None:
    """The accounts as their table has them: names of columns and tables are a source's, too."""
    windows = {account["window"] for account in outcome.accounts}
    stored = stored_accounts(of_format, declarations(of_format, windows), outcome.accounts)
    pa.Table.from_pylist(stored, schema=layers.Accounting.schema)


@pytest.mark.parametrize("format_name", ["arcion_kafka", "debezium", "dgraph", "tigergraph"])
def test_whatever_a_records_key_is_the_record_is_a_change_or_in_quarantine(
    format_name: str,
) -> None:
    """Straight from a topic, where a key is bytes; keys that a dump could not hold among them."""
    source, of_dumps = FORMATS[format_name], feed(format_name)
    of_topic = replace(of_dumps, landing="kafka://broker:9092/t")
    decode = source.decoder(of_topic, {})
    conform = Conformer(of_topic, describes_tables=source.describes_tables)
    tried = 0
    for record in records(of_dumps):
        text = kafka_records.kafka_message(record, of_dumps).text
        for key in KEYS:
            in_topic = replace(
                record, object="t/0", key=key, payload=None if text is None else text.encode()
            )
            events = [*decode(in_topic)]
            if source.resolver is None:
                row_batch(conform(in_topic, events), Shards())  # type: ignore[arg-type]
            assert events
            tried += 1
    assert tried > 100


def records(of_dumps: Feed) -> list[BronzeRecord]:
    """The records of two cases of a format."""
    some = {
        name: case.scenario()
        for case in cases()
        if case.folder.parent.name == of_dumps.format
        and (name := case.folder.name) in ("insert", "update", "delete", "null_value")
    }
    batch = pa.RecordBatch.from_pylist([*bronze(of_dumps, some)], schema=ARROW)
    return [one for part in bounded(of_dumps, [batch]) for one in part]
