"""The two tables that a window's events become: silver and quarantine."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.change import CHANGE, QUARANTINE
from transforms.silver_columns import repeats

KEY_CHANGE = "key_change"


def changes(fated: DataFrame) -> DataFrame:
    """One row per change of one key: an event that moves a row to another key gives two (see ``CHANGE``)."""
    halves = F.when(moves(), F.array(old_half(), new_half())).otherwise(F.array(whole()))
    kept = fated.where(F.col("fate") == repeats.CHANGE).withColumn("half", F.explode(halves))
    return kept.select(
        *[_column(field.name).cast(field.dataType).alias(field.name) for field in CHANGE.fields]
    )


def quarantine(fated: DataFrame) -> DataFrame:
    """One row per event that could not become a change (see ``QUARANTINE``)."""
    refused = fated.where(F.col("fate").isin(repeats.QUARANTINED, repeats.TOO_LATE))

    def if_whole(name: str) -> Column:
        return F.when(~F.exists(name, lambda part: part.isNull()), F.col(name))

    named = refused.withColumns(
        {
            "reason": F.col("fault.reason"),
            "detail": F.col("fault.detail"),
            "key": if_whole("key"),
            "position": if_whole("position"),
        }
    )
    return named.select(*[F.col(field.name).cast(field.dataType) for field in QUARANTINE.fields])


def moves() -> Column:
    """True where an event changes its row's key; in a table without a key, any change of the row is one."""
    changed = F.col("of_one_key") & (F.col("key") != F.col("old_key"))
    return F.coalesce(changed, F.lit(False)) & F.col("operation").isin("update", "replace")


def is_keyless() -> Column:
    """True for a table without a key, of which copies are counted."""
    return F.coalesce("keyless", F.lit(False))


def whole() -> Column:
    """The change of an event that keeps its row's key."""
    no_key = F.lit(None).cast("array<string>")
    effect = (
        F.when(is_keyless() & F.col("of_one_key") & (F.col("effect") == "put"), F.lit("add"))
        .when(is_keyless() & F.col("of_one_key") & (F.col("effect") == "remove"), F.lit("take"))
        .otherwise(F.col("effect"))
    )
    return _half(F.col("key"), no_key, F.col("derived"), effect, F.col("after"))


def old_half() -> Column:
    """The delete that a key change is for the old key: it exists only because of the event."""
    no_key = F.lit(None).cast("array<string>")
    effect = F.when(is_keyless(), F.lit("take")).otherwise(F.lit("remove"))
    return _half(F.col("old_key"), no_key, F.lit(KEY_CHANGE), effect, F.col("after"))


def new_half() -> Column:
    """The insert that a key change is for the new key: what the old image had goes along."""
    effect = (
        F.when(is_keyless(), F.lit("add"))
        .when(is_incomplete_move(), F.lit("move"))
        .otherwise(F.lit("put"))
    )
    return _half(F.col("key"), F.col("old_key"), F.col("derived"), effect, new_row())


def new_row() -> Column:
    """What both images of a key change say of the new row: a replace is the whole of it, an update a part."""
    mentioned = F.map_keys("after")
    goes_along = F.col("operation") == "update"
    unchanged = F.map_filter(
        "before", lambda name, _: goes_along & ~F.array_contains(mentioned, name)
    )
    return F.map_concat(unchanged, F.col("after"))


def is_incomplete_move() -> Column:
    """True for a key change whose images do not say the whole row: the rest is the old key's row's.

    Where gold takes columns that nothing declares, no image is known to be whole.
    """
    unsaid = F.array_except(F.map_keys("column_types"), F.map_keys(new_row()))
    is_open = F.col("add_column") == "evolve"
    unsaid_any = F.coalesce((F.size(unsaid) > 0) | is_open, F.lit(False))
    return moves() & (F.col("operation") == "update") & ~is_keyless() & unsaid_any


def _half(
    key: Column, moved_from: Column, derived: Column, effect: Column, after: Column
) -> Column:
    return F.struct(
        key.alias("key"),
        moved_from.alias("moved_from"),
        derived.cast("string").alias("derived"),
        effect.alias("effect"),
        after.alias("after"),
    )


def _column(name: str) -> Column:
    of_half = name in ("key", "moved_from", "derived", "effect", "after")
    column = F.col(f"half.{name}") if of_half else F.col(name)
    return _bytes_as_base64(column) if name in ("before", "after") else column


def _bytes_as_base64(image: Column) -> Column:
    """The image with the values of binary columns in base64: other readers take texts for UTF-8."""

    def value(name: Column, text: Column) -> Column:
        is_binary = F.try_element_at("column_types", name) == "binary"
        return F.when(is_binary, F.base64(text.cast("binary"))).otherwise(text)

    return F.transform_values(image, value)
