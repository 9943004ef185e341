"""Whatever is asked, one choice says who does it, and one number moves every limit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assets.executors import choice
from assets.executors.choice import (
    AUTO,
    EXECUTORS,
    IN_PROCESS,
    MEMORY,
    SPARK,
    Choice,
    done_by,
    executors_of,
)
from assets.executors.spark import size_in_bytes

HUGE = 1 << 50
ASKED: dict[str, Callable[[Choice, int], bool]] = {
    "files": lambda chosen, size: chosen.fits_in_process(size, 0),
    "stored rows": lambda chosen, rows: chosen.fits_in_process(0, rows),
    "changes": lambda chosen, changes: chosen.fits_in_process(0, 0, changes),
    "applied changes": lambda chosen, changes: chosen.applies_in_process(changes, 0),
    "rows looked through": lambda chosen, rows: chosen.applies_in_process(0, rows),
    "payloads": lambda chosen, size: chosen.decodes_in_process(size),
    "records": lambda chosen, records: chosen.decodes_in_process(0, records),
    "fetched bytes": lambda chosen, size: chosen.fetches_in_process(size, 0),
    "offsets": lambda chosen, offsets: chosen.fetches_in_process(0, offsets),
}
MOST = {
    "files": 64 << 20,
    "stored rows": 419_430,
    "changes": 69_905,
    "applied changes": 2 << 20,
    "rows looked through": 64 << 20,
    "payloads": 8 << 20,
    "records": 5_377,
    "fetched bytes": 32 << 20,
    "offsets": 23_301,
}
"""What is done in this process at most, unless somebody says otherwise: docs/operating.md rounds these."""


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose memory is no limit of its own."""
    monkeypatch.setattr(choice, "machine_memory", lambda: 1 << 40)


@pytest.mark.parametrize("what", ASKED)
def test_work_up_to_a_size_is_done_here_and_what_is_larger_by_spark(what: str) -> None:
    assert ASKED[what](Choice(), MOST[what])
    assert not ASKED[what](Choice(), MOST[what] + 1)


@pytest.mark.parametrize("what", ASKED)
def test_half_the_memory_is_half_of_every_limit(what: str) -> None:
    half = Choice(AUTO, MEMORY // 2)
    assert ASKED[what](half, MOST[what] // 2)
    assert not ASKED[what](half, MOST[what] // 2 + 1)


@pytest.mark.parametrize("what", ASKED)
def test_whoever_names_an_executor_gets_it_whatever_the_size_and_the_memory(what: str) -> None:
    for memory in (0, MEMORY):
        for size in (0, 1, HUGE):
            assert ASKED[what](Choice(IN_PROCESS, memory), size)
            assert not ASKED[what](Choice(SPARK, memory), size)


@pytest.fixture(autouse=True)
def a_large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "machine_memory", lambda: 16 << 30)


def test_a_small_machine_applies_fewer_changes_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "machine_memory", lambda: 4 << 30)
    assert choice.most_changes_for(4 << 30) == 477_218
    assert Choice().applies_in_process(477_218, 0)
    assert not Choice().applies_in_process(477_219, 0)


def test_what_is_held_at_a_time_is_bounded_but_for_whoever_asks_for_this_process() -> None:
    assert Choice().holds(2 << 30)
    assert not Choice().holds((2 << 30) + 1)
    assert Choice(IN_PROCESS).holds(HUGE)


def test_rows_and_changes_add_up_and_files_are_weighed_by_themselves() -> None:
    chosen = Choice(AUTO, 16_000)
    assert chosen.fits_in_process(16_000, 40, 10)
    assert not chosen.fits_in_process(0, 41, 10)
    assert not chosen.fits_in_process(16_001, 0)


def test_an_object_may_inflate_as_far_as_there_is_memory_to_decode_it() -> None:
    assert Choice().most_decoded == 8 << 20
    assert Choice(IN_PROCESS).most_decoded is None


def test_the_executors_are_known_by_these_words() -> None:
    assert EXECUTORS == ("auto", "spark", "in-process")


def test_a_run_says_who_did_the_work_and_nothing_where_nothing_was_done() -> None:
    assert [done_by(), done_by("in-process", "spark")] == ["", " (in-process, spark)"]
    assert executors_of(["in-process", "spark"]) == {"executor": "in-process, spark"}
    assert executors_of([]) == {}


def test_a_size_is_read_as_spark_reads_it() -> None:
    sizes = {"5g": 5 * 2**30, "512m": 2**29, "1024MB": 2**30, "64k": 2**16, "3": 3 * 2**20}
    assert {size: size_in_bytes(size) for size in sizes} == sizes
