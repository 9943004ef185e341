"""The laws of events over random histories of every format, through the product's own stages in this process.

An eighth of ``WEIR_LAW_HISTORIES`` (10,000 by default) is drawn for each format, from ``WEIR_LAW_SEED``. What a record
means is known from the history alone, and so is its outcome. The number of a failing history is in the window, the
object or the key that a failure shows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import pyarrow as pa
import pytest

from assets.executors.in_process import InProcess
from assets.silver.classify import Classified
from tests.laws.events import laws, product
from tests.laws.events.drawing import DRAWINGS, worlds
from tests.laws.events.meanings import Drawn
from tests.laws.events.product import Cut, Outcome
from transforms.formats import FORMATS
from transforms.silver.frames import CHANGES, IN_BASE, TO_QUARANTINE

SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))


def histories_of(asked: int) -> int:
    """How many histories each format gets of the number asked for."""
    return max(16, asked // len(DRAWINGS))


HISTORIES = histories_of(int(os.environ.get("WEIR_LAW_HISTORIES", "10000")))
ENOUGH = 100
"""From this many histories on, a format has every rare case that the laws expect to see. With fewer, a missing case
would make a law fail without any fault in the product."""


@dataclass(slots=True)
class World:
    """Histories of one feed: what was drawn, what bronze has of it, and what the stages left."""

    drawn: Drawn
    bronze: Cut
    left: Classified[pa.Table]
    outcome: Outcome


@pytest.fixture(scope="module", params=DRAWINGS)
def made(request: pytest.FixtureRequest) -> Sequence[World]:
    found = []
    with product.uncollected():
        for drawn in worlds(request.param, SEED, HISTORIES):
            bronze = product.cut(drawn)
            left = product.classified(drawn, bronze, bronze.rows)
            found.append(World(drawn, bronze, left, product.outcome_of(left)))
    return found


def test_every_format_is_drawn() -> None:
    assert DRAWINGS.keys() == FORMATS.keys()


def test_every_event_of_a_window_is_accounted_for_exactly(
    made: Sequence[World], record_property: Callable[[str, object], None]
) -> None:
    for one in made:
        laws.accounting(one.drawn, one.outcome)
    totals = laws.totals(one.outcome for one in made)
    outcomes = ("changes", "control", "duplicates", "quarantined", "held", "too_late")
    assert totals["events"] == sum(totals[name] for name in outcomes)
    assert totals["records"] == sum(len(one.bronze.drawn) for one in made)
    format_name = made[0].drawn.feed.format
    can_be_held = DRAWINGS[format_name].has_scopes
    drawn = {"changes", "duplicates", "quarantined", "too_late", *(["held"] if can_be_held else [])}
    assert drawn <= {name for name in outcomes if totals[name]} or HISTORIES < ENOUGH
    record_property(
        "laws",
        f"{format_name}: {HISTORIES:,} histories from seed {SEED}, {totals['events']:,} events",
    )


def test_an_event_is_one_event_however_often_and_however_spelled_it_comes(
    made: Sequence[World],
) -> None:
    known = laws.Known()
    for one in made:
        laws.redelivery(one.drawn, one.bronze, one.outcome, known)
        assert 10 * laws.spelled_apart(one.drawn) > len(one.bronze.drawn) or HISTORIES < ENOUGH
    assert len(known.of_id) > HISTORIES


def test_what_becomes_of_records_depends_neither_on_their_order_nor_on_their_batches(
    made: Sequence[World],
) -> None:
    for number, one in enumerate(made):
        rng = Random(f"{SEED} {number}")
        run = InProcess(batch_rows=rng.choice([2, 50, 700, 3_000]))
        with product.uncollected():
            shuffled = product.shuffled(one.bronze.rows, rng)
            again = product.classified(one.drawn, one.bronze, shuffled, run)
        rows, expected = (
            some.of_kind(CHANGES, TO_QUARANTINE, IN_BASE) for some in (again, one.left)
        )
        assert product.sorted_rows(rows).equals(product.sorted_rows(expected))
        assert again.accounts == one.outcome.accounts


def test_silver_holds_the_values_of_the_source(made: Sequence[World]) -> None:
    for one in made:
        values = laws.exactness(one.drawn, one.bronze, one.outcome)
        assert values > HISTORIES
