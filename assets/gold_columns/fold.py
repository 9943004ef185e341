"""The one fold: all changes of a key, one after the other, onto what the key is before them.

What a key is before them is nothing (a first write, a rebuild), a row that need not be read (``merge``: some columns
are overwritten, whatever the others are), or a row with its values, where changes depend on them. So one fold serves a
window on top of the table and a rebuild from the first event, and the two agree because they are one piece of code.
Not here: the order (``ordering``), and what an attribute operation computes (``operations``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.gold_columns import operations
from assets.gold_columns import typed as types
from assets.gold_columns.ordering import let
from transforms.feed import Table

_LAST = "struct<position:array<bigint>,event_id:string,event_at:timestamp,is_scoped:boolean>"
STATE = f"struct<effect:string,columns:map<string,string>,copies:bigint,last:{_LAST}>"
"""What a key is: ``put`` (a row of exactly these columns), ``merge`` (the row that is there, with these columns
overwritten) or ``remove`` (absent); its copies, in a table without a key; and the last change that counted."""


@dataclass(frozen=True, slots=True)
class Folding:
    """How the rows of one table are folded: ``depends`` says whether changes look at the row's values at all."""

    columns: Mapping[str, str]
    defaults: Mapping[str, str]
    has_key: bool
    depends: bool

    @classmethod
    def of(cls, table: Table, *, depends: bool) -> Folding:
        """The folding of a declared table."""
        return cls(table.columns, table.defaults, bool(table.key), depends)


def folded(ordered_changes: DataFrame, folding: Folding) -> DataFrame:
    """One row per key on which some change counted: what the key is after its steps.

    Takes ``key``, ``steps``, ``before`` (a ``STATE``: what the key is before them) and ``copies_before`` (how many rows
    gold has of it). Gives ``key``, ``copies_before``, ``effect``, ``columns``, ``copies``, and of the last change that
    counted ``position``, ``event_id``, ``event_at``, ``is_scoped``.
    """
    after = composite(F.col("steps"), F.col("before"), folding)
    return (
        ordered_changes.withColumn("state", after)
        .where(F.col("state.last").isNotNull())
        .select(
            "key", "copies_before", "state.effect", "state.columns", "state.copies", "state.last.*"
        )
    )


def composite(steps: Column, before: Column, folding: Folding) -> Column:
    """The state after the steps."""
    return F.aggregate(steps, before, lambda state, step: stepped(state, step, folding))


def stepped(state: Column, step: Column, folding: Folding) -> Column:
    """The state after one step; its ``last`` is the step's where the step counted."""
    # A scoped change finds nothing to change where the row is absent: it does not even count.
    idle = step["is_scoped"] & (state["effect"] == "remove")
    if not folding.has_key:
        # The images of an update that leaves its row as it was are equal.
        idle = idle | (step["effect"] == "merge")
    return F.when(idle, state).otherwise(
        let(F.map_from_entries(step["after"]), lambda new: _result(state, step, new, folding))
    )


def _result(state: Column, step: Column, new: Column, folding: Folding) -> Column:
    if not folding.has_key:
        return counted(state, step)
    gone = step["effect"] == "remove"
    if folding.depends:
        gone = gone | ((step["effect"] == "remove_if") & matches(state, step, folding))
    return (
        F.when(gone, state_of("remove", no_columns(), 0, step))
        .when(step["effect"].isin("put", "move"), state_of("put", new, 1, step))
        .when(step["effect"] == "remove_if", state_of(state["effect"], state["columns"], 1, step))
        .otherwise(merged(state, step, new, folding))
    )


def state_of(effect: Column | str, columns: Column, copies: Column | int, step: Column) -> Column:
    """A state that the step has made."""
    last = F.struct(step["position"], step["event_id"], step["event_at"], step["is_scoped"])
    return F.struct(
        (F.lit(effect) if isinstance(effect, str) else effect).alias("effect"),
        columns.alias("columns"),
        (F.lit(copies) if isinstance(copies, int) else copies).alias("copies"),
        last.alias("last"),
    ).cast(STATE)


def absent() -> Column:
    """The state of a key of which nothing is there."""
    return _before(F.lit("remove"), no_columns(), F.lit(0))


def unread(is_present: Column) -> Column:
    """The state of a key whose row, if there is one, has not been read."""
    return _before(
        F.when(is_present, F.lit("merge")).otherwise(F.lit("remove")),
        no_columns(),
        is_present.cast("bigint"),
    )


def read(columns: Column) -> Column:
    """The state of a key whose row has been read; null where there is none."""
    effect = F.when(columns.isNotNull(), F.lit("put")).otherwise(F.lit("remove"))
    return _before(effect, F.coalesce(columns, no_columns()), columns.isNotNull().cast("bigint"))


def copied(copies: Column) -> Column:
    """The state of a row of a table without a key."""
    return _before(
        F.when(copies > 0, F.lit("put")).otherwise(F.lit("remove")), no_columns(), copies
    )


def _before(effect: Column, columns: Column, copies: Column) -> Column:
    return F.struct(
        effect.alias("effect"),
        columns.alias("columns"),
        copies.alias("copies"),
        F.lit(None).cast(_LAST).alias("last"),
    ).cast(STATE)


def counted(state: Column, step: Column) -> Column:
    """One step on a row of a table without a key: only its copies change."""
    copies = (
        F.when(step["effect"] == "add", state["copies"] + 1)
        .when(step["effect"] == "take", F.greatest(state["copies"] - 1, F.lit(0)))
        .when(step["effect"] == "remove", F.lit(0))
        .otherwise(state["copies"])
    )
    effect = F.when(copies > 0, F.lit("put")).otherwise(F.lit("remove"))
    return state_of(effect, no_columns(), copies, step)


def matches(state: Column, step: Column, folding: Folding) -> Column:
    """True where the row has the values that a conditional remove names; never for an absent row."""

    def same(entry: Column) -> Column:
        held = F.try_element_at(state["columns"], entry["key"])
        equal = {
            kind: types.text_of(types.typed(held, kind), kind).eqNullSafe(
                types.text_of(types.typed(entry["value"], kind), kind)
            )
            for kind in kinds(folding)
        }
        return _by_column(entry["key"], folding, equal, held.eqNullSafe(entry["value"]))

    return (state["effect"] != "remove") & F.forall(step["before"], same)


def merged(state: Column, step: Column, new: Column, folding: Folding) -> Column:
    """The row with some columns overwritten or changed by their operations; a new row where there was none."""
    absent_before = state["effect"] == "remove"
    # A merge onto an absent row makes a new one: what it does not mention has its default.
    effect = F.when(absent_before, F.lit("put")).otherwise(state["effect"])
    old = F.when(absent_before, defaults(folding)).otherwise(state["columns"])

    def overlaid(old: Column, new: Column) -> Column:
        kept = F.map_filter(old, lambda name, _: ~F.map_contains_key(new, name))
        return F.map_concat(kept, new)

    if not folding.depends:
        return state_of(effect, overlaid(old, new), 1, step)

    def changed(old: Column) -> Column:
        by_name = F.map_from_entries(step["attribute_ops"])

        def value(name: Column, text: Column) -> Column:
            operation = F.try_element_at(by_name, name)
            held = F.try_element_at(old, name)
            results = {
                kind: operations.applied(kind, operation, held, text) for kind in kinds(folding)
            }
            kept = (operation == operations.IF_NEW) & ~absent_before
            return (
                F.when(operation.isNull(), text)
                .when(kept, held)
                .otherwise(_by_column(name, folding, results, text))
            )

        return overlaid(old, F.transform_values(new, value))

    has_operations = F.size(step["attribute_ops"]) > 0
    columns = let(
        old, lambda held: F.when(has_operations, changed(held)).otherwise(overlaid(held, new))
    )
    return state_of(effect, columns, 1, step)


def kinds(folding: Folding) -> list[str]:
    """The types that the table's columns have."""
    return sorted(set(folding.columns.values()))


def defaults(folding: Folding) -> Column:
    """What a new row has in columns that nothing mentions; null is left out."""
    pairs = [F.lit(part) for pair in folding.defaults.items() for part in pair]
    return F.create_map(*pairs).cast("map<string,string>")


def no_columns() -> Column:
    """The empty image."""
    return F.create_map().cast("map<string,string>")


def _by_column(
    name: Column, folding: Folding, of_kind: Mapping[str, Column], otherwise: Column
) -> Column:
    """Choose by the declared type of the column that ``name`` names."""
    choice = otherwise
    for kind, result in of_kind.items():
        of_this = [column for column, declared in folding.columns.items() if declared == kind]
        choice = F.when(name.isin(of_this), result).otherwise(choice)
    return choice
