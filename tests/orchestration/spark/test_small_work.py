"""Little work gets a session that starts quickly; much work, and Spark on other machines, does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from assets.storage.lake import Lake
from orchestration.resources import lake_of
from orchestration.spark import settings
from transforms.feed.feed import Feed


def is_quick(lake: Lake, *feeds: Feed) -> bool:
    tuned = settings.tuned(lake, feeds)
    assert tuned.warehouse == lake.warehouse
    options = str(tuned.pyspark.spark_config[settings.OPTIONS])
    # The options that were there stay.
    assert "log4j2.configurationFile" in options
    return settings.FIRST_COMPILER in options


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    landing = tmp_path / "landing"
    landing.mkdir()
    (landing / "a.json").write_bytes(b"{}")
    return Feed("shop", "arcion_s3_json", str(landing))


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    folder = tmp_path / "warehouse"
    (folder / "gold").mkdir(parents=True)
    (folder / "gold" / "part.parquet").write_bytes(b"1234")
    return folder


@pytest.mark.parametrize("what", ["landing/b.json", "warehouse/gold/part_2.parquet"])
def test_many_bytes_are_much_work(
    feed: Feed, warehouse: Path, tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SMALL_BYTES", 1_000)
    assert is_quick(lake_of(str(warehouse), {}), feed)
    (tmp_path / what).write_bytes(b"x" * 1_000)
    assert not is_quick(lake_of(str(warehouse), {}), feed)


def test_a_cluster_or_a_warehouse_on_s3_is_left_as_it_is(feed: Feed, warehouse: Path) -> None:
    assert not is_quick(lake_of("s3a://lake/weir", {}), feed)
    assert not is_quick(lake_of(str(warehouse), {"WEIR_SPARK_MASTER": "spark://master:7077"}), feed)
