"""Two machines at one warehouse in S3: one works, and what the other does, stands still or dies at does no harm."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import pytest

from assets.storage.lake import Layer
from tests.faults.drawn import SEED, Drawn, draw
from tests.faults.lives import Life
from tests.faults.machine import COMMIT, HELD, READ
from tests.faults.stored import (
    STEPS_TABLES,
    Tables,
    differences,
    newest,
    opened,
    rows_of,
    tables_of,
)
from tests.services.seaweed import Store

pytestmark = [pytest.mark.journey, pytest.mark.services]

FATES = ("race", "stop", "kill")
MOMENTS = int(os.environ.get("WEIR_FAULT_MACHINES") or len(FATES))
ONLY = os.environ.get("WEIR_FAULT_PLACE")
"""All stop or die at this place, where it is given, and not at drawn ones: ``look.9``."""
BUCKET = "machines"
SHORT, LONG = 3, 8
"""Seconds that a lease lasts: the long one where another machine must come to the table before they are over."""
LEDGER = f"{COMMIT}.2"
"""The ledger of what bronze holds, the step's last commit: who finds that another has written it has nothing to lose,
and goes on to the next steps, each with a lease of its own."""
UNCONSTRAINED = "look.8"
"""Gold has its rows and not yet its constraint: whoever finds that leaves the table to Spark, which may look for rows
without a key."""
BUSY = "another run is writing the same windows or tables now (process"
FEED = "faults"
TABLES = (
    *STEPS_TABLES,
    (Layer.QUARANTINE, None),
    (Layer.GOLD, "item"),
    (Layer.GOLD, "item__tombstones"),
)

Tell = Callable[[str, object], None]


@dataclass(frozen=True, slots=True)
class Site:
    """A landing, a bucket for warehouses, and what one machine alone made of the landing: its tables and its places."""

    folder: Path
    store: Store
    tables: Tables
    places: tuple[str, ...]

    def machine(self, warehouse: str, host: str, plan: str = "- 90", lease: int = SHORT) -> Life:
        """A machine that is about to work. ``plan``: where it stops, and how many seconds it waits for others."""
        return Life(
            *(self.folder, f"{warehouse}_{host}", address(warehouse), str(self.folder / "landing")),
            *(host, plan),
            module="machine",
            settings={**self.store.environment(), "WEIR_LEASE_SECONDS": str(lease)},
        )


@pytest.fixture(scope="module")
def site(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    store.put(BUCKET, {})
    drawn = draw(SEED + 5, windows=1, histories=4)
    folder = tmp_path_factory.mktemp("machines")
    drawn.lay(folder / "landing")
    alone = Site(folder, store, {}, ()).machine("alone", "alone")
    alone.go()
    assert alone.process.wait(timeout=240) == 0, alone.said
    with pytest.MonkeyPatch.context() as patch:
        for name, value in store.environment().items():
            patch.setenv(name, value)
        assert is_as_expected("alone", drawn)
        places = tuple(one.layer for one in alone.marks() if "." in one.layer)
        yield Site(folder, store, stored_in("alone"), places)


def test_of_two_machines_at_one_window_one_works_and_the_other_says_who_does(site: Site) -> None:
    first = site.machine("held", "first", f"{READ}.1:{HELD} 0")
    second = site.machine("held", "second", f"- {2 * SHORT}")
    with running(first, second):
        first.go()
        first.wait_for(f"{READ}.1")
        second.go()
        # It tries for twice as long as a lease lasts: who works on renews it.
        assert second.process.wait(timeout=240) != 0, second.said
        end = second.said.strip().splitlines()[-1]
        assert f"TableBusy: bronze.faults: {BUSY} {first.process.pid} on first has it since" in end
        first.journal.with_suffix(".on").touch()
        assert first.process.wait(timeout=240) == 0, first.said
    assert stored_in("held") == site.tables


@pytest.mark.parametrize(
    ("place", "layer", "says"),
    [
        (f"{READ}.1", "bronze", "LeaseLost: bronze.faults: this run has lost its lease"),
        # It has looked at its leases already, and the store refuses its commit.
        (f"{COMMIT}.3", "silver", "TableBusy: "),
    ],
)
def test_a_machine_that_stood_still_finds_that_another_took_over_and_changes_nothing(
    site: Site, place: str, layer: str, says: str
) -> None:
    warehouse = f"paused_{layer}"
    paused, other = pair(site, warehouse, "paused", place)
    with running(paused, other):
        taken_over_from(paused, other, place, layer)
        assert stored_in(warehouse) == site.tables
        before = versions_of(warehouse)
        paused.go_on()
        assert paused.process.wait(timeout=240) != 0, paused.said
    assert says in paused.said.strip().splitlines()[-1], paused.said
    assert (stored_in(warehouse), versions_of(warehouse)) == (site.tables, before)


def test_a_machine_that_died_with_a_lease_is_waited_for_until_it_is_over(site: Site) -> None:
    killed, other = pair(site, "killed", "killed", f"{COMMIT}.1")
    with running(killed, other):
        taken_over_from(killed, other, f"{COMMIT}.1", "bronze", kill=True)
    assert stored_in("killed") == site.tables


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_wherever_a_machine_stands_still_or_dies_nothing_is_doubled_or_lost(
    site: Site, moment: int, record_property: Tell
) -> None:
    rng = Random(f"machines {SEED} {moment}")
    fate, place = FATES[moment % len(FATES)], ONLY or rng.choice(site.places)
    warehouse = f"moment_{moment}"
    raced_or_stopped = raced if fate == "race" else partial(stopped_anywhere, fate, place)
    ends = raced_or_stopped(site, warehouse)
    print(f"moment {moment}: {fate} at {place}: {ends}", flush=True)
    lost, wrong = differences(site.tables, stored_in(warehouse))
    record_property("faults", (f"two machines at one warehouse in S3: {fate}", 1, lost, wrong))
    assert (lost, wrong) == (0, 0), f"{fate} at {place}: {ends}"


def raced(site: Site, warehouse: str) -> list[str]:
    """Two machines begin at once; how each ended. One that meets the other stops, and says why."""
    racers = [site.machine(warehouse, host, "- 0") for host in ("one", "two")]
    with running(*racers):
        for racer in racers:
            racer.go()
        codes = [racer.process.wait(timeout=240) for racer in racers]
    ends = [racer.said.strip().splitlines()[-1] if racer.said.strip() else "" for racer in racers]
    assert 0 in codes, ends
    for code, end in zip(codes, ends, strict=True):
        assert code == 0 or "TableBusy: " in end, ends
    return ends


def stopped_anywhere(fate: str, place: str, site: Site, warehouse: str) -> list[str]:
    """A machine stops or is killed at this place, and another takes over; how the first one ended."""
    kill = fate == "kill"
    victim = site.machine(warehouse, "victim", f"{place} 0")
    other = site.machine(warehouse, "other", "- 90 spark" if place == UNCONSTRAINED else "- 90")
    with running(victim, other):
        victim.go()
        victim.wait_until_stopped()
        if kill:
            victim.kill()
        other.go()
        assert other.process.wait(timeout=240) == 0, other.said
        assert stored_in(warehouse) == site.tables
        if kill:
            return ["killed"]
        before = versions_of(warehouse)
        victim.go_on()
        code = victim.process.wait(timeout=240)
    if place == LEDGER:
        assert code == 0, victim.said
        return ["done"]
    assert code != 0, "it worked on after another had taken over"
    assert versions_of(warehouse) == before, victim.said
    end = victim.said.strip().splitlines()[-1]
    assert "LeaseLost: " in end or "TableBusy: " in end, victim.said
    return [end]


def pair(site: Site, warehouse: str, host: str, place: str) -> tuple[Life, Life]:
    """A machine that stops at this place, and another."""
    first = site.machine(warehouse, host, f"{place} 0", LONG)
    return first, site.machine(warehouse, "other", lease=LONG)


def taken_over_from(
    first: Life, other: Life, place: str, layer: str, *, kill: bool = False
) -> None:
    """The first machine stops at its place, or dies there; the other says so, waits for it, and does the work."""
    first.go()
    first.wait_until_stopped()
    assert [mark.layer for mark in first.marks()][-1] == place
    steps = [mark.layer for mark in first.marks() if "." not in mark.layer]
    assert steps[-1] == layer, "it stopped in another step than the test is about"
    if kill:
        first.kill()
    other.go()
    assert other.process.wait(timeout=240) == 0, other.said
    host = "killed" if kill else "paused"
    assert f"{layer}.faults: {BUSY} {first.process.pid} on {host} has it since" in other.said


@contextmanager
def running(*lives: Life) -> Iterator[None]:
    """All are ready before the test goes on, and whatever happens, none outlives it."""
    try:
        for life in lives:
            life.wait_for("ready")
        yield
    finally:
        for life in lives:
            life.kill()


def address(warehouse: str) -> str:
    """The tables of a test in the bucket."""
    return f"s3a://{BUCKET}/{warehouse}"


def stored_in(warehouse: str) -> Tables:
    """The rows of all tables of a warehouse."""
    return tables_of(address(warehouse), FEED, TABLES)


def versions_of(warehouse: str) -> dict[str, int]:
    """The newest commit of every table."""
    found = opened(address(warehouse), FEED, TABLES)
    return {name: newest(table).version() for name, table in found}


def is_as_expected(warehouse: str, drawn: Drawn) -> bool:
    """Whether gold has the keys that the oracle expects, each with the same last event."""
    rows = rows_of(dict(opened(address(warehouse), FEED, TABLES))["gold.faults.item"])
    found = sorted((row["case_id"], str(row["id"]), row["_weir_event_id"]) for row in rows)
    expected = drawn.expected(drawn.windows)[0]
    return found == sorted((*map(str, key), str(row[-2])) for key, row in expected.items())
