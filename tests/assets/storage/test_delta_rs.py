"""delta-rs and S3's own client agree on where a table lies, whatever it is called."""

from __future__ import annotations

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
