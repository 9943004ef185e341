"""Why an event does not fit what the feed declares: each function gives a fault, or null where there is none.

Not here: the declarations and the key (``conform``), and records that cannot be read at all (``formats``).
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms import typed_columns as types
from transforms.change import CONTROL
from transforms.feed import Feed
from transforms.formats.spec import fault
from transforms.gold import operations
from transforms.schema_changes import is_column_drop
from transforms.silver_columns.told import told_types
from transforms.table_names import UNFIT


def all_faults(feed: Feed) -> list[Column]:
    """Every fault, in the order in which they are told: the first that an event has counts."""
    found = [table_fault(), misfit(feed), key_fault(), scope_fault(), operation_fault(feed)]
    if any(table.policies.add_column == "quarantine" for table in feed.tables.values()):
        found.append(column_fault())
    return found


def table_fault() -> Column:
    """An event that names no table, and whose path names none; or one whose name cannot be a folder's."""
    return F.when(
        (F.coalesce(F.col("name"), F.lit("")) == "") & ~F.col("effect").isin(*CONTROL),
        fault("missing_table", "neither record nor path names it"),
    ).when(
        F.col("table").rlike(UNFIT),
        fault(
            "unfit_table_name",
            *("the table is named ", F.col("table")),
            ", and a folder's name cannot hold slashes or control characters, or begin or end with a blank",
        ),
    )


def misfit(feed: Feed) -> Column:
    """The first value that goes into gold or into the key, and that its declared type cannot hold.

    Of the old image that is the key, and all of it where the key changes: the row goes along to the new key.
    """
    names = sorted(
        {name for table in feed.tables.values() for name in table.columns.values()}
        | set(told_types(feed))
    )

    def unfit(entry: Column) -> Column:
        type_name = F.try_element_at("column_types", entry["key"])
        verdicts = {name: ~types.fits(entry["value"], name) for name in names}
        return types.by_type(names, type_name, verdicts, F.lit(False))

    moved = F.coalesce(F.col("new_key") != F.col("old_key"), F.lit(False))
    old = F.map_filter("before", lambda name, _: moved | F.array_contains("key_columns", name))
    entries = F.concat(F.map_entries("after"), F.map_entries(old))
    found = F.get(F.filter(entries, unfit), F.lit(0))
    type_name = F.try_element_at("column_types", found["key"])
    return F.when(
        found.isNotNull(),
        fault(
            "value_does_not_fit", found["key"], " is ", found["value"], ", which is no ", type_name
        ),
    )


def key_fault() -> Column:
    """A declared table's event whose key has a part that is null, or that no image mentions."""
    parts = F.zip_with("key_columns", "key", lambda name, part: F.when(part.isNull(), name))
    missing = F.filter(parts, lambda name: name.isNotNull())
    of_before = F.array_except(F.col("key_columns"), F.map_keys("before"))
    needs_before = F.col("effect").isin("remove", "merge") | (
        (F.col("operation") == "replace") & (F.size("before") > 0)
    )
    return F.when(
        F.col("of_one_key") & ~F.col("keyless") & (F.size(missing) > 0),
        fault("missing_key", "key column ", F.array_join(missing, ", "), " is absent or null"),
    ).when(
        F.col("of_one_key") & F.col("keyless") & needs_before & (F.size(of_before) > 0),
        fault(
            "incomplete_image",
            "the table has no key, so the old image must name the whole row, and it lacks ",
            F.array_join(of_before, ", "),
        ),
    )


def undeclared_columns() -> Column:
    """The columns that a change of a table mentions and its declaration does not; null where there are none.

    A drop of a column that is not declared mentions none.
    """
    unknown = F.array_except(F.map_keys("after"), F.map_keys("column_types"))
    return F.when((F.size(unknown) > 0) & ~is_column_drop(), unknown)


def column_fault() -> Column:
    """A change that mentions undeclared columns, where the feed says that such changes are not to be taken."""
    unknown = undeclared_columns()
    return F.when(
        (F.col("add_column") == "quarantine") & unknown.isNotNull(),
        fault(
            "undeclared_column",
            *(F.array_join(unknown, ", "), " is not declared, and the feed file says"),
            " add_column: quarantine",
        ),
    )


def scope_fault() -> Column:
    """A scoped change whose scope names what is no key column of a declared table."""
    strange = F.array_except(F.map_keys("scope"), F.col("key_columns"))
    return F.when(
        F.size(strange) > 0,
        fault("unknown_scope", F.array_join(strange, ", "), " is no part of the table's key"),
    )


def operation_fault(feed: Feed) -> Column:
    """The first attribute operation that its column's declared type cannot take."""
    names = sorted({name for table in feed.tables.values() for name in table.columns.values()})

    def unfit(entry: Column) -> Column:
        type_name = F.try_element_at("column_types", entry["key"])
        fit = {name: ~entry["value"].isin(*operations.fitting(name)) for name in names}
        return types.by_type(names, type_name, fit, F.lit(False))

    found = F.get(F.filter(F.map_entries("attribute_ops"), unfit), F.lit(0))
    type_name = F.try_element_at("column_types", found["key"])
    return F.when(
        found.isNotNull(),
        fault(
            "operation_does_not_fit",
            found["value"],
            " of ",
            found["key"],
            ", which is a ",
            type_name,
        ),
    )
