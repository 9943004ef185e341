"""Kind replica: a store each of whose replicas reports a write, at a position of its own within the same moment."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.laws.drawn import histories
from tests.laws.oracle.oracle import Event, Table, effect_of

REPLICA = Table("replica", tuple(histories.KEY_COLUMNS), histories.COLUMN_TYPES)


def history(rng: Random, case: str, events: int) -> list[Event]:
    """As many events of one case as ``events`` says, in the order in which the source made them."""
    drawn = histories.history(
        rng.getrandbits(32), case=case, kind="cassandra", events=events, table=REPLICA.name
    )
    return [replace(event, effect=effect_of(event)) for event in drawn]
