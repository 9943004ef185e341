"""delta-rs and S3's own client agree on where a table lies, whatever it is called."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from assets.storage.in_process_table import InProcessTable
from tests.services.seaweed import Store

COLUMNS = pa.schema([("id", pa.int64())])


@pytest.mark.services
@pytest.mark.parametrize("name", ["a#b", "a?b=1", "50%", "50%x", "a b", "größe", "a+b&c", "[a]*"])
def test_a_table_lies_under_its_own_name(
    store: Store, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable, value in store.environment().items():
        monkeypatch.setenv(variable, value)
    store.put("names", {"there": b""})
    path = f"s3a://names/gold/zoo/{name}"
    table = InProcessTable.at("gold.zoo", path, "s3a://names", COLUMNS)
    table.append([{"id": 1}])
    table.append([{"id": 2}])
    assert sorted(row["id"] for row in table.rows()) == [1, 2]
    assert table.now().count() == 2
    listed = store.client().list_objects_v2(Bucket="names", Prefix=f"gold/zoo/{name}/_delta_log/")
    assert [one["Key"].rpartition("/")[2] for one in listed["Contents"]] == [
        "00000000000000000000.json",
        "00000000000000000001.json",
    ]


def test_columns_that_are_cut_at_other_places_are_written_whole(tmp_path: Path) -> None:
    """delta-rs would end the process, and with it the run."""
    last = pa.struct([("log_position", pa.list_(pa.int64()))])
    schema = pa.schema([("id", pa.int64()), ("state", pa.struct([("last", last)]))])
    table = InProcessTable.at("gold.zoo", str(tmp_path / "zoo"), str(tmp_path), schema)
    states = [{"last": {"log_position": [number, 7]}} for number in range(4)]
    numbers = pa.chunked_array([pa.array([0, 1], pa.int64()), pa.array([2, 3], pa.int64())])
    cut = pa.table([numbers, pa.array(states, schema.field("state").type)], schema=schema)
    table.append(cut)
    found = sorted(table.rows(), key=lambda row: row["id"])
    assert [(row["id"], row["state"]) for row in found] == [*enumerate(states)]
