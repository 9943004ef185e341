"""Scoped changes: a truncate, a drop, a star delete becomes a change of every key that it is for.

Not here: which keys there are (the caller gives them), and what the change does to each (``fold``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transforms.change_kinds import Shape


def keyed(
    scoped: DataFrame, keys: DataFrame, shapes: Sequence[Shape], identity: Sequence[str]
) -> DataFrame:
    """One row per scoped change and key in its scope: the change, with that ``key``.

    ``scoped`` are silver's scoped changes of one table. ``keys`` has ``key`` and ``stream``, one row per pair: a key
    may have several streams. ``identity`` names the key's columns in order. ``shapes`` are all shapes that may occur.
    """
    return reduce(
        DataFrame.unionByName, [_of_shape(scoped, keys, shape, identity) for shape in shapes]
    )


def _of_shape(
    scoped: DataFrame, keys: DataFrame, shape: Shape, identity: Sequence[str]
) -> DataFrame:
    names = F.array(*[F.lit(name) for name in shape.columns]).cast("array<string>")
    alike = scoped.where(
        (F.array_sort(F.map_keys("scope")) == names)
        & (F.col("stream").isNotNull() == F.lit(shape.of_stream))
    )
    in_scope = F.lit(True)
    for name in shape.columns:
        part = F.get("keys.key", F.lit(identity.index(name)))
        # Null-safe: a table without a key has nulls in what tells its rows apart.
        in_scope = in_scope & F.try_element_at("change.scope", F.lit(name)).eqNullSafe(part)
    if shape.of_stream:
        in_scope = in_scope & (F.col("change.stream") == F.col("keys.stream"))
    columns = [F.col(f"change.{name}") for name in scoped.columns if name != "key"]
    return (
        # Scopes are few and keys are many, but for star deletes, which name most of the key.
        keys.alias("keys")
        .join(
            F.broadcast(alike.alias("change")) if not shape.columns else alike.alias("change"),
            in_scope,
        )
        .select("keys.key", *columns)
    )
