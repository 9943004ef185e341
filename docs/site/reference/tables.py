"""Every table of the warehouse with the columns that Weir gives it, from the schemas that the code writes."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

from assets.storage import lake
from assets.storage.lake import COLUMNS, Layer
from docs.site.reference.markdown import code, page, prose, table
from transforms.feed.feed import Table
from transforms.gold import columns as columns_of_gold
from transforms.gold import folded_rows

INTRO = """Every table that Weir writes is a Delta table at `<warehouse>/<layer>/<feed>`, in gold at
`<warehouse>/gold/<feed>/<table>`. [tables.md](../tables.md) says when each of them comes, and how to query them. Types
are Spark's."""

OF_GOLD: Final = """The columns that the feed declares, in the declared types, and these of Weir's own:
"""

_DECLARED: Final = "declared"
_PLAIN: Final = Table(_DECLARED, (_DECLARED,), {_DECLARED: "string"}, (_DECLARED,))
_KEYLESS: Final = Table(_DECLARED, (), {_DECLARED: "string"}, (_DECLARED,))


def tables() -> str:
    """The page ``tables.md``."""
    return page("Tables and columns", INTRO, *[part for layer in Layer for part in of_layer(layer)])


def of_layer(layer: Layer) -> Iterator[str]:
    """The sections of a layer."""
    intro = prose(sentences()[layer.name]) + "\n"
    if layer is not Layer.GOLD:
        own = COLUMNS[layer]
        title = f"## {code(f'{layer}.<feed>')}\n"
        yield "\n".join([title, intro, columns(own.schema, own.sentences)])
        return
    for suffix, schema, described in of_gold():
        title = f"## {code(f'gold.<feed>.<table>{suffix}')}\n"
        yield "\n".join([title, "" if suffix else intro, OF_GOLD, columns(schema, described)])


def of_gold() -> Iterator[tuple[str, pa.Schema, columns_of_gold.Described]]:
    """The tables of gold, with Weir's own columns: among them those of tables without a key, or with marked rows."""
    yield (
        "",
        folded_rows.rows_schema(replace(_KEYLESS, deletes="mark")).remove(0),
        columns_of_gold.ROW_SENTENCES,
    )
    yield (
        "__tombstones",
        folded_rows.tombstones_schema(_KEYLESS),
        columns_of_gold.TOMBSTONE_SENTENCES,
    )
    yield (
        "__history",
        folded_rows.versions_schema(_PLAIN).remove(0),
        columns_of_gold.VERSION_SENTENCES,
    )


def columns(schema: pa.Schema, described: columns_of_gold.Described) -> str:
    """The columns of a table."""
    rows = [
        # With blanks, so that a browser may break the line of a long type.
        [code(name), code(re.sub("([,:])", r"\1 ", kind)), prose(described[name])]
        for name, kind in kinds(schema)
    ]
    return table(["column", "type", "means"], rows)


def kinds(schema: pa.Schema) -> Iterator[tuple[str, str]]:
    """Each column with its type."""
    for field in from_arrow_schema(schema).fields:
        yield field.name, field.dataType.simpleString()


def sentences() -> dict[str, str]:
    """What each layer's comment says."""
    (layer,) = ast.parse(inspect.getsource(lake.Layer)).body
    assert isinstance(layer, ast.ClassDef)
    found: dict[str, str] = {}
    for name, text in zip(layer.body, layer.body[1:], strict=False):
        if (
            isinstance(name, ast.Assign)
            and isinstance(name.targets[0], ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            found[name.targets[0].id] = str(text.value.value)
    return found
