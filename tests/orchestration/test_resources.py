"""What the environment says holds for every warehouse of a process, and what is none of its words is refused."""

from __future__ import annotations

import re

import pytest

from assets.executors.choice import AUTO, IN_PROCESS, SPARK, Choice
from orchestration.resources import lake_of
from orchestration.spark import settings
from transforms.errors import SettingMisdeclared
from transforms.record import Limits


def test_without_settings_the_defaults_hold() -> None:
    blank = dict.fromkeys(("WEIR_LARGEST_OBJECT", "WEIR_EXECUTOR", "WEIR_MOST_TABLES"), " ")
    for lake in (lake_of("/nowhere", {}), lake_of("/nowhere", blank)):
        assert lake.limits == Limits(1 << 30, 64 << 20)
        assert (lake.most_tables, lake.lease_seconds) == (1_000, 60)
        assert lake.choice == Choice(AUTO, 64 << 20)


def test_what_is_said_holds_for_every_warehouse() -> None:
    told = {
        **{"WEIR_LARGEST_OBJECT": "7", "WEIR_LARGEST_RECORD": "1g", "WEIR_MOST_TABLES": " 12 "},
        **{"WEIR_LEASE_SECONDS": "3", "WEIR_EXECUTOR": " spark ", "WEIR_IN_PROCESS_MEMORY": "16m"},
        "WEIR_CATALOGUES": "hive://metastore",
    }
    lake = lake_of("/nowhere", told)
    for one in (lake, lake.with_warehouse("/other"), settings.tuned(lake)):
        assert one.limits == Limits(7, 1 << 30)
        assert (one.most_tables, one.lease_seconds) == (12, 3)
        assert one.choice == Choice(SPARK, 16 << 20)
    # The catalogues are those of the warehouse: no proof in another one is registered.
    assert [one.place for one in settings.tuned(lake).catalogues] == ["metastore:9083"]
    assert lake.with_warehouse("/other").catalogues == ()
    assert lake.by(IN_PROCESS).choice == Choice(IN_PROCESS, 16 << 20)


@pytest.mark.parametrize(
    ("text", "size"),
    [("5000", 5000), ("8k", 8 << 10), ("512M", 512 << 20), ("3gb", 3 << 30), (" 1B ", 1)],
)
def test_a_size_is_bytes_or_has_a_unit(text: str, size: int) -> None:
    assert lake_of("/nowhere", {"WEIR_LARGEST_OBJECT": text}).limits == Limits(largest_object=size)


NO_SIZE = "this is no size; write a number of bytes, or one with k, m or g behind it, such as 512m"


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        *(
            ("WEIR_LARGEST_RECORD", text, NO_SIZE)
            for text in ("much", "0", "-1", "1.5g", "1t", "m", "9" * 19)
        ),
        ("WEIR_LARGEST_RECORD", "1025m", "a record may have 1,073,741,824 bytes at most"),
        ("WEIR_IN_PROCESS_MEMORY", "much", "this is no size"),
        *(("WEIR_MOST_TABLES", text, "this is no whole number") for text in ("many", "-1", "1k")),
        ("WEIR_LEASE_SECONDS", "2", "a lease lasts 3 s at least"),
        (
            *("WEIR_EXECUTOR", "sprak"),
            "there is no such executor; write one of auto, spark, in-process",
        ),
    ],
)
def test_what_cannot_be_is_refused(name: str, text: str, fault: str) -> None:
    with pytest.raises(SettingMisdeclared, match=re.escape(f"{name}={text}: {fault}")):
        lake_of("/nowhere", {name: text})
