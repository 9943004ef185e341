"""What the changes of many scenarios fold to, in one Spark frame: the rows that gold would have of each.

Up to silver everything is the product's own (``in_process``). Only the fold is put together here, for so many scenarios
at once: its name stands in front of every key, so that scenarios never meet. What comes out is plain Python.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F

from assets import open_transactions, silver_derive, silver_rows, tigergraph_places
from assets.gold_columns import current_state, fold, ordering, scopes, streams
from assets.gold_columns.fold import Folding
from assets.gold_columns.transactions import visible
from assets.silver_schema import OUTPUT, SILVER
from tests.transforms.formats import in_process
from tests.transforms.formats.in_process import Outcome, Scenario
from transforms.change_kinds import Shape
from transforms.feed import Feed, Table
from transforms.formats import FORMATS

PREFIX = ("_scenario", "_table")
PLACE = {"_scenario": "window", "_table": "table"}
"""The columns that stand in front of every key."""


@dataclass
class Folded(Outcome):
    """What became of a scenario, and the rows that each gold table then has."""

    state: dict[str, list[dict[str, object]]] = field(default_factory=dict)


def folded(spark: SparkSession, feed: Feed, scenarios: Mapping[str, Scenario]) -> dict[str, Folded]:
    """Every scenario's outcome, by name: through the product's stages, and folded by Spark."""
    found = {
        name: Folded(**vars(outcome))
        for name, outcome in in_process.outcomes(feed, scenarios).items()
    }
    rows = [row for outcome in found.values() for row in outcome.rows]
    for window, gold, state_row in gold_rows(spark, feed, rows):
        found[window].state.setdefault(gold, []).append(state_row)
    for one in found.values():
        for state in one.state.values():
            state.sort(key=str)
    return found


def gold_rows(
    spark: SparkSession, feed: Feed, rows: list[dict[str, object]]
) -> Iterator[tuple[str, str, dict[str, object]]]:
    """The rows of gold, with scenario and gold table, that these rows of silver fold to."""
    if not rows:
        return
    frame = spark.createDataFrame(pa.Table.from_pylist(rows, schema=OUTPUT))
    steps = silver_derive.as_table(frame, feed, SILVER).localCheckpoint()
    complete = None
    if FORMATS[feed.format].transactional:
        complete = completed(spark, of_waiting(open_transactions.events_of(frame)))
    yield from current(steps, complete, feed)


def completed(spark: SparkSession, events: DataFrame) -> DataFrame:
    """The transactions that are complete where all of a scenario was read."""
    rows = events.toArrow().sort_by("id")
    states = open_transactions.states_of(rows.to_batches(), [])
    whole = [(one.id, list(one.commit), True) for one in states if one.commit is not None]
    return spark.createDataFrame(whole, "id string, commit array<bigint>, is_new boolean")


def of_waiting(events: DataFrame) -> DataFrame:
    """The events of open transactions, these told apart by their scenario."""
    return events.withColumn("id", F.concat_ws("/", "window", "id"))


def of_scenario(changes: DataFrame) -> DataFrame:
    """The rows, their transactions told apart by their scenario."""
    apart = F.concat_ws("/", "window", "transaction.id")
    return changes.withColumn("transaction", F.col("transaction").withField("id", apart))


def current(
    steps: DataFrame, complete: DataFrame | None, feed: Feed
) -> list[tuple[str, str, dict[str, object]]]:
    """The rows of every declared table after all changes: scenario, gold table and row."""
    standing_apart = steps if complete is None else of_scenario(steps)
    every = kept_apart(standing_apart).localCheckpoint()
    counting = visible(every.where(silver_rows.count_for_gold()), complete)
    keyed = counting.withColumn(
        "key", F.concat(F.array("window", "table"), "key")
    ).localCheckpoint()
    named: dict[str, list[Row]] = {}
    for row in keyed.groupBy("declared", "table").agg(*kinds()).collect():
        named.setdefault(row["declared"], []).append(row)
    found = []
    for declared in feed.tables.values():
        if declared.name not in named:
            continue
        table = with_prefix(declared)
        depends = any(row["depends"] for row in named[declared.name])
        shapes = {
            Shape(tuple(shape["columns"]), shape["of_stream"])
            for row in named[declared.name]
            for shape in row["shapes"]
        }
        folding = Folding.of(table, depends=depends)
        mine = with_scopes(every, keyed, feed, declared, shapes)
        ordered = ordering.ordered(mine).withColumn("before", fold.absent())
        net = fold.folded(current_state.without_base(ordered), folding).localCheckpoint()
        rows = current_state.gold(current_state.rows(net, table), table)
        for row in rows.select(*[shown(name, kind) for name, kind in rows.dtypes]).collect():
            values = {name: plain(value) for name, value in row.asDict().items()}
            mirrored = {name: values[name] for name in declared.columns}
            found.append((str(values["_scenario"]), str(values["_table"]), mirrored))
    return found


def kinds() -> list[Column]:
    """What a fold has to know of the changes: whether any looks at the row, and the shapes of the scoped ones."""
    depends = (F.size("attribute_ops") > 0) | (F.col("effect") == "remove_if")
    shape = F.struct(
        F.array_sort(F.map_keys("scope")).alias("columns"),
        F.col("stream").isNotNull().alias("of_stream"),
    )
    return [
        F.bool_or(depends).alias("depends"),
        F.collect_set(F.when(F.col("scope").isNotNull(), shape)).alias("shapes"),
    ]


def kept_apart(steps: DataFrame) -> DataFrame:
    """The changes so that no two scenarios have an event, a stream or a time in common."""
    number = F.dense_rank().over(Window.orderBy("window")).cast("bigint")
    century = F.lit(3_155_760_000_000_000)
    return steps.withColumns(
        {
            "event_id": F.concat_ws("/", "window", "event_id"),
            "stream": F.when(F.col("stream").isNotNull(), F.concat_ws("/", "window", "stream")),
            "event_at": F.timestamp_micros(F.unix_micros("event_at") + number * century),
        }
    )


def with_scopes(
    every: DataFrame, keyed: DataFrame, feed: Feed, declared: Table, found: Collection[Shape]
) -> DataFrame:
    """The changes of a table's keys, with what the scoped ones are for each key of their scenario."""
    table = with_prefix(declared)
    mine = keyed.where(F.col("declared") == declared.name)
    if not found:
        return mine
    own = F.create_map(
        *[part for name in PREFIX for part in (F.lit(name), F.col(PLACE[name]))]
    ).cast("map<string,string>")
    scoped = mine.where("scope IS NOT NULL").withColumn("scope", F.map_concat(own, "scope"))
    of_keys = mine.where("scope IS NULL")
    shapes = [Shape(tuple(sorted((*PREFIX, *one.columns))), one.of_stream) for one in found]
    met = scopes.keyed(
        scoped, of_keys.select("key", "stream").distinct(), sorted(shapes), table.identity
    )
    whole = of_keys.unionByName(met.select(*mine.columns))
    if not FORMATS[feed.format].crosses_streams:
        return whole
    both = of_keys.unionByName(scoped)
    places = tigergraph_places.elsewhere(every, feed, declared.name)
    return whole.unionByName(streams.spread(both, every, shapes, table.identity, places))


def with_prefix(table: Table) -> Table:
    """The table with the scenario and the gold table's name in front of its key; without one, of its columns."""
    columns = {**dict.fromkeys(PREFIX, "string"), **table.columns}
    return replace(table, key=(*PREFIX, *table.key) if table.key else (), columns=columns)


def shown(name: str, kind: str) -> Column:
    """Timestamps as text: collecting them would turn them to this machine's time zone."""
    column = F.col(f"`{name}`")
    return column.cast("string").alias(name) if kind.startswith("timestamp") else column


def plain(value: object) -> object:
    """A value as JSON has it: decimals, dates and infinities as text, bytes as base64, times in UTC."""
    match value:
        case Row():
            return {name: plain(part) for name, part in value.asDict().items()}
        case Decimal():
            return str(value)
        case datetime():
            return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        case date():
            return value.isoformat()
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case list():
            return [plain(one) for one in value]
        case dict():
            return {str(plain(key)): plain(one) for key, one in value.items()}
        case float() if not math.isfinite(value):
            return str(value)
        case _:
            return value
