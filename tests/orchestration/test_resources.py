"""The environment says how large a drop may be, and a value that is no size is refused."""

from __future__ import annotations

import pytest

from assets.executors.choice import AUTO, IN_PROCESS, SPARK, Choice
from orchestration.resources import lake_of, limits_of
from orchestration.spark import settings
from transforms.errors import SettingMisdeclared
from transforms.record import Limits


def test_without_settings_the_limits_are_the_defaults() -> None:
    assert limits_of({}) == limits_of({"WEIR_LARGEST_OBJECT": " "}) == Limits(1 << 30, 64 << 20)


@pytest.mark.parametrize(
    ("text", "size"),
    [("5000", 5000), ("8k", 8 << 10), ("512M", 512 << 20), ("3gb", 3 << 30), (" 1B ", 1)],
)
def test_a_size_is_bytes_or_has_a_unit(text: str, size: int) -> None:
    assert limits_of({"WEIR_LARGEST_OBJECT": text}) == Limits(largest_object=size)


@pytest.mark.parametrize("text", ["much", "0", "-1", "1.5g", "1t", "m", "9" * 19])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(SettingMisdeclared) as refused:
        lake_of("/nowhere", {"WEIR_LARGEST_RECORD": text})
    assert str(refused.value) == (
        f"WEIR_LARGEST_RECORD={text}: this is no size; write a number of bytes, "
        "or one with k, m or g behind it, such as 512m"
    )


def test_a_record_may_not_be_larger_than_a_cell_of_a_table() -> None:
    assert limits_of({"WEIR_LARGEST_RECORD": "1g"}).largest_record == 1 << 30
    with pytest.raises(SettingMisdeclared, match="1,073,741,824 bytes at most"):
        limits_of({"WEIR_LARGEST_RECORD": "1025m"})


def test_every_warehouse_of_a_process_has_the_same_limits() -> None:
    lake = lake_of("/nowhere", {"WEIR_LARGEST_OBJECT": "7", "WEIR_LARGEST_RECORD": "5"})
    assert lake.limits == lake.with_warehouse("/other").limits == Limits(7, 5)
    tuned = settings.tuned(lake)
    assert tuned is not lake
    assert tuned.limits == Limits(7, 5)


def test_how_many_tables_a_stream_may_describe_is_a_number() -> None:
    assert lake_of("/nowhere", {}).most_tables == 1_000
    lake = lake_of("/nowhere", {"WEIR_MOST_TABLES": " 12 "})
    assert lake.most_tables == lake.with_warehouse("/other").most_tables == 12
    for text in ("many", "-1", "1.5", "1k"):
        with pytest.raises(SettingMisdeclared, match="this is no whole number"):
            lake_of("/nowhere", {"WEIR_MOST_TABLES": text})


def test_a_lease_lasts_as_long_as_the_environment_says_for_every_warehouse() -> None:
    assert lake_of("/nowhere", {}).lease_seconds == 60
    lake = lake_of("/nowhere", {"WEIR_LEASE_SECONDS": "3"})
    assert lake.lease_seconds == lake.with_warehouse("/other").lease_seconds == 3
    with pytest.raises(
        SettingMisdeclared, match="WEIR_LEASE_SECONDS=2: a lease lasts 3 s at least"
    ):
        lake_of("/nowhere", {"WEIR_LEASE_SECONDS": "2"})


def test_who_does_the_work_is_said_by_the_environment_for_every_warehouse() -> None:
    assert lake_of("/nowhere", {}).choice == lake_of("/nowhere", {"WEIR_EXECUTOR": " "}).choice
    assert lake_of("/nowhere", {}).choice == Choice(AUTO, 64 << 20)
    told = {"WEIR_EXECUTOR": " spark ", "WEIR_IN_PROCESS_MEMORY": "16m"}
    lake = lake_of("/nowhere", told)
    assert lake.choice == Choice(SPARK, 16 << 20)
    assert lake.with_warehouse("/other").choice == settings.tuned(lake).choice == lake.choice
    assert lake.by(IN_PROCESS).choice == Choice(IN_PROCESS, 16 << 20)


def test_a_word_that_is_no_executor_is_refused_with_those_that_are() -> None:
    with pytest.raises(SettingMisdeclared) as refused:
        lake_of("/nowhere", {"WEIR_EXECUTOR": "sprak"})
    assert str(refused.value) == (
        "WEIR_EXECUTOR=sprak: there is no such executor; write one of auto, spark, in-process"
    )
    with pytest.raises(SettingMisdeclared, match="WEIR_IN_PROCESS_MEMORY=much: this is no size"):
        lake_of("/nowhere", {"WEIR_IN_PROCESS_MEMORY": "much"})
