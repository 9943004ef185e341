"""The forms in which a connector's placeholder comes, by what its setting says.

The forms are what ``UnchangedToastedPlaceholder`` of debezium-connector-postgres makes of the setting.
"""

from __future__ import annotations

from typing import Any

import pytest

from transforms.event import Event
from transforms.families.connect.values import DEFAULT_PLACEHOLDERS, NO_PLACEHOLDERS, Placeholders
from transforms.feed.feed import Feed, Table
from transforms.formats.debezium import FORMAT
from transforms.json_values import read
from transforms.record import BronzeRecord

GONE = Placeholders(["gone~é"])
"""Its bytes are 67 6f 6e 65 7e c3 a9: base64 of them has a sign that the safe alphabet writes otherwise."""


@pytest.mark.parametrize(
    "value",
    [
        "gone~é",
        "Z29uZX7DqQ==",
        "676f6e657ec3a9",
        ["gone~é"],
        ["Z29uZX7DqQ=="],
        ["4747c9f4-b6cb-390a-833a-adbb21333a2a"],
        [103, 111, 110, 101, 126, -61, -87],
        read("[103.0, 111.0, 110.0, 101.0, 126.0, -61.0, -87.0]"),
        {"gone~é": "gone~é"},
        '{"gone~é":"gone~é"}',
        '[ "gone~é" ]',
    ],
)
def test_every_type_has_its_form_of_the_text_that_was_set(value: Any) -> None:
    assert GONE.has(value)
    assert not DEFAULT_PLACEHOLDERS.has(value)
    assert not NO_PLACEHOLDERS.has(value)


@pytest.mark.parametrize(
    "value",
    ["gone", "gone~é ", "[gone~é]", ["gone~é", "gone~é"], [103, 111], [], {}, {"gone~é": 1}, 7],
)
def test_what_only_resembles_it_is_a_value(value: Any) -> None:
    assert not GONE.has(value)


def test_the_safe_alphabet_is_read_and_bytes_may_be_spelled_in_hexadecimal() -> None:
    safe = Placeholders(["a?>"])
    assert safe.has("YT8-")
    assert safe.has("YT8+")
    spelled = Placeholders(["hex:00FF"])
    assert spelled.has("AP8=")
    assert spelled.has([0, -1])
    assert spelled.has("\0\ufffd")
    # Connectors that know no such spelling send it as it is.
    assert spelled.has("hex:00FF")
    assert Placeholders(["hex:no"]).has("hex:no")


def test_several_settings_count_where_one_followed_the_other() -> None:
    both = Placeholders(["old", "new"])
    assert both.has("old")
    assert both.has("new")
    assert not both.has("__debezium_unavailable_value")


def decoded(feed: Feed, table: str, after: str, schema: str = "null") -> Event:
    source = f'{{"connector": "postgresql", "schema": "s", "table": "{table}", "lsn": 7}}'
    body = f'{{"op": "u", "before": null, "after": {after}, "source": {source}}}'
    text = body if schema == "null" else f'{{"schema": {schema}, "payload": {body}}}'
    record = BronzeRecord("w", "a.json", "g", 1, 0, None, text.encode(), None, 0, None)
    (event,) = FORMAT.decoder(feed, {})(record)
    assert isinstance(event, Event)
    return event


def test_a_table_may_have_another_one_than_its_feed() -> None:
    columns = {"id": "int", "note": "string"}
    city = Table(
        "city", ("id",), columns, tuple(columns), unavailable_value=("lost",), was=("town",)
    )
    feed = Feed("shop", "debezium", "/drops", tables={"city": city}, unavailable_value=("gone",))
    image = '{"id": 1, "note": "%s"}'
    said = {
        (table, word): "note" not in decoded(feed, table, image % word).after
        for table in ("city", "town", "other")
        for word in ("lost", "gone", "__debezium_unavailable_value")
    }
    assert [one for one, is_unsent in said.items() if is_unsent] == [
        ("city", "lost"),
        ("town", "lost"),
        ("other", "gone"),
    ]


@pytest.mark.parametrize(
    ("items", "values"),
    [
        # Decimal.toLogical of each byte: its number is the unscaled one. Before that, each was a whole number.
        ('"type": "bytes", "name": "%s", "parameters": {"scale": "2"}', '["Zw==", "bw=="]'),
        ('"type": "bytes", "name": "%s", "parameters": {"scale": "2"}', '["KDw=", "K1w="]'),
    ],
)
def test_a_list_of_decimals_has_a_number_for_each_byte(items: str, values: str) -> None:
    feed = Feed("shop", "debezium", "/drops", unavailable_value=("go",))
    named = items % "org.apache.kafka.connect.data.Decimal"
    column = f'{{"field": "list", "type": "array", "items": {{{named}}}}}'
    sides = ",".join(
        f'{{"field": "{side}", "type": "struct", "fields": [{column}]}}'
        for side in ("before", "after")
    )
    schema = f'{{"type": "struct", "name": "E", "fields": [{sides}]}}'
    event = decoded(feed, "city", f'{{"list": {values}}}', schema)
    assert event.after == {}
    assert event.effect == "update"
    other = decoded(feed, "city", '{"list": ["Zw==", "Zw=="]}', schema)
    assert other.after == {"list": '["1.03","1.03"]'}


def test_a_list_of_decimals_of_any_scale_has_them_too() -> None:
    feed = Feed("shop", "debezium", "/drops", unavailable_value=("go",))
    kind = '"type": "struct", "name": "io.debezium.data.VariableScaleDecimal"'
    column = f'{{"field": "list", "type": "array", "items": {{{kind}}}}}'
    sides = f'{{"field": "after", "type": "struct", "fields": [{column}]}}'
    schema = f'{{"type": "struct", "name": "E", "fields": [{sides}]}}'
    values = '[{"scale": 0, "value": "Zw=="}, {"scale": 0, "value": "bw=="}]'
    assert decoded(feed, "city", f'{{"list": {values}}}', schema).after == {}
