"""Events at or below their table's horizon: those that its base has are repeats, others came too late.

Not here: where the horizon lies (``transforms/horizons.py``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.change import CONTROL
from transforms.formats.spec import fault
from transforms.silver_columns import repeats


def is_decided(is_covered: Column) -> Column:
    """True for events that would be changes if there were no horizon. Control rows are in no base."""
    is_own = ~F.col("effect").isin(*CONTROL)
    return is_covered & (F.col("fate") == repeats.CHANGE) & is_own


def judged(fated: DataFrame, is_covered: Column, *, repeats_count: bool) -> DataFrame:
    """Give events at or below a horizon their fate, by ``is_known``, which is then ``in_base``; others keep theirs.

    ``repeats_count``: known ones stay changes, as a proof wants it that makes gold anew from the first event.
    """
    decided = is_decided(is_covered)
    known = F.lit(repeats.CHANGE if repeats_count else repeats.DUPLICATE)
    place = F.array_join(F.transform("position", lambda number: number.cast("string")), "/")
    reason = fault(
        "too_late",
        *("the history of ", F.col("table"), " is compacted beyond its position ", place),
        ", and no such event was known when that was done",
    )
    return (
        fated.withColumn("was_decided", decided)
        .withColumn(
            "fate",
            F.when(F.col("was_decided") & F.col("is_known"), known)
            .when(F.col("was_decided"), F.lit(repeats.TOO_LATE))
            .otherwise(F.col("fate")),
        )
        .withColumn(
            "fault", F.when(F.col("fate") == repeats.TOO_LATE, reason).otherwise(F.col("fault"))
        )
        .withColumn("in_base", F.col("was_decided") & F.col("is_known"))
        .drop("was_decided", "is_known")
    )
