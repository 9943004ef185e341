"""A person is erased from a warehouse in an object store by the same steps: no object holds her afterwards."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from orchestration.resources import lake_of
from tests.assets.erasure.test_erasing import (
    KEY,
    NAME,
    PLANTED,
    WINDOWS,
    a_feed,
    brought,
    erased,
    lay_all,
    names_of,
    violations,
)
from tests.assets.erasure.warehouse_bytes import layers_with
from tests.services.seaweed import Store, store

__all__ = ["store"]

pytestmark = pytest.mark.services


def layers_of_bucket(store: Store, bucket: str) -> dict[str, set[str]]:
    """``layers_with`` of all objects of a bucket."""
    client = store.client()
    found: dict[str, set[str]] = defaultdict(set)
    with TemporaryDirectory() as copy:
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            for one in page.get("Contents", ()):
                file = Path(copy, one["Key"].removeprefix("warehouse/"))
                file.parent.mkdir(parents=True, exist_ok=True)
                client.download_file(bucket, one["Key"], str(file))
        return {**found, **layers_with(Path(copy), PLANTED)}


def test_no_object_of_a_bucket_holds_an_erased_person(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("WEIR_EXECUTOR", "in-process")
    store.put("erasing", {})
    lake, feed = lake_of("s3a://erasing/warehouse"), a_feed(folder)
    lay_all(folder)
    brought(lake, feed)
    assert {KEY, NAME} <= layers_of_bucket(store, "erasing")["gold"]
    assert layers_of_bucket(store, "erasing").keys() == {"bronze", "silver", "quarantine", "gold"}
    erased(lake, feed)
    assert layers_of_bucket(store, "erasing") == {}
    assert names_of(lake, feed) == {"pk-1": "Adele"}
    assert violations(lake, feed, *WINDOWS) == {}
