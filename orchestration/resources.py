"""Which feeds, which warehouse, which Spark: settings from the environment, or ``SettingMisdeclared``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assets.executors import choice
from assets.storage import lake
from assets.storage.lake import Lake
from assets.storage.leases import LEASE_SECONDS, is_on_store
from orchestration.spark import archive
from orchestration.spark.on_first_use import SparkOnFirstUse
from orchestration.spark.settings import WAREHOUSE, s3a_config, session_config, warehouse_uri
from transforms.catalogue import catalogues_of
from transforms.errors import SettingMisdeclared
from transforms.record import DEFAULT_LIMITS, Limits
from transforms.silver import discovered_tables

ROOT = Path(__file__).resolve().parent.parent

OBJECT, RECORD = "WEIR_LARGEST_OBJECT", "WEIR_LARGEST_RECORD"
LEASE = "WEIR_LEASE_SECONDS"
EXECUTOR, MEMORY = "WEIR_EXECUTOR", "WEIR_IN_PROCESS_MEMORY"
FEWEST_SECONDS = 3
LARGEST_CELL = 1 << 30
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


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
            warehouse_uri(environment.get(WAREHOUSE, str(ROOT / "warehouse")), WAREHOUSE),
        )


def lake_of(warehouse: str, environment: Mapping[str, str] | None = None) -> Lake:
    """The warehouse with a Spark session that starts on first use."""
    values = os.environ if environment is None else environment
    on_s3 = is_on_store(warehouse)
    settings = session_config(values) | archive.settings_of(values)
    settings |= s3a_config(values) if on_s3 else {}
    limits = limits_of(values)
    return Lake(
        warehouse=warehouse,
        pyspark=SparkOnFirstUse(settings, s3a=on_s3),
        largest_object=limits.largest_object,
        largest_record=limits.largest_record,
        most_tables=number_of(values, discovered_tables.MOST_TABLES, lake.MOST_TABLES),
        lease_seconds=lease_seconds_of(values),
        executor=executor_of(values),
        in_process_memory=size_of(values, MEMORY, choice.MEMORY),
        catalogues=catalogues_of(values),
    )


def limits_of(environment: Mapping[str, str]) -> Limits:
    """``WEIR_LARGEST_OBJECT`` and ``WEIR_LARGEST_RECORD``, else the defaults."""
    largest_object = size_of(environment, OBJECT, DEFAULT_LIMITS.largest_object)
    largest_record = size_of(environment, RECORD, DEFAULT_LIMITS.largest_record)
    if largest_record > LARGEST_CELL:
        fault = f"a record may have {LARGEST_CELL:,} bytes at most: Spark and Arrow hold no larger value safely"
        raise SettingMisdeclared(RECORD, environment[RECORD], fault)
    return Limits(largest_object, largest_record)


def lease_seconds_of(environment: Mapping[str, str]) -> int:
    """``WEIR_LEASE_SECONDS``, else the default."""
    seconds = number_of(environment, LEASE, LEASE_SECONDS)
    if seconds < FEWEST_SECONDS:
        fault = f"a lease lasts {FEWEST_SECONDS} s at least: it is renewed while a third of it has gone by"
        raise SettingMisdeclared(LEASE, environment[LEASE], fault)
    return seconds


def executor_of(environment: Mapping[str, str]) -> str:
    """``WEIR_EXECUTOR``: who does the work; ``auto`` where nothing is said."""
    text = environment.get(EXECUTOR, "").strip() or choice.AUTO
    if text not in choice.EXECUTORS:
        fault = f"there is no such executor; write one of {', '.join(choice.EXECUTORS)}"
        raise SettingMisdeclared(EXECUTOR, environment[EXECUTOR], fault)
    return text


def number_of(environment: Mapping[str, str], name: str, default: int) -> int:
    """The whole number that a variable holds, or the default."""
    text = environment.get(name, "").strip()
    if not text:
        return default
    if not re.fullmatch("[0-9]{1,9}", text):
        raise SettingMisdeclared(name, environment[name], "this is no whole number, such as 1000")
    return int(text)


def size_of(environment: Mapping[str, str], name: str, default: int) -> int:
    """The bytes that a variable names (with ``k``, ``m`` or ``g`` KiB, MiB or GiB), or the default."""
    text = environment.get(name, "").strip().lower()
    if not text:
        return default
    written = re.fullmatch(r"([1-9][0-9]{0,17})([kmg]?)b?", text)
    if written is None:
        fault = "this is no size; write a number of bytes, or one with k, m or g behind it, such as 512m"
        raise SettingMisdeclared(name, environment[name], fault)
    return int(written[1]) * _UNITS[written[2]]
