"""Which feeds, which warehouse, which Spark: the only reader of the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assets.lake import Lake
from orchestration.spark import WeirSpark, s3a_config, session_config, warehouse_uri

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Deployment:
    """Where the feed files are and where the tables go."""

    feeds: Path
    warehouse: str

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Deployment:
        """``WEIR_FEEDS`` and ``WEIR_WAREHOUSE``, else ``feeds`` and ``warehouse`` beside the code."""
        return cls(
            Path(environment.get("WEIR_FEEDS", ROOT / "feeds")).expanduser().resolve(),
            warehouse_uri(environment.get("WEIR_WAREHOUSE", str(ROOT / "warehouse"))),
        )


def lake_of(warehouse: str, environment: Mapping[str, str] | None = None) -> Lake:
    """The warehouse with a Spark session that starts on first use."""
    values = os.environ if environment is None else environment
    on_s3 = warehouse.startswith("s3a://")
    settings = session_config(values) | (s3a_config(values) if on_s3 else {})
    return Lake(warehouse=warehouse, pyspark=WeirSpark(spark_config=settings, s3a=on_s3))
