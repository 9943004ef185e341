"""The law of histories: as of every position, a table's history is what the oracle makes of the events up to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from assets.storage.lake import Lake, Layer
from tests.laws.oracle.event import Event, Key, LogPosition, Table
from tests.laws.oracle.oracle import current
from transforms.feed.feed import Feed

Status = dict[Key, tuple[object, ...]]
"""The rows that stand at a position: their values, and the change that they are from."""
Version = tuple[Key, LogPosition, LogPosition | None, tuple[object, ...]]


def oracle_as_of(events: Iterable[Event], log_position: LogPosition, shape: Table) -> Status:
    """What the oracle says of the events up to a position."""
    state = current([event for event in events if event.log_position <= log_position], shape)
    return {
        key: (*(row.values[name] for name in shape.columns), list(row.log_position), row.event_id)
        for key, row in state.rows.items()
    }


def versions_by_case(lake: Lake, feed: Feed, name: str) -> dict[str, list[Version]]:
    """The versions that the history has, by case."""
    table = feed.tables[name]
    history = lake.table(Layer.GOLD, feed.name, f"{name}__history").read()

    def plain(column: str) -> Column:
        of_days = table.columns[column] in ("date", "timestamp")
        value = F.col(f"`{column}`")
        return (value.cast("string") if of_days else value).alias(column)

    own = ("_weir_valid_from", "_weir_valid_to", "_weir_began_by")
    found: dict[str, list[Version]] = defaultdict(list)
    for row in history.select(*map(plain, table.columns), *own).collect():
        key = tuple(None if row[part] is None else str(row[part]) for part in table.key)
        begins, ends = row["_weir_valid_from"], row["_weir_valid_to"]
        standing = (*(row[column] for column in table.columns), begins, row["_weir_began_by"])
        until = None if ends is None else tuple(ends)
        found[str(row["case_id"])].append((key, tuple(begins), until, standing))
    return found


def as_of(versions: Iterable[Version], log_position: LogPosition) -> Status:
    """The versions that stand at a position: begun by then, and not ended."""
    return {
        key: standing
        for key, begins, ends, standing in versions
        if begins <= log_position and (ends is None or ends > log_position)
    }


def assert_same_at_every_position(
    versions: Mapping[str, list[Version]], events: Mapping[str, list[Event]], shape: Table
) -> int:
    """Compare both at every position of these cases; returns how many positions there were."""
    compared = 0
    for case, of_case in events.items():
        for log_position in sorted({event.log_position for event in of_case}):
            found, expected = (
                as_of(versions[case], log_position),
                oracle_as_of(of_case, log_position, shape),
            )
            assert found == expected, f"{case} as of {log_position}"
            compared += 1
    return compared
