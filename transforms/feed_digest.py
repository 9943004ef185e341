"""One short text for what a feed declares, so that tables can record what they were made with."""

from __future__ import annotations

import hashlib
import json

from transforms.feed import Feed, Table


def feed_digest(feed: Feed) -> str:
    """SHA-256 of what the declaration means; equal however the YAML is laid out and wherever it lies.

    The landing is left out: the same records mean the same wherever they were picked up, and a
    relative folder would make the digest depend on the feed file's place. The order of tables means
    nothing; that of columns does.
    """
    return _digest(
        {
            **_meaning(feed),
            "files": feed.files,
            "window": feed.window,
            "tables": {name: _table_meaning(table) for name, table in feed.tables.items()},
        }
    )


def table_digest(feed: Feed, table: Table) -> str:
    """SHA-256 of what decides one gold table's rows.

    Of the feed's other tables only names and paths count: they may take drops away from this one. Their keys and
    columns may change freely.
    """
    takers = {name: other.path for name, other in feed.tables.items()}
    return _digest(
        {**_meaning(feed), "table": table.name, "takers": takers, **_table_meaning(table)}
    )


def _meaning(feed: Feed) -> dict[str, object]:
    return {"feed": feed.name, "format": feed.format, "table_names": feed.table_names}


def _table_meaning(table: Table) -> dict[str, object]:
    return {
        "key": list(table.key),
        "columns": list(table.columns.items()),
        "cdc_columns": list(table.cdc_columns),
        "path": table.path,
    }


def _digest(meaning: dict[str, object]) -> str:
    text = json.dumps(meaning, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
