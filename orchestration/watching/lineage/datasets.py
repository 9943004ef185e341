"""The datasets that a step reads and writes, as OpenLineage names them.

Put here what a dataset is called and which facets it has. Not here: the events around them (``lineage_events``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    DatasetFacet,
    column_lineage_dataset,
    schema_dataset,
)
from pyspark.sql import types as T

from assets.asset_keys import feed_key
from assets.bookkeeping import discovered_tables
from assets.columns.bronze import BRONZE
from assets.columns.silver import CHANGE, QUARANTINE
from assets.gold.gold_specs import lineage_of
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import gold_name

LAYERS = ("bronze", "silver", "gold", "undeclared")
"""The steps that are told of: those that bring data from one layer to the next."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What a step reads and writes."""

    inputs: list[InputDataset] = field(default_factory=list)
    outputs: list[OutputDataset] = field(default_factory=list)


def layer_of_step(feed: Feed, step: str) -> str | None:
    """Which layer a step makes; None for one that moves no data."""
    layer = step.removesuffix(f"_{feed.name}")
    return layer if layer in LAYERS else None


def flow_of(lake: Lake, feed: Feed, layer: str) -> Flow:
    """What the step that makes this layer reads and writes."""
    if layer == "bronze":
        landings = [InputDataset(*one) for one in _landing(feed)]
        return Flow(landings, [_table(lake, feed, Layer.BRONZE, BRONZE)])
    if layer == "silver":
        outputs = [(Layer.SILVER, CHANGE), (Layer.QUARANTINE, QUARANTINE)]
        return Flow(
            [_input(lake, feed, Layer.BRONZE)], [_table(lake, feed, *one) for one in outputs]
        )
    tables = feed.tables if layer == "gold" else discovered_tables.discovered(lake, feed)
    gold = [_gold(lake, feed, table) for table in tables.values()]
    return Flow([_input(lake, feed, Layer.SILVER)], gold)


def named(address: str) -> tuple[str, str]:
    """The namespace and the name of a place: ``s3://bucket`` and the path in it, or ``file`` and the folder."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        return "file", address
    host, _, path = rest.partition("/")
    return f"{'s3' if scheme == 's3a' else scheme}://{host}", path.rstrip("/") or "/"


def _landing(feed: Feed) -> list[tuple[str, str]]:
    namespace, name = named(feed.landing)
    # Of a broker each topic is a dataset.
    return [(namespace, one) for one in (name.split(",") if feed.reads_topics else [name])]


def _input(lake: Lake, feed: Feed, layer: Layer) -> InputDataset:
    return InputDataset(*named(lake.path(layer, feed.name)))


def _table(lake: Lake, feed: Feed, layer: Layer, columns: T.StructType) -> OutputDataset:
    fields = [(one.name, one.dataType.simpleString()) for one in columns.fields]
    return OutputDataset(*named(lake.path(layer, feed.name)), facets={"schema": _schema(fields)})


def _schema(fields: list[tuple[str, str]]) -> DatasetFacet:
    Fields = schema_dataset.SchemaDatasetFacetFields  # noqa: N806, it is a class
    return schema_dataset.SchemaDatasetFacet(fields=[Fields(*one) for one in fields])


def _gold(lake: Lake, feed: Feed, table: Table) -> OutputDataset:
    silver = named(lake.path(Layer.SILVER, feed.name))
    lineage = lineage_of(table, feed_key("silver", feed)).deps_by_column
    columns = column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={
            name: column_lineage_dataset.Fields(
                [column_lineage_dataset.InputField(*silver, one.column_name) for one in deps]
            )
            for name, deps in lineage.items()
        }
    )
    name = gold_name(table.name, feed.table_names)
    return OutputDataset(
        *named(lake.path(Layer.GOLD, feed.name, name)),
        facets={"schema": _schema([*table.columns.items()]), "columnLineage": columns},
    )
