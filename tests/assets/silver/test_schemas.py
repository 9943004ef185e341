"""Schemas of a registry: asked for once each, kept beside bronze, and missed without a record in quarantine."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import fastavro
import pytest

from assets.control import schemas
from assets.control.decisions import with_recorded
from assets.executors.choice import SPARK
from assets.storage.lake import Lake, Layer
from orchestration.feeds.load import load_feed
from orchestration.runs import planning
from tests.services.registry import Registry, running_registry
from tests.support import protobuf_messages as protobuf
from tests.support.avro_messages import change, envelope_schema, key_schema, wired
from tests.support.bringing import run
from transforms.errors import LandingAway, UnreadableLanding
from transforms.feed.feed import Feed, Schemas

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

KEY = key_schema("pets", {"name": "id", "type": "int"})
DAY = {"type": "int", "connect.name": "io.debezium.time.Date"}
VALUE = envelope_schema(
    *("pets", {"name": "id", "type": "int"}, {"name": "born", "type": ["null", DAY]}),
    {
        "name": "pay",
        "type": {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2},
    },
)
BIRTH = 20_513


@pytest.fixture
def registry() -> Iterator[Registry]:
    with running_registry() as running:
        yield running


def feed_at(tmp_path: Path, schemas_line: str) -> Feed:
    """The feed of a file without tables: the stream describes them."""
    (tmp_path / "feeds").mkdir(exist_ok=True)
    file = tmp_path / "feeds" / "shop.yaml"
    file.write_text(f"format: debezium\nlanding: ../landing\n{schemas_line}\n")
    return load_feed(file)


def dump(tmp_path: Path, hour: int, *records: tuple[bytes, bytes | None]) -> None:
    """An array of records as Confluent's REST proxy gives them, key and value in base64."""
    lines = [
        {
            **{"topic": "shop.public.pets", "partition": 0, "offset": hour * 100 + at},
            "key": base64.b64encode(key).decode(),
            "value": None if value is None else base64.b64encode(value).decode(),
        }
        for at, (key, value) in enumerate(records)
    ]
    folder = tmp_path / "landing" / "2025" / "11" / "20" / f"{hour:02}"
    folder.mkdir(parents=True)
    (folder / "dump.json").write_text(json.dumps(lines))


def record(
    ids: tuple[int, int], op: str, lsn: int, id: int, pay: str = "1.00"
) -> tuple[bytes, bytes]:
    row = {"id": id, "born": BIRTH, "pay": Decimal(pay)}
    images = {"before": row} if op == "d" else {"after": row}
    return wired(ids[0], KEY, {"id": id}), wired(ids[1], VALUE, change(op, "pets", lsn, **images))


def rows(lake: Lake, table: str = "pets") -> list[tuple[object, ...]]:
    found = lake.in_process_table(Layer.GOLD, "shop", table).rows()
    return sorted((one["id"], str(one["born"]), str(one["pay"])) for one in found)


def quarantined(lake: Lake) -> list[tuple[str, str]]:
    found = lake.in_process_table(Layer.QUARANTINE, "shop").rows()
    return [(one["reason"], one["detail"]) for one in found]


@pytest.mark.parametrize("executor", ["auto", SPARK])
def test_a_dump_comes_to_gold_and_its_replay_needs_no_registry(
    lake: Lake, registry: Registry, tmp_path: Path, executor: str
) -> None:
    lake = lake.by(executor)
    ids = (registry.register("pets-key", KEY), registry.register("pets-value", VALUE))
    first, gone = record(ids, "c", 1, 1), record(ids, "d", 4, 2)
    dump(
        tmp_path,
        3,
        first,
        record(ids, "c", 2, 2),
        record(ids, "u", 3, 1, "-2.50"),
        gone,
        (gone[0], None),
    )
    feed = feed_at(tmp_path, f"schemas: {{registry: {registry.url}}}")
    run(lake, feed)
    assert rows(lake) == [(1, "2026-03-01", "-2.50")]
    assert registry.asked == ["/schemas/ids/1", "/schemas/ids/2"]
    kept = lake.in_process_table(Layer.SCHEMAS, "shop").rows()
    assert [(one["id"], one["kind"], one["place"]) for one in kept] == [
        (str(number), "AVRO", registry.url) for number in ids
    ]
    registry.broken = 500
    dump(tmp_path, 4, record(ids, "u", 9, 1, "7.00"))
    run(lake, feed)
    assert rows(lake) == [(1, "2026-03-01", "7.00")]
    assert len(registry.asked) == 2
    assert with_recorded(lake, feed).schemas != feed.schemas


def test_a_registry_that_is_away_is_an_error_that_names_it_and_the_window_stays_due(
    lake: Lake, tmp_path: Path
) -> None:
    with running_registry() as registry:
        ids = (registry.register("k", KEY), registry.register("v", VALUE))
        url = registry.url
    dump(tmp_path, 3, record(ids, "c", 1, 1))
    feed = feed_at(tmp_path, f"schemas: {{registry: {url}}}")
    with pytest.raises(LandingAway) as away:
        run(lake, feed)
    text = str(away.value)
    assert f"feed shop: cannot read the schema registry {url}: asked for /schemas/ids/1, " in text
    assert "it does not answer" in text
    assert "the windows stay due" in text
    assert quarantined(lake) == []
    assert planning.due(lake, feed).windows == ["2025-11-20T03"]
    with running_registry(int(url.rpartition(":")[2])) as registry:
        registry.register("k", KEY)
        registry.register("v", VALUE)
        registry.broken = 503
        with pytest.raises(LandingAway, match="it answers 503"):
            run(lake, feed)
        registry.broken = None
        run(lake, feed)
    assert rows(lake) == [(1, "2026-03-01", "1.00")]


def test_an_id_that_the_registry_does_not_have_is_in_quarantine_with_both_names(
    lake: Lake, registry: Registry, tmp_path: Path
) -> None:
    ids = (registry.register("k", KEY), 2)
    dump(tmp_path, 3, record(ids, "c", 1, 1))
    feed = feed_at(tmp_path, f"schemas: {{registry: {registry.url}}}")
    run(lake, feed)
    ((reason, detail),) = quarantined(lake)
    assert reason == "no_schema"
    assert f"{registry.url} has no schema with the id 2" in detail


def test_without_the_key_the_record_is_in_quarantine_until_the_feed_file_has_it(
    lake: Lake, registry: Registry, tmp_path: Path
) -> None:
    ids = (registry.register("k", KEY), registry.register("v", VALUE))
    dump(tmp_path, 3, record(ids, "c", 1, 1))
    run(lake, feed_at(tmp_path, ""))
    ((reason, detail),) = quarantined(lake)
    assert reason == "no_schema"
    assert "schema id 2" in detail
    run(lake, feed_at(tmp_path, f"schemas: {{registry: {registry.url}}}"))
    assert quarantined(lake) == []
    assert rows(lake) == [(1, "2026-03-01", "1.00")]


def test_a_folder_of_schemas_serves_without_any_registry(lake: Lake, tmp_path: Path) -> None:
    folder = tmp_path / "feeds" / "schemas"
    feed = feed_at(tmp_path, "schemas: {folder: ./schemas}")
    dump(tmp_path, 3, record((7, 8), "c", 1, 1))
    with pytest.raises(UnreadableLanding, match="there is no such folder"):
        run(lake, feed)
    folder.mkdir()
    day = {**DAY, "type": "fixed", "name": "shared.Unused", "size": 4}
    (folder / "7.avsc").write_text(json.dumps(KEY))
    (folder / "8.avsc").write_text(json.dumps(VALUE))
    (folder / "shared.avsc").write_text(json.dumps(day))
    run(lake, feed)
    assert rows(lake) == [(1, "2026-03-01", "1.00")]
    known = with_recorded(lake, feed).schemas
    assert known is not None
    assert json.loads(known.known["8"].references[0]) == day


# Protobuf.

PROTO_KEY = protobuf.key_file("pets", id="int32")
CENTS = protobuf.file(
    "shared", protobuf.message("Cents", value="optional int64"), name="shared/cents.proto"
)
PROTO_VALUE = protobuf.envelope_file(
    *("pets",),
    **{"id": "int32", "born": "google.type.Date", "cents": "shared.Cents"},
    pay="confluent.type.Decimal scale=2 precision=8",
)
PROTO_VALUE.dependency.append("shared/cents.proto")
FILES = [CENTS, PROTO_VALUE]


def proto_record(ids: tuple[int, int], op: str, lsn: int, id: int) -> tuple[bytes, bytes]:
    pay = {"value": base64.b64encode(b"\x64").decode(), "scale": 2}
    row = {"id": id, "born": {"year": 2026, "month": 3, "day": 1}, "pay": pay, "cents": {}}
    images = {"before": row} if op == "d" else {"after": row}
    value = protobuf.written(
        FILES, "shop.public.pets.Envelope", protobuf.change(op, "pets", lsn, **images)
    )
    key = protobuf.written([PROTO_KEY], "shop.public.pets.Key", {"id": id})
    return protobuf.wired(ids[0], key), protobuf.wired(ids[1], value)


def registered_in_protobuf(registry: Registry) -> tuple[int, int]:
    unnamed = protobuf.file("shared", *CENTS.message_type)
    registry.register("cents", protobuf.serialized(unnamed), "PROTOBUF")
    key = registry.register("pets-key", protobuf.serialized(PROTO_KEY), "PROTOBUF")
    return key, registry.register(
        *("pets-value", protobuf.serialized(PROTO_VALUE), "PROTOBUF"),
        references=[("shared/cents.proto", "cents", 1)],
    )


def test_messages_in_protobuf_come_to_gold_and_their_replay_needs_no_registry(
    lake: Lake, registry: Registry, tmp_path: Path
) -> None:
    ids = registered_in_protobuf(registry)
    gone = proto_record(ids, "d", 3, 2)
    dump(tmp_path, 3, proto_record(ids, "c", 1, 1), proto_record(ids, "c", 2, 2), gone)
    feed = feed_at(tmp_path, f"schemas: {{registry: {registry.url}}}")
    run(lake, feed)
    assert quarantined(lake) == []
    assert rows(lake) == [(1, "2026-03-01", "1.00")]
    serialized = "?format=serialized"
    assert registry.asked == [
        *("/schemas/ids/2", f"/schemas/ids/2{serialized}"),
        *("/schemas/ids/3", f"/schemas/ids/3{serialized}"),
        f"/subjects/cents/versions/1{serialized}",
    ]
    registry.broken = 500
    dump(tmp_path, 4, proto_record(ids, "c", 9, 4))
    run(lake, feed)
    assert [one[0] for one in rows(lake)] == [1, 4]


def test_a_registry_that_has_text_alone_is_an_error_that_names_it_and_a_folder_serves(
    lake: Lake, registry: Registry, tmp_path: Path
) -> None:
    ids = registered_in_protobuf(registry)
    registry.serializes = False
    dump(tmp_path, 3, proto_record(ids, "c", 1, 1))
    for place in (registry.url, f"{registry.url}/apis/registry/v3"):
        feed = feed_at(tmp_path, f"schemas: {{registry: {place}}}")
        with pytest.raises(UnreadableLanding) as refused:
            run(lake, feed)
        text = str(refused.value)
        assert f"cannot read the schema registry {place}: asked for /" in text
        assert "/2" in text
        assert "it answers with the text of a .proto file" in text
        assert "protoc --include_imports --descriptor_set_out=<id>.desc" in text
        assert quarantined(lake) == []
    folder = tmp_path / "feeds" / "schemas"
    folder.mkdir()
    (folder / "2.desc").write_bytes(protobuf.file_set(PROTO_KEY))
    (folder / "3.desc").write_bytes(protobuf.file_set(PROTO_VALUE))
    feed = feed_at(tmp_path, "schemas: {folder: ./schemas}")
    with pytest.raises(UnreadableLanding, match=r"3\.desc.*shared\.Cents.*--include_imports"):
        run(lake, feed)
    (folder / "3.desc").write_bytes(protobuf.file_set(*FILES))
    run(lake, feed)
    assert rows(lake) == [(1, "2026-03-01", "1.00")]


@pytest.mark.parametrize("executor", ["auto", SPARK])
def test_the_containers_of_a_sink_of_kafka_connect_come_to_gold(
    lake: Lake, tmp_path: Path, executor: str
) -> None:
    lake = lake.by(executor)
    feed = feed_at(
        tmp_path,
        'tables: {pets: {key: [id], columns: {id: int, born: date, pay: "decimal(8,2)"}}}',
    )
    folder = tmp_path / "landing" / "2025" / "11" / "20" / "03"
    folder.mkdir(parents=True)
    messages = [
        change("c", "pets", id, after={"id": id, "born": None, "pay": Decimal(id)}) for id in (1, 2)
    ]
    stream = io.BytesIO()
    fastavro.writer(
        stream, fastavro.parse_schema(json.loads(json.dumps(VALUE))), messages, codec="deflate"
    )
    (folder / "shop.public.pets+0+0000000000.avro").write_bytes(stream.getvalue())
    run(lake, feed)
    assert quarantined(lake) == []
    assert rows(lake) == [(1, "None", "1.00"), (2, "None", "2.00")]


# What is asked of registries.

MONEY = {
    "type": "record",
    "name": "shared.Money",
    "fields": [{"name": "in", "type": "shared.Currency"}],
}
CURRENCY = {"type": "enum", "name": "shared.Currency", "symbols": ["EUR"]}
PRICED = {"type": "record", "name": "P", "fields": [{"name": "price", "type": "shared.Money"}]}


def with_references(registry: Registry) -> int:
    registry.register("shared/currency", CURRENCY)
    registry.register("shared.money", MONEY, references=[("shared.Currency", "shared/currency", 1)])
    return registry.register("priced", PRICED, references=[("shared.Money", "shared.money", 1)])


@pytest.mark.parametrize(
    ("path", "named"),
    [
        *(("", "3"), ("/apis/ccompat/v7", "3")),
        *(
            ("/apis/registry/v2", "3"),
            ("/apis/registry/v3", "3"),
            ("/apis/registry/v3", "globalId/3"),
        ),
    ],
)
def test_references_come_with_a_schema_each_behind_what_it_names(
    lake: Lake, registry: Registry, path: str, named: str
) -> None:
    assert with_references(registry) == 3
    feed = Feed("shop", "debezium", "/drops", schemas=Schemas(f"{registry.url}{path}"))
    if path.startswith("/apis/ccompat"):
        answer = registry.answer
        registry.answer = lambda path: answer(path.removeprefix("/apis/ccompat/v7"))  # type: ignore[method-assign]
    found = schemas.with_named(lake, feed, [named]).schemas
    assert found is not None
    one = found.known[named]
    assert one.kind == "AVRO"
    assert [json.loads(text) for text in (*one.references, one.text)] == [CURRENCY, MONEY, PRICED]
    (row,) = lake.in_process_table(Layer.SCHEMAS, "shop").rows()
    assert row["id"] == named


def test_credentials_come_from_the_environment_and_stand_in_no_message(
    lake: Lake, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.register("k", KEY)
    feed = Feed("shop", "debezium", "/drops", schemas=Schemas(registry.url))
    registry.authorization = f"Basic {base64.b64encode(b'weir:hush').decode()}"
    monkeypatch.setenv(schemas.USERNAME, "weir")
    monkeypatch.setenv(schemas.PASSWORD, "wrong-hush")
    with pytest.raises(UnreadableLanding) as refused:
        schemas.with_named(lake, feed, ["1"])
    assert "it refuses access (401). Set WEIR_SCHEMA_REGISTRY_USERNAME" in str(refused.value)
    assert "wrong-hush" not in str(refused.value)
    monkeypatch.setenv(schemas.PASSWORD, "hush")
    assert schemas.with_named(lake, feed, ["1"]).schemas != feed.schemas
    registry.authorization = "Bearer token"
    monkeypatch.setenv(schemas.TOKEN, "token")
    other = replace(feed, name="other")
    assert schemas.with_named(lake, other, ["1"]).schemas != feed.schemas


def test_a_registry_sends_nobody_elsewhere_with_its_credentials(
    lake: Lake, registry: Registry
) -> None:
    registry.broken = 302
    feed = Feed("shop", "debezium", "/drops", schemas=Schemas(registry.url))
    with pytest.raises(LandingAway, match="it answers 302"):
        schemas.with_named(lake, feed, ["1"])
    assert registry.asked == ["/schemas/ids/1"]


def test_ids_that_mean_nothing_are_not_asked_for_without_end(
    lake: Lake, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schemas, "MOST_ASKED", 2)
    registry.register("k", KEY)
    feed = Feed("shop", "debezium", "/drops", schemas=Schemas(registry.url))
    found = schemas.with_named(lake, feed, ["4294967295", "1", *map(str, range(70, 90))]).schemas
    assert found is not None
    assert found.known.keys() == {"1"}
    assert registry.asked == ["/schemas/ids/1", "/schemas/ids/70"]


def test_answers_that_are_no_schema_are_errors(lake: Lake, registry: Registry) -> None:
    feed = Feed("shop", "debezium", "/drops", schemas=Schemas(registry.url))
    registry.register("a", PRICED, references=[("shared.Money", "not-there", 1)])
    with pytest.raises(UnreadableLanding, match="has no such schema, which another refers to"):
        schemas.with_named(lake, feed, ["1"])
    registry.answer = lambda path: (["what"], {})  # type: ignore[method-assign]
    with pytest.raises(UnreadableLanding, match="answers with no schema"):
        schemas.with_named(lake, feed, ["1"])
