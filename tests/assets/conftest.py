"""What the tests of assets share: one S3 server, an empty warehouse and an empty landing."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from assets.storage.lake import Lake
from orchestration.resources import lake_of
from tests.services.seaweed import store

__all__ = ["store"]


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    """An empty warehouse, on the session that all tests share."""
    return lake_of(str(tmp_path / "warehouse"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty landing."""
    landing = tmp_path / "landing"
    landing.mkdir()
    return landing
