"""A document that carries its schema is read as any other, whatever was read before it."""

from __future__ import annotations

import pytest

from transforms import json_values
from transforms.families.connect import envelopes
from transforms.families.connect.envelopes import DocumentReader
from transforms.json_values import MalformedJson

WRAPPED = '{"schema":{"a":[1.50,"ä"]},"payload":{"b":2.50}}'


@pytest.mark.parametrize(
    "text",
    [
        WRAPPED,
        '{"schema":null,"payload":null}',
        '{"schema":{"a":1}, "payload":{"b":2}}',
        '{"schema":{"a":1},"payload":{"b":2}} ',
        '{"schema":{"a":1}}',
        '{"schema":{"a":1},"payload":{"b":2},"op":"c"}',
        '{"schema":{"a":1},"payloae":{"b":2}}',
        '{"payload":{"b":2},"schema":{"a":1}}',
        '{"op":"c"}',
        "[1]",
    ],
)
def test_a_document_is_what_json_says(text: str) -> None:
    reader = DocumentReader()
    for _ in range(2):
        assert reader.read(text) == json_values.read(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"schema":{"a":1,"a":2},"payload":{}}',
        '{"schema":{},"payload":{"b":1,"b":2}}',
        '{"schema":{},"schema":{},"payload":{}}',
        '{"schema":{},"payload":{},"payload":{}}',
        '{"schema":{},"payload":"\\ud800"}',
        '{"schema":{},"payload":{}',
        '{"schema":{},"payload":}',
        '{"schema":' + "[" * 5_000 + "]" * 5_000 + ',"payload":{}}',
        '{"schema":{},"payload":NaN}',
    ],
)
def test_what_cannot_be_trusted_is_malformed_each_time(text: str) -> None:
    reader = DocumentReader()
    for _ in range(2):
        with pytest.raises(MalformedJson):
            reader.read(text)


def test_the_same_schema_is_read_once() -> None:
    reader = DocumentReader()
    first, second = reader.read(WRAPPED), reader.read(WRAPPED.replace("2.50", "3"))
    assert first["schema"] is second["schema"]
    assert second["payload"] == {"b": 3}


def test_schemas_without_end_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envelopes, "_ROOM", 10 << 10)
    reader = DocumentReader()
    for _ in range(2):
        seen = [reader.read(f'{{"schema":{{"a":{at}}},"payload":{{}}}}') for at in range(15)]
        assert [one["schema"]["a"] for one in seen] == list(range(15))
    assert reader.read('{"schema":{"a":14},"payload":{}}')["schema"] is seen[14]["schema"]
    again = reader.read('{"schema":{"a":0},"payload":{}}')["schema"]
    assert again == seen[0]["schema"]
    assert again is not seen[0]["schema"]
