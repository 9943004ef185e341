"""What a fault did to the tables: lost events and wrong rows, compared with an undisturbed run and with the oracle."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.storage.lake import Lake, Layer
from tests.faults.drawn import Drawn, Rows
from tests.faults.stored import OF_THE_RUN
from tests.laws.drawn.histories import COLUMNS

FEED = "faults"
EVENTS = (Layer.BRONZE, Layer.SILVER, Layer.QUARANTINE)
"""Tables that have a row per record or event: one that is missing there is lost."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Rows of the undisturbed run's events that are not there, and rows elsewhere that are not what they should be."""

    lost_events: int
    wrong_rows: int
    shown: str

    @property
    def counts(self) -> tuple[int, int]:
        """Both numbers."""
        return self.lost_events, self.wrong_rows

    def __str__(self) -> str:
        return f"{self.lost_events} events lost, {self.wrong_rows} rows wrong\n{self.shown}"


def damage(lake: Lake, reference: Lake, drawn: Drawn) -> Damage:
    """Compare every layer with the undisturbed run's, and gold with the oracle."""
    lost = wrong = 0
    shown = []
    for layer in (*EVENTS, Layer.ACCOUNTING, Layer.PROGRESS):
        ours, theirs = (texts(one.table(layer, FEED).read()) for one in (lake, reference))
        missing, more = theirs - ours, ours - theirs
        if layer in EVENTS:
            lost += missing.total()
        else:
            wrong += missing.total()
        wrong += more.total()
        shown += [f"{layer} lacks {text}" for text in [*missing][:3]]
        shown += [f"{layer} has {text}" for text in [*more][:3]]
    expected = drawn.expected(drawn.windows)
    for name, one in (("reference", reference), ("gold", lake)):
        for kind, found, right in zip(("rows", "tombstones"), state(one), expected, strict=True):
            keys = sorted(found.keys() | right.keys(), key=str)
            differing = [key for key in keys if found.get(key) != right.get(key)]
            wrong += len(differing)
            shown += [
                f"{name} {kind} {key}: {found.get(key)}, not {right.get(key)}"
                for key in differing[:3]
            ]
    return Damage(lost, wrong, "\n".join(shown))


def texts(frame: DataFrame) -> Counter[str]:
    """Every row as text, without ``OF_THE_RUN``, and how often it occurs."""
    names = sorted(set(frame.columns) - OF_THE_RUN)
    row = F.to_json(F.struct(*names), {"ignoreNullFields": "false"}).alias("text")
    return Counter(found["text"] for found in frame.select(row).collect())


def state(lake: Lake) -> tuple[Rows, Rows]:
    """Gold's rows and its tombstones by key, idle ones left out."""
    gold, tombstones = (
        lake.table(Layer.GOLD, FEED, "item" + part).read() for part in ("", "__tombstones")
    )
    columns = [F.col(name).cast("string").alias(name) for name in COLUMNS]
    at = F.unix_millis("_weir_event_at").alias("at")
    rows = gold.select(*columns, "_weir_log_position", "_weir_event_id", at).collect()
    found: Rows = {(row["case_id"], row["id"]): tuple(row)[2:] for row in rows}
    assert len(found) == len(rows), "two rows of one key"
    stones: Rows = {
        (row["case_id"], str(row["id"])): (row["_weir_log_position"], row["_weir_event_id"])
        for row in tombstones.orderBy("_weir_log_position").collect()
    }
    return found, {key: stone for key, stone in stones.items() if key not in found}
