"""Every published sample, onboarded: its format, its tables, and its keys where the drop carries them.

``WEIR_SAMPLES`` names the folder; it is not part of the project. Every file there is in one of these landings, or in
``NO_DROPS``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.support.onboarded import Onboarded, laid, onboarded
from transforms.feed.feed import Feed


@dataclass(frozen=True)
class Landing:
    """Sample files that lie in one landing, by a glob, and what is to be found in them.

    ``folder``: the folder in the landing, which names the table where nothing else does. ``keys``: of each table.
    ``is_said``: whether the drops carry the keys. ``is_gold``: whether the preview has rows.
    """

    name: str
    glob: str
    format: str
    keys: dict[str, list[str]] = field(default_factory=dict)
    is_said: bool = False
    is_gold: bool = True
    folder: str = "2026-11-20/03"


REGION = {"region": ["r_regionkey"]}
ID = "debezium_reference/"
PRODUCT = {"product": ["id"]}
CUSTOMERS = {"customers": ["id"]}

# fmt: off
LANDINGS = [
    Landing("arcion, rows of changes", "arcion_s3/internal_0[123].csv", "arcion_s3_csv",
            {"region": ["column_3"]}, True, is_gold=False, folder="region"),
    Landing("arcion, a row of a snapshot", "arcion_s3/internal_00.csv", "arcion_s3_csv",
            {"region": ["column_1"]}, folder="region"),
    Landing("arcion, the older page's rows", "arcion_s3/old_s3_file_format_0[012].csv",
            "arcion_s3_csv", {"region": ["column_3"]}, True, is_gold=False, folder="region"),
    Landing("arcion, mysql", "arcion_s3/internal_0[46].json", "arcion_s3_json",
            {"nation": ["n_nationkey"]}, is_gold=False),
    Landing("arcion, cassandra", "arcion_s3/internal_0[79].json", "arcion_s3_json", REGION,
            True, is_gold=False),
    Landing("arcion, the older page", "arcion_s3/old_s3_file_format_0[456].json",
            "arcion_s3_json", REGION, True, is_gold=False),
    Landing("arcion for kafka, native", "arcion_kafka_json/native/*.json", "arcion_kafka", REGION),
    Landing("arcion for kafka, v2", "arcion_kafka_json/v2_2023-03-01/*.json",
            "arcion_kafka", REGION, True),
    Landing("arcion for kafka, v3", "arcion_kafka_json/v3_2023-03-15/*.json",
            "arcion_kafka", REGION, True),
    Landing("arcion for redis", "arcion_kafka_json/redis_streams/*.json", "arcion_kafka",
            REGION, True),
    Landing("tigergraph 3", "tigergraph/3.10.1/*.json", "tigergraph"),
    Landing("tigergraph 4", "tigergraph/4.1.0/*.json", "tigergraph"),
    Landing("yugabyte, go", "yugabytedb/long_script/getchanges.jsonl", "yugabyte",
            {"test": ["a"]}, True),
    Landing("yugabyte, protojson", "yugabytedb/long_script/getchanges.protojson.jsonl",
            "yugabyte", {"test": ["a"]}, True),
    Landing("dgraph, the documented lines", "dgraph/docs_samples.jsonl", "dgraph"),
    Landing("seatunnel", f"{ID}seatunnel/debezium-data.txt", "debezium", {"products": ["id"]}),
    Landing("risingwave, with schema", f"{ID}risingwave/debezium_log.1", "debezium", CUSTOMERS),
    Landing("risingwave, without", f"{ID}risingwave/debezium_log_no_schema_field.1",
            "debezium", CUSTOMERS),
    # A guess by three rows, and a wrong one: it is called a guess.
    Landing("risingwave, two columns", f"{ID}risingwave/debezium_ignore_case_json.1",
            "debezium", {"lineitem": ["L_PARTKEY"]}),
    Landing("risingwave, of MongoDB", f"{ID}risingwave/debezium_mongo*.1", "debezium",
            {"customers": ["_id"]}),
    Landing("flink", f"{ID}flink-cdc/mysqlToKafka_debezium-json.txt", "debezium",
            {"customers": ["id"], "products": ["id"]}, is_gold=False),
    Landing("paimon, a change of a schema", f"{ID}paimon/mysql/debezium-event-change.json",
            "debezium", is_gold=False),
    Landing("paimon, several tables", f"{ID}paimon/database/include/topic0/*.txt",
            "debezium",
            {name: ["id"] for name in ("paimon_1", "paimon_2", "ignore", "flink")},
            is_gold=False),
    Landing("paimon, one topic", f"{ID}paimon/database/schemaevolution/topic0/*.txt",
            "debezium", {"t1": ["id"]}, is_gold=False),
    Landing("paimon, the other", f"{ID}paimon/database/schemaevolution/topic1/*.txt",
            "debezium", {"t2": ["id"]}, is_gold=False),
    Landing("paimon, with a schema", f"{ID}paimon/table/schema/include/*.txt", "debezium",
            {"products": ["id"]}),
    Landing("paimon, columns that come", f"{ID}paimon/table/schemaevolution/*.txt",
            "debezium", PRODUCT, is_gold=False),
    Landing("paimon, a row in a row", f"{ID}paimon/table/nestedtype/*.txt", "debezium",
            PRODUCT, is_gold=False),
    Landing("paimon, null values", f"{ID}paimon/table/nullvalue/*.txt", "debezium",
            {"test": ["id"]}, is_gold=False),
    *[
        Landing(f"debezium, {kind}", f"{ID}debezium/serde-{kind}.json", "debezium", CUSTOMERS)
        for kind in ("update", "unknown-property", "with-schema", "without-schema")
    ],
    Landing("debezium, a documented insert", f"{ID}debezium/docs_mysql_0[56].adoc.txt",
            "debezium", CUSTOMERS, True),
    Landing("debezium, a schema change", f"{ID}debezium/docs_mysql_0[01].adoc.txt",
            "debezium", is_gold=False),
    Landing("debezium, a transaction", f"{ID}debezium/docs_mysql_02.adoc.txt", "debezium",
            is_gold=False),
]
# fmt: on

NO_DROPS = {
    "SOURCES.md": "what the samples are",
    "dgraph/*/ops.json": "what was done",
    "dgraph/*/expected*": "what must come of it",
    "yugabytedb/sql/*": "what was done",
    "yugabytedb/long_script/expected*": "what must come of it",
    "yugabytedb/docs/*": "parts of messages, in print",
    "tigergraph/*.txt": "a page of documentation",
    "tigergraph/cumulative_load/*": "a file that is loaded into a graph",
    f"{ID}flink-cdc/debezium-data-schema-exclude*": "events within what a test expects of them",
    f"{ID}debezium/docs_mysql_0[34789].adoc.txt": "with dots for what the page leaves out, which is no JSON",
}
"""Files that nobody would land, with the reason."""


@pytest.fixture(scope="module")
def samples(samples_of: Callable[[str], Path]) -> Path:
    return samples_of("arcion_s3").parent


def content(file: Path) -> bytes:
    """The file without what only print has: wrapped lines of CSV, and a licence in front of JSON."""
    text = file.read_text()
    if file.suffix == ".csv":
        text = re.sub(r"/\n *", "", text).strip()
    return text[text.index("{") :].encode() if text.startswith("/*") else text.encode()


def found(samples: Path, tmp_path: Path, one: Landing) -> Onboarded:
    files = sorted(samples.glob(one.glob))
    assert files
    return onboarded(laid(tmp_path, {f"{one.folder}/{file.name}": content(file) for file in files}))


@pytest.mark.parametrize("one", LANDINGS, ids=lambda one: one.name)
def test_a_sample_is_recognised_with_its_tables_and_keys(
    samples: Path, tmp_path: Path, one: Landing
) -> None:
    seen = found(samples, tmp_path, one)
    assert seen.evidence.format == seen.feed.format == one.format
    assert seen.keys == one.keys
    guesses = [note for note in seen.proposal.notes if note.startswith("the key of")]
    assert bool(guesses) == (bool(one.keys) and not one.is_said)
    assert any(seen.gold().values()) == one.is_gold
    # What is not undeclared by design is in gold's hands: nothing waits.
    assert seen.preview.waiting == {}


YUGABYTE_TYPES = 22


def test_every_type_of_yugabyte_is_recognised_with_its_key(samples: Path, tmp_path: Path) -> None:
    files = sorted((samples / "yugabytedb/types").glob("*.jsonl"))
    assert len(files) == YUGABYTE_TYPES
    for file in files:
        table = file.name.partition(".")[0]
        seen = onboarded(str(file))
        assert seen.evidence.format == "yugabyte", file.name
        assert [*seen.keys] == [table]
        assert len(seen.keys[table]) == 1, file.name
        assert table in seen.gold(), file.name


@pytest.mark.parametrize("events", ["events", "events_cumulative"])
def test_every_capture_of_dgraph_is_recognised(samples: Path, events: str) -> None:
    files = sorted(samples.glob(f"dgraph/*/{events}.jsonl"))
    assert files
    for file in files:
        seen = onboarded(str(file))
        assert seen.evidence.format == "dgraph", file
        assert "triples" in seen.gold(), file


def test_every_file_of_the_samples_is_tried(samples: Path) -> None:
    tried = {file for one in LANDINGS for file in samples.glob(one.glob)}
    tried |= {*samples.glob("yugabytedb/types/*"), *samples.glob("dgraph/*/events*.jsonl")}
    left = [
        name
        for file in samples.rglob("*")
        if file.is_file() and file not in tried
        for name in [file.relative_to(samples).as_posix()]
        if not any(fnmatch(name, glob) for glob in NO_DROPS)
    ]
    assert left == []


def test_tigergraphs_types_and_dgraphs_predicates_are_what_is_declared(
    samples: Path, tmp_path: Path
) -> None:
    graph = found(samples, tmp_path / "graph", LANDINGS[10]).feed
    assert isinstance(graph, Feed)
    assert graph.vertices.keys() == {"Company", "Person"}
    assert dict(graph.vertices["Company"].attributes) == {"cid": "bigint", "startDate": "timestamp"}
    assert graph.edges["Creates"].sources == ("Person",)
    captured = onboarded(str(samples / "dgraph/01_all_types_insert/events.jsonl")).feed
    assert captured.predicates["age"].type == "int"
    assert captured.predicates["nick"].list
    assert not captured.predicates["name"].list
