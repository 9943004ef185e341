"""Earlier names: the events of a table and the values of a column that once had another name.

An event is told apart from others under the names of today, so that a delivery under the old name and one under the
new name are one event. Not here: a column that is gone or new (``schema_changes``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats.spec import fault

IMAGES = ("before", "after", "attribute_ops", "scope")
"""What an event says by column."""


def earlier_names(feed: Feed) -> dict[str, str]:
    """Every name that a declared table had before, to the one that it has."""
    return {old: name for name, table in feed.tables.items() for old in table.was}


def any_column(feed: Feed) -> bool:
    """True where some column of the feed had another name."""
    return any(table.renamed for table in feed.tables.values())


def with_todays_columns(events: DataFrame) -> DataFrame:
    """The events with every image under today's names (``renames``: earlier name to name, null where there are none).

    An image that has a column under both names stays as it is and is a fault: nothing says which value counts.
    """
    both = F.coalesce(*[_named_twice(image) for image in IMAGES])
    named_twice = F.when(
        both.isNotNull(),
        fault(
            "ambiguous_rename",
            *(both, " stands beside ", F.try_element_at("renames", both)),
            ", which the feed file declares as its new name",
        ),
    )
    renamed = {image: _renamed(image) for image in IMAGES}
    return events.withColumn("fault", F.coalesce("fault", named_twice)).withColumns(renamed)


def _named_twice(image: str) -> Column:
    names = F.map_keys(image)

    def is_beside_its_new_name(name: Column) -> Column:
        return F.coalesce(F.array_contains(names, F.try_element_at("renames", name)), F.lit(False))

    return F.get(F.filter(names, is_beside_its_new_name), F.lit(0))


def _renamed(image: str) -> Column:
    today = F.transform_keys(
        image, lambda name, _: F.coalesce(F.try_element_at("renames", name), name)
    )
    return F.when(_named_twice(image).isNull(), today).otherwise(F.col(image))
