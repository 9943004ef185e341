"""The simulation computes what its costs say, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.simulation.__main__ import simulation
from bench.simulation.costs import Costs, costs
from bench.simulation.week import (
    Prices,
    Source,
    Work,
    cores_needed,
    dollars_of_a_day,
    requests_of_a_day,
    seconds_of,
    week,
    window_work,
)

COSTS = Costs(
    cores=2,
    byte=1e-8,
    check=1e-6,
    change=1e-5,
    row=1e-7,
    large=2.0,
    table=0.5,
    window=20.0,
    requests={
        "GET": (300.0, 30.0),
        "HEAD": (100.0, 0.0),
        "LIST": (80.0, 8.0),
        "POST": (0.0, 0.0),
        "PUT": (30.0, 6.0),
    },
    kept=0.25,
)


EACH_HOUR = replace(COSTS, byte=3_550e-11, check=0.0, change=0.0, row=0.0, large=0.0, table=0.0)
"""100 GB take 3,550 s, and the window 20 s more."""


def line(name: str, size: int, seconds: float, **counts: int) -> dict[str, Any]:
    return {"name": name, "size": size, "median_seconds": {"weir": seconds}, "counts": counts}


def measured() -> dict[str, Any]:
    """A run on two cores whose lines have exactly the costs above."""
    rows = [
        line(f"changes into {n:,} rows", 1_000, 2 + 1_000 * 1e-5 + n * 1e-7)
        for n in (1_000_000, 10_000_000)
    ]
    tables = [line(f"10 changes each of {n:,} tables", n, 3 + n * 0.5) for n in (10, 100, 1_000)]
    requests = [
        line(
            f"requests of a window, {n} tables",
            *(n, 9.0),
            GET=270 + 30 * n,
            HEAD=100,
            LIST=72 + 8 * n,
            PUT=24 + 6 * n,
        )
        for n in (1, 5, 20)
    ]
    lines = [
        line("landing to silver", 1_000_000, 0.01),
        line("apply changes", 100_000, 2 + 100_000 * 1e-5 + 4_000_000 * 1e-7),
        line("checks of a window", 1_000, 0.001),
        line("one small window, weir run", 20, 20.0),
        *rows,
        *tables,
        *requests,
        # 1 GB: 10 s to silver, 1 s of checks, 12 s into gold, and the window's start.
        line(
            "a day of 1,000,000 changes",
            *(1_000_000_000, 43.0),
            **{"bytes in the warehouse": 250_000_000},
        ),
    ]
    return {"machine": {"cores": 2}, "sizes": {"rows": 4_000_000}, "lines": lines}


def test_costs_are_found_again_in_figures_that_were_made_of_them() -> None:
    found = costs([measured()])
    for name in ("byte", "check", "change", "row", "large", "table", "window", "kept"):
        assert getattr(found, name) == pytest.approx(getattr(COSTS, name))
    for kind, (first, further) in COSTS.requests.items():
        assert found.requests[kind] == pytest.approx((first, further))


def test_a_window_s_work_is_the_sum_of_its_parts() -> None:
    work = window_work(Source(1e9, record=1_000, tables=4, rows=1e6), COSTS, 1e9)
    assert work.parts() == pytest.approx(
        {
            "bytes to silver": 10,
            "checks": 1,
            "changes into gold": 10,
            "rows that gold holds": 0.1,
            "tables": 8,
        }
    )


@pytest.mark.parametrize(
    ("cores", "speedup", "seconds"),
    [
        # As it was measured, whatever more cores would gain.
        (2, 2.0, 100 + 40),
        (2, 1.3, 100 + 40),
        (4, 2.0, 50 + 20),
        (4, 1.5, 100 / 1.5 + 40 / 1.5),
        (8, 1.5, 100 / 1.5**2 + 40 / 1.5**2),
        # No more than four tables are worked on at a time.
        (64, 2.0, 100 / 32 + 40 / 4),
        (64, 1.0, 100 + 40),
        (1, 2.0, 200 + 40),
    ],
)
def test_a_window_takes_what_its_work_takes_on_so_many_cores(
    cores: int, speedup: float, seconds: float
) -> None:
    work = Work({"bytes": 90.0, "checks": 10.0}, 40.0, 4)
    assert seconds_of(work, cores, speedup, COSTS) == pytest.approx(20 + seconds)
    alone = Work({}, 40.0, 1)
    assert seconds_of(alone, cores, speedup, COSTS) == pytest.approx(20 + 40)


def test_an_outage_is_caught_up_and_too_few_cores_never_do_it() -> None:
    # 42 GB in the busiest hour are 900 s of two cores with their changes.
    source = Source(1e12 / 2, tables=10, rows=1e8)
    fast, slow = week(source, COSTS, 4, 2.0), week(source, COSTS, 2, 2.0)
    assert fast.usual < 600
    # The hour in which it begins waits until its end.
    assert fast.after_outage > 6 * 3600 - 3600
    assert fast.caught_up is not None
    assert 0 < fast.caught_up < 6
    assert slow.busy > fast.busy
    overloaded = week(Source(1e13, tables=10, rows=1e8), COSTS, 1, 2.0)
    assert overloaded.usual > 24 * 3600
    # What only just keeps up never catches up: each hour's work takes an hour, less half a minute.
    steady = week(Source(24e11, tables=10, rows=1e8, peak=1.0), EACH_HOUR, 2, 2.0)
    assert steady.usual == pytest.approx(3_570)
    assert steady.caught_up is None


def test_the_fewest_cores_that_do_are_found() -> None:
    source = Source(1e13, tables=10, rows=1e8)
    needed = cores_needed(source, COSTS, 1.8)
    assert needed is not None
    assert needed.usual <= 3600
    assert week(source, COSTS, needed.cores // 2, 1.8).usual > 3600
    # Twice the cores that are no faster: nothing helps.
    assert cores_needed(source, COSTS, 1.0) is None


def test_money_is_cores_requests_and_bytes() -> None:
    source = Source(1e12, tables=11)
    assert requests_of_a_day(source, COSTS) == pytest.approx(
        {"GET": 24 * 600, "HEAD": 24 * 100, "LIST": 24 * 160, "POST": 0, "PUT": 24 * 90}
    )
    dollars = dollars_of_a_day(source, COSTS, 10, Prices())
    assert dollars == pytest.approx(
        {
            "cores": 12,
            "requests": 24 * (0.7 * 0.0004 + 0.25 * 0.005),
            "a month of keeping the day": 1250 * 0.023,
        }
    )


def test_the_command_says_what_a_measured_day_takes_beside_the_computed_one(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    file.write_text(json.dumps(measured()))
    done = CliRunner().invoke(simulation, [str(file), "--speedup", "1.8"])
    assert done.exit_code == 0, done.output
    assert (
        "| a day of 1,000,000 changes | 43 s measured, 43 s computed: 1.00 times |" in done.output
    )
    assert "| wall, the nearest first | met at |" in done.output


def test_figures_of_two_kinds_of_machines_are_not_added_up(tmp_path: Path) -> None:
    files = [tmp_path / "two.json", tmp_path / "four.json"]
    files[0].write_text(json.dumps(measured()))
    files[1].write_text(json.dumps(measured() | {"machine": {"cores": 4}}))
    done = CliRunner().invoke(simulation, [*map(str, files), "--speedup", "1.8"])
    assert done.exit_code == 1
    assert "measured on machines of 2 and 4 cores" in done.output
