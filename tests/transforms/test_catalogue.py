"""What a gold table looks like in each catalogue, what is written again, and what a setting may say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ParamValidationError
from botocore.stub import Stubber

from transforms.catalogue import (
    DIGEST,
    Catalogue,
    Entry,
    Gold,
    Stored,
    catalogues_of,
    entry_of,
    glue_table,
    hive_table,
    hive_type,
    is_same_place,
    left_behind,
    spark_type,
    state_of,
    unity_table,
)
from transforms.errors import SettingMisdeclared
from transforms.feed.feed import Described, Feed, Running, Table

ORDERS = Table(
    "Shop.Orders",
    ("id", "Line"),
    {"id": "bigint", "Line": "int", "email": "string", "paid": "decimal(10,2)"},
    ("id", "Line", "email", "paid"),
    masks={"email": "hash"},
    history=True,
)
FEED = Feed(
    "shop",
    "debezium",
    "s3://drops/shop/",
    tables={"Shop.Orders": ORDERS},
    running=Running(
        owners=("team:sales", "ann@example.org"),
        tags={"domain": "sales"},
        tables={"Shop.Orders": Described("Orders, a row a line.", {"email": "Who ordered."})},
    ),
)
FIELDS: list[dict[str, Any]] = [
    {"name": "id", "type": "long", "nullable": True, "metadata": {}},
    {"name": "Line", "type": "integer", "nullable": True, "metadata": {}},
    {"name": "email", "type": "string", "nullable": True, "metadata": {}},
    {"name": "paid", "type": "decimal(10,2)", "nullable": True, "metadata": {}},
    {"name": "_weir_event_id", "type": "string", "nullable": True, "metadata": {}},
]
GOLD = Gold("Orders", ORDERS, "s3a://lake/gold/shop/Orders", FIELDS)
ENTRY = entry_of(FEED, "weir_shop", GOLD)
HIVE = Catalogue("hive", "metastore:9083")

ARRAY = {"type": "array", "elementType": "integer", "containsNull": True}
NESTED = {
    "type": "struct",
    "fields": [
        {"name": "a", "type": "timestamp_ntz", "nullable": True, "metadata": {}},
        {"name": "b", "type": {"type": "map", "keyType": "string", "valueType": ARRAY}},
    ],
}


def test_an_entry_says_what_the_feed_file_and_gold_know() -> None:
    assert (ENTRY.full_name, ENTRY.location) == ("weir_shop.orders", "s3://lake/gold/shop/Orders")
    assert ENTRY.comment == "Orders, a row a line."
    assert ENTRY.key == ("id", "Line")
    assert [(one.name, one.comment) for one in ENTRY.columns][2:] == [
        ("email", "Who ordered."),
        ("paid", None),
        ("_weir_event_id", "The id of the last change of the row."),
    ]
    assert ENTRY.tags == {
        "weir.feed": "shop",
        "weir.source_table": "Shop.Orders",
        "weir.format": "debezium",
        "weir.key": "id,Line",
        "weir.owners": "team:sales,ann@example.org",
        "weir.masks": "email:hash",
        "weir.tag.domain": "sales",
    }


def test_the_columns_of_marked_rows_say_what_they_are() -> None:
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in (("_weir_is_deleted", "boolean"), ("_weir_deleted_at", "timestamp"))
    ]
    found = entry_of(FEED, "weir_shop", replace(GOLD, fields=[*FIELDS, *fields]))
    is_deleted, deleted_at = found.columns[-2:]
    assert str(is_deleted.comment).endswith("whether the source has deleted the row; never null.")
    assert str(deleted_at.comment).startswith("When the source deleted it (UTC)")


def test_a_table_without_a_description_says_whether_deleted_rows_stay() -> None:
    marking = replace(ORDERS, deletes="mark")
    for table, ends in ((ORDERS, "state."), (marking, "_weir_is_deleted, its last one.")):
        feed = Feed("shop", "debezium", "/nowhere", tables={table.name: table})
        assert entry_of(feed, "weir_shop", replace(GOLD, table=table)).comment.endswith(ends)


def test_a_history_has_no_key_and_says_what_a_row_is() -> None:
    fields = [{"name": "_weir_valid_to", "type": ARRAY, "nullable": True, "metadata": {}}]
    found = entry_of(FEED, "weir_shop", replace(GOLD, name="Orders__history", fields=fields))
    assert (found.name, found.key) == ("orders__history", ())
    assert found.comment.startswith("One row for each version of each row of Shop.Orders. Orders,")
    assert str(found.columns[0].comment).startswith("The position of the change that ended it")


def test_a_name_that_no_catalogue_would_have_is_spelled_and_a_folder_is_an_address() -> None:
    found = entry_of(FEED, "s", replace(GOLD, name="odd#name", location="/srv/a b/odd#name"))
    assert (found.name, found.location) == ("oddx23_name", "file:///srv/a%20b/odd%23name")


@pytest.mark.parametrize(
    ("kind", "hive", "spark"),
    [
        ("integer", "int", "int"),
        ("long", "bigint", "bigint"),
        ("short", "smallint", "smallint"),
        ("byte", "tinyint", "tinyint"),
        ("timestamp_ntz", "timestamp", "timestamp_ntz"),
        ("decimal(38,0)", "decimal(38,0)", "decimal(38,0)"),
        (ARRAY, "array<int>", "array<int>"),
        (
            NESTED,
            "struct<a:timestamp,b:map<string,array<int>>>",
            "struct<`a`:timestamp_ntz,`b`:map<string,array<int>>>",
        ),
    ],
)
def test_types_of_deltas_log_as_sql(kind: Any, hive: str, spark: str) -> None:
    assert (hive_type(kind), spark_type(kind)) == (hive, spark)


def test_hive_has_what_spark_writes_of_a_delta_table_and_keeps_what_others_wrote() -> None:
    others = {"steward": "Bo", "weir.owners": "nobody", "comment": "old"}
    found = hive_table(ENTRY, others)
    assert found.parameters == {
        **ENTRY.tags,
        "steward": "Bo",
        "comment": "Orders, a row a line.",
        "EXTERNAL": "TRUE",
        "spark.sql.sources.provider": "delta",
        DIGEST: ENTRY.digest,
    }
    assert found.location == found.serde_parameters["path"] == "s3a://lake/gold/shop/Orders"
    assert found.columns[1:3] == [("line", "int", ""), ("email", "string", "Who ordered.")]


def test_glue_takes_the_request_by_its_own_description() -> None:
    glue = boto3.client("glue", "eu-west-1", aws_access_key_id="x", aws_secret_access_key="y")
    long = replace(ENTRY.columns[0], comment="ä" * 300)
    table = glue_table(replace(ENTRY, columns=(long, *ENTRY.columns[1:])), {"steward": "Bo"})
    with Stubber(glue) as stubber:
        for call in ("create_table", "update_table"):
            asked = {"DatabaseName": "weir_shop", "TableInput": table}
            stubber.add_response(call, {}, asked)
            getattr(glue, call)(**asked)
        stubber.assert_no_pending_responses()
    assert table["Parameters"]["steward"] == "Bo"
    assert table["StorageDescriptor"]["Columns"][0]["Comment"] == "ä" * 254 + "…"
    assert table["StorageDescriptor"]["SerdeInfo"]["Parameters"]["path"] == ENTRY.location
    with pytest.raises(ParamValidationError, match="Unknown parameter"):
        glue.create_table(DatabaseName="weir_shop", TableInput={**table, "Comment": "none has it"})


def test_unity_has_each_type_as_a_name_as_sql_and_as_json() -> None:
    found = unity_table("main", ENTRY, {})
    assert (found["table_type"], found["data_source_format"]) == ("EXTERNAL", "DELTA")
    assert [(one["type_name"], one["type_text"]) for one in found["columns"]] == [
        *(("LONG", "bigint"), ("INT", "int"), ("STRING", "string")),
        *(("DECIMAL", "decimal(10,2)"), ("STRING", "string")),
    ]
    paid = found["columns"][3]
    assert (paid["position"], paid["type_precision"], paid["type_scale"]) == (3, 10, 2)
    assert json.loads(found["columns"][2]["type_json"]) == {
        "name": "email",
        "type": "string",
        "nullable": True,
        "metadata": {"comment": "Who ordered."},
    }


def changed(**what: Any) -> Entry:
    return replace(ENTRY, **what)


@pytest.mark.parametrize(
    "other",
    [
        changed(comment="another"),
        changed(key=("id",)),
        changed(tags={**ENTRY.tags, "weir.owners": "team:it"}),
        changed(columns=ENTRY.columns[:-1]),
        changed(columns=(replace(ENTRY.columns[0], comment="new"), *ENTRY.columns[1:])),
        changed(columns=(replace(ENTRY.columns[0], type="string"), *ENTRY.columns[1:])),
    ],
)
def test_what_is_the_same_is_not_written_and_any_change_is(other: Entry) -> None:
    stored = Stored("s3a://lake/gold/shop/Orders/", ENTRY.properties)
    assert state_of(ENTRY, None, HIVE).state == "new"
    assert state_of(ENTRY, stored, HIVE).state == "same"
    assert state_of(other, stored, HIVE).state == "changed"


def test_a_table_at_another_place_is_somebody_elses_and_both_places_are_named() -> None:
    found = state_of(ENTRY, Stored("s3://other/orders", ENTRY.properties), HIVE)
    assert found.state == "refused"
    assert "hive://metastore:9083 has a table weir_shop.orders at s3://other/orders" in found.says
    assert "gold is at s3://lake/gold/shop/Orders" in found.says


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("file:///srv/a%20b", "file:/srv/a b/", True),
        ("/srv/a", "file:///srv/a", True),
        ("s3a://b/x", "s3://b/x/", True),
        ("s3://b/x", "s3://c/x", False),
        ("s3://b/x", "hdfs://b/x", False),
        ("file:///srv/a", "file:///srv/ab", False),
        ("", "file:///srv/a", False),
    ],
)
def test_one_place_has_several_texts(one: str, other: str, same: bool) -> None:
    assert is_same_place(one, other) is same


def test_what_the_feed_has_no_more_is_named_and_what_is_anothers_is_not() -> None:
    stored = {
        "orders": Stored("", {"weir.feed": "shop"}),
        "gone": Stored("", {"weir.feed": "shop"}),
        "theirs": Stored("", {"weir.feed": "zoo"}),
        "hand_made": Stored("", {}),
    }
    assert left_behind("shop", [ENTRY], stored) == ["gone"]


def test_settings_name_catalogues_by_blanks_or_commas() -> None:
    text = (
        " hive://meta.example.org, unity+http://127.0.0.1:8080/main glue://eu-west-1/123456789012 "
    )
    found = catalogues_of({"WEIR_CATALOGUES": text, "WEIR_CATALOGUE_SCHEMA": "lake_{feed}_gold"})
    assert [(one.kind, one.place, one.inner) for one in found] == [
        ("hive", "meta.example.org:9083", ""),
        ("unity", "http://127.0.0.1:8080", "main"),
        ("glue", "eu-west-1", "123456789012"),
    ]
    assert [one.schema_of("My-Shop") for one in found] == ["lake_my_shop_gold"] * 3
    assert [str(one) for one in found][1] == "unity+http://127.0.0.1:8080/main"
    assert catalogues_of({}) == catalogues_of({"WEIR_CATALOGUES": " "}) == ()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"WEIR_CATALOGUES": "hive:/meta"}, "WEIR_CATALOGUES=hive:/meta: this names no catalogue"),
        ({"WEIR_CATALOGUES": "unity+http://h:1"}, "write hive://host:9083, unity+"),
        ({"WEIR_CATALOGUES": "glue://eu-west-1/12"}, "this names no catalogue"),
        ({"WEIR_CATALOGUE_SCHEMA": "Weir {feed}"}, "a schema's name has a to z"),
    ],
)
def test_a_setting_that_names_no_catalogue_is_an_error(settings: dict[str, str], says: str) -> None:
    with pytest.raises(SettingMisdeclared) as raised:
        catalogues_of(settings)
    assert says in str(raised.value)


def test_a_password_in_an_address_is_refused_and_not_shown() -> None:
    with pytest.raises(SettingMisdeclared) as raised:
        catalogues_of({"WEIR_CATALOGUES": "unity+https://me:s3cret@host/main"})
    assert "s3cret" not in str(raised.value)
    assert "by the environment alone" in str(raised.value)
