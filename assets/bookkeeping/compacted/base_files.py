"""One gold table's base rows, read in this process; larger bases are Spark's work (``bases``)."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns import spelling
from assets.delta.store_faults import naming_store_faults
from assets.lake import Lake
from assets.layers import Layer
from transforms.arrow import map_columns
from transforms.feed.feed import Feed, Table
from transforms.gold.stages import BASE_ROWS


def read(lake: Lake, feed: Feed, table: Table, name: str) -> pa.Table | None:
    """One row per key of one gold table (``name``) that is there at its watermark (``BASE_ROWS``), under gold's names.

    None where there are more than fit into this process.
    """
    base = lake.in_process_table(Layer.BASE, feed.name)
    files = base.files({"table": [name]})
    if not lake.choice.fits_in_process(sum(one.size for one in files), 0):
        return None
    found, names = [BASE_ROWS.empty_table()], spelling.both(table)
    with naming_store_faults(base.name, lake.warehouse):
        for one in files:
            rows = base.read_file(one, ["key", "streams", "state"])
            of_keys = rows.filter(pc.is_valid(rows["key"])).combine_chunks()
            found.append(_rows(of_keys, names))
    return pa.concat_tables(found)


def _rows(rows: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """The rows as ``BASE_ROWS``: a file of Spark's has times without their zone."""
    states = rows["state"].combine_chunks()
    state = BASE_ROWS.field("state").type
    last = state.field("last").type
    columns = pc.struct_field(states, "columns")
    image = map_columns.map_array(map_columns.maps(columns, names), state.field("columns").type)
    cells = [pc.struct_field(states, ["last", one.name]) for one in last]
    lasts = pa.StructArray.from_arrays(
        [cell.cast(one.type) for cell, one in zip(cells, last, strict=True)], fields=[*last]
    )
    made = {"columns": image, "last": lasts}
    fields = [
        made[one.name] if one.name in made else pc.struct_field(states, one.name).cast(one.type)
        for one in state
    ]
    whole = pa.StructArray.from_arrays(fields, fields=[*state])
    texts = BASE_ROWS.field("key").type
    return pa.table([rows["key"].cast(texts), rows["streams"].cast(texts), whole], schema=BASE_ROWS)
