"""The page on trouble-shooting has every error that Weir raises on purpose, in the words that a person reads."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import assets
import orchestration
import transforms
from orchestration.spark.jars import JarsMissing
from orchestration.spark.java import JavaMissing
from transforms.errors import WeirError

WORDS = {
    "FeedMisdeclared": "feeds/shop.yaml: line …, column …",
    "FeedFaults": "feeds/shop.yaml: line …, column …",
    "SettingMisdeclared": "`WEIR_…=…",
    "UnreadableLanding": "`cannot read s3://",
    "LandingAway": "`cannot read s3://",
    "OffsetsLost": "offsets that were never read",
    "UnreadableWarehouse": "cannot read the warehouse",
    "UnreadableSource": "cannot ask its source",
    "CatalogueAway": "catalogue …: it does not answer",
    "TableRefused": "a table … at …, and gold is at …",
    "RecordFailed": "reading stopped",
    "UnknownHeader": "the header is not understood",
    "OtherDelimiter": "between the fields the row is a single one",
    "TableNameCollision": "would mix",
    "FormatUnclear": "the drops are of no format that Weir recognises",
    "WindowOutOfRange": "it has not begun yet",
    "WindowSizeChanged": "bronze was read by the",
    "QueryRefused": "Tables: bronze.<feed>",
    "CutRefused": "no cut answers",
    "UnknownKey": "has no gold table",
    "DecisionRefused": "a decision of `weir epoch`, `weir release` or `weir quarantine` is refused",
    "CompactionRefused": "was not compacted",
    "ErasureRefused": "Nothing was erased",
    "SharedRecordsStay": "stay in bronze, the first of them",
    "ErasureNotFinished": "which this feed file does not make any more",
    "TableNotErased": "nothing can be erased from it",
    "GoldBehind": "is missing, or was made under another declaration",
    "RebuildRefused": "bronze has no records of",
    "RebuildStopped": "silver is rebuilt, gold is unchanged",
    "TableBusy": "another run is writing the same windows or tables now",
    "LeaseLost": "this run has lost its lease on the table",
    "NoConditions": "ignores conditional writes",
    "NoLocks": "cannot be locked",
    "UnwritableWarehouse": "cannot write the warehouse",
    "WarehouseFull": "no space left on device",
    "HistoryFailed": "the history of runs in",
    "WarehouseFailed": "the warehouse … failed",
    "SchemaChangeRefused": "`rename_table`, then what was found",
    "KeyDrift": "its key is declared as",
    "TablesFailed": "failed; the others are done",
    "WorkerLost": "A Python worker of Spark's was killed",
    "WorkerStill": "A Python worker of Spark's stood still",
    "SparkLost": "Spark's Java process ended",
    "ClusterAway": "no session could be started on",
    "JavaMissing": "Java was not found",
    "JarsMissing": "these jars are needed and could not be fetched",
}
"""By error, the words by which the page is found."""

SAID_ELSEWHERE = {
    "FeedMisdeclared",
    "FeedFaults",
    "SettingMisdeclared",
    "UnreadableLanding",
    "LandingAway",
    "CatalogueAway",
    "TableRefused",
    "FormatUnclear",
    "WindowOutOfRange",
    "QueryRefused",
    "UnknownKey",
    "DecisionRefused",
    "WarehouseFailed",
    "SchemaChangeRefused",
    "JavaMissing",
    "JarsMissing",
}
"""Errors whose words are put together from parts, or come from whoever raises them."""


def errors() -> dict[str, type[Exception]]:
    """Every error for people, by name; those with ``_`` before it never reach one."""
    for package in (assets, orchestration, transforms):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    found: list[type[Exception]] = [JavaMissing, JarsMissing]
    waiting: list[type[Exception]] = [WeirError]
    while waiting:
        of_it = waiting.pop().__subclasses__()
        waiting += of_it
        found += of_it
    return {
        one.__name__: one
        for one in found
        if not one.__name__.startswith("_") and not one.__module__.startswith("tests")
    }


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/troubleshooting.md").read_text(encoding="utf-8")


def test_every_error_has_its_words_on_the_page(page: str) -> None:
    assert sorted(errors()) == sorted(WORDS)
    assert [name for name, words in WORDS.items() if words not in page] == []


def test_the_words_are_those_of_the_error() -> None:
    known = errors()
    for name in {*WORDS} - SAID_ELSEWHERE:
        said = " ".join(inspect.getsource(known[name]).lower().split())
        assert WORDS[name].lower() in said, name
