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

    An image that has a column under two names stays as it is and is a fault: nothing says which value counts.
    """
    twice = F.coalesce(*[_named_twice(image) for image in IMAGES])
    named_twice = F.when(
        twice.isNotNull(),
        fault(
            "ambiguous_rename",
            *(twice, " and another column are both ", F.try_element_at("renames", twice)),
            ", as the feed file renames them",
        ),
    )
    renamed = {image: _renamed(image) for image in IMAGES}
    return events.withColumn("fault", F.coalesce("fault", named_twice)).withColumns(renamed)


def _today(name: Column) -> Column:
    return F.coalesce(F.try_element_at("renames", name), name)


def _named_twice(image: str) -> Column:
    """An earlier name in the image whose name of today another column of it has, too."""
    names = F.map_keys(image)
    todays = F.transform(names, _today)

    def is_one_of_two(name: Column) -> Column:
        same = F.filter(todays, lambda other: other == _today(name))
        return F.try_element_at("renames", name).isNotNull() & (F.size(same) > 1)

    return F.get(F.filter(names, is_one_of_two), F.lit(0))


def _renamed(image: str) -> Column:
    # Two columns of one name cannot be put into one map.
    today = F.transform_keys(image, lambda name, _: _today(name))
    return F.when(_named_twice(image).isNull(), today).otherwise(F.col(image))
