"""``weir dbt-sources``: a ``sources.yml`` for dbt, with a source for each feed and gold's tables in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click
import yaml

from assets.gold.tables import mirrors
from assets.storage.lake import Lake, Layer
from orchestration.cli import session
from orchestration.cli.options import Place, in_place, of_feeds
from orchestration.console import put_file
from transforms.column_types.registry import column_type
from transforms.feed.feed import Feed, Table, WindowSize
from transforms.feed.names import HISTORY
from transforms.gold.columns import (
    COPY,
    DELETED_AT,
    EVENT_AT,
    EVENT_ID,
    IS_DELETED,
    KEY,
    LOG_POSITION,
    OF_DELETE,
    RESET,
    ROW_SENTENCES,
    VERSION_SENTENCES,
    what_a_row_is,
)


@click.command("dbt-sources")
@in_place
@of_feeds
def dbt_sources_command(place: Place, only: tuple[str, ...]) -> None:
    """Print a sources.yml for dbt: a source for each feed, with gold's tables, columns, tests and freshness.

        weir dbt-sources > models/sources.yml

    dbt-spark reads the tables by their paths, and dbt-duckdb by its extension for Delta (docs/tables.md).
    """
    feeds = session.choose(place.feeds, only)
    lake = session.reached(place.warehouse)
    sources = [source_of(lake, feed, mirrors(lake, feed)) for feed in feeds]
    head = (
        "# Made by `weir dbt-sources`: make it again when a feed file changes, or a table is new."
    )
    said = {"version": 2, "sources": sources}
    text = yaml.dump(said, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=100)
    put_file(f"{head}\n{text}")


FRESHNESS: Final[dict[WindowSize, dict[str, dict[str, object]]]] = {
    "hour": {
        "warn_after": {"count": 3, "period": "hour"},
        "error_after": {"count": 24, "period": "hour"},
    },
    "day": {
        "warn_after": {"count": 2, "period": "day"},
        "error_after": {"count": 7, "period": "day"},
    },
}
"""How old the newest change of a table may be, by the length of its windows."""

_LIST: Final = "array<bigint>"
_OWN_TYPES: Final = {
    KEY: "string",
    COPY: "bigint",
    LOG_POSITION: _LIST,
    EVENT_ID: "string",
    EVENT_AT: "timestamp",
    RESET: _LIST,
    IS_DELETED: "boolean",
    DELETED_AT: "timestamp",
}


class _Plain(yaml.SafeDumper):
    """YAML without references to what was said before."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def source_of(lake: Lake, feed: Feed, tables: dict[str, Table]) -> dict[str, Any]:
    """The source of one feed."""
    return {
        "name": feed.name,
        "description": f"The current state of what {feed.format} captured, from {feed.landing}.",
        # Spark reads a Delta table by its path where the schema is called so.
        "schema": "delta",
        "quoting": {"identifier": True},
        "config": {"loaded_at_field": EVENT_AT, "freshness": FRESHNESS[feed.window]},
        "tables": [one for name in tables for one in tables_of(lake, feed, tables[name], name)],
    }


def tables_of(lake: Lake, feed: Feed, table: Table, name: str) -> Iterator[dict[str, Any]]:
    """A gold table, and its history where it keeps one."""
    yield {
        **dbt_place(lake, feed, name),
        "description": what_a_row_is(table, table.name),
        "columns": [*declared(table), *own(table)],
    }
    if table.history:
        yield {
            **dbt_place(lake, feed, name + HISTORY),
            "description": f"One row for each version of each row of {table.name}.",
            # It has no column that says when a row was loaded.
            "config": {"freshness": None},
            "columns": [
                *[
                    {"name": column, "data_type": column_type(kind).spark}
                    for column, kind in table.columns.items()
                ],
                *[
                    {"name": column, "description": text}
                    for column, text in VERSION_SENTENCES.items()
                ],
            ],
        }


def dbt_place(lake: Lake, feed: Feed, name: str) -> dict[str, Any]:
    """How dbt finds a table: Spark by its path, dbt-duckdb by the function that reads a Delta table there."""
    path = lake.path(Layer.GOLD, feed.name, name).replace("s3a://", "s3://", 1)
    # A quote is doubled for SQL, and braces for the adapter, which fills in names.
    quoted = path.replace("'", "''").replace("{", "{{").replace("}", "}}")
    return {
        "name": name,
        "identifier": lake.path(Layer.GOLD, feed.name, name),
        "meta": {"external_location": f"delta_scan('{quoted}')"},
    }


def declared(table: Table) -> Iterator[dict[str, Any]]:
    """The table's own columns; those of the key are tested."""
    for name, kind in table.columns.items():
        tests = ["not_null"] if name in table.key else []
        tests += ["unique"] if table.key == (name,) else []
        column: dict[str, Any] = {"name": name, "data_type": column_type(kind).spark}
        yield column | ({"data_tests": tests} if tests else {})


def own(table: Table) -> Iterator[dict[str, Any]]:
    """Weir's columns of gold."""
    left_out = {*((KEY, COPY) if table.key else ()), *(() if table.marks_deletes else OF_DELETE)}
    for name, text in ROW_SENTENCES.items():
        if name not in left_out:
            yield {"name": name, "data_type": _OWN_TYPES[name], "description": text}
